import type { Thread } from "../../../protocol/index.js";
import { Folders, formatFolderPath } from "../../folder-path.js";
import type { WorkspaceOptions } from "../../options.js";
import { paint, print, printJson, visible } from "../../output.js";
import type { Session } from "../../session.js";

/** A thread is named by its id alone; `--workspace` is needed only where two workspaces have one of that id. */
export async function ofThread(session: Session, thread_id: string) {
  const workspace = await session.namedWorkspace();
  return { thread_id, ...(workspace && { workspace_id: workspace.id }) };
}

export async function folderPath({ call }: Session, { workspace_id, folder_id }: Thread): Promise<string> {
  if (folder_id === undefined) return "/";
  const { folders } = await call("thread/tree", { workspace_id });
  return formatFolderPath(new Folders(folders).pathOf(folder_id));
}

export function tellThread(what: string, result: { thread: Thread }, { json }: WorkspaceOptions): void {
  if (json) printJson(result);
  else print(`${what} ${shownThread(result.thread)}`);
}

/** Titles come from files that any program may write: nothing in them steers the terminal. */
export function shownThread({ title, id }: Pick<Thread, "title" | "id">): string {
  return `${paint.bold(visible(title))}  ${paint.dim(id)}`;
}
