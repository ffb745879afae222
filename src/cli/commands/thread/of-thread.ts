import type { Thread } from "../../../protocol/index.js";
import { Folders, formatFolderPath } from "../../folder-path.js";
import type { WorkspaceOptions } from "../../options.js";
import { paint, print, printJson, visible } from "../../output.js";
import type { Session } from "../../session.js";

export interface NamedThread {
  readonly thread_id: string;
  readonly workspace_id?: string;
}

/**
 * Runs work on a thread that is named by its id alone. Where several workspaces have one of that id, it is the one that
 * `--workspace` names, else that of the workspace the command works in. The gateway refuses such an id before it changes
 * anything, so the work can be run again.
 */
export async function onThread<T>(
  session: Session,
  thread_id: string,
  work: (named: NamedThread) => Promise<T>,
): Promise<T> {
  const workspace = await session.namedWorkspace();
  if (workspace) return work({ thread_id, workspace_id: workspace.id });
  try {
    return await work({ thread_id });
  } catch (error) {
    const among = candidates(error);
    const here = among.length === 0 ? undefined : (await session.workspace()).id;
    if (here === undefined || !among.includes(here)) throw error;
    return work({ thread_id, workspace_id: here });
  }
}

function candidates(error: unknown): readonly string[] {
  const { kind, data } = error as { kind?: string; data?: { workspace_ids?: string[] } };
  return (kind === "thread.ambiguous" && data?.workspace_ids) || [];
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
