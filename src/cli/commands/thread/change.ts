import { cliError } from "../../errors.js";
import { Folders, formatFolderPath } from "../../folder-path.js";
import type { WorkspaceOptions } from "../../options.js";
import { paint, print, printJson, visible } from "../../output.js";
import { withSession } from "../../session.js";
import { onThread, tellThread } from "./of-thread.js";

export async function rename(id: string, title: string, options: WorkspaceOptions): Promise<void> {
  const result = await withSession(options, (session) =>
    onThread(session, id, (named) => session.call("thread/update", { ...named, title })),
  );
  tellThread("Renamed to", result, options);
}

export async function pin(id: string, pinned: boolean, options: WorkspaceOptions): Promise<void> {
  const result = await withSession(options, (session) =>
    onThread(session, id, (named) => session.call("thread/update", { ...named, pinned })),
  );
  tellThread(pinned ? "Pinned" : "Unpinned", result, options);
}

/** Takes back what somebody allowed for good in a thread: one tool, or all of them. */
export async function revoke(id: string, tool: string | undefined, options: WorkspaceOptions): Promise<void> {
  const { before, result } = await withSession(options, async (session) => {
    const { thread } = await onThread(session, id, (named) => session.call("thread/get", named));
    const { workspace_id, granted_tools: before = [] } = thread;
    if (tool !== undefined && !before.includes(tool)) throw notGranted(id, tool, before);
    if (before.length === 0) return { before, result: { thread } };
    const granted_tools = tool === undefined ? [] : before.filter((name) => name !== tool);
    const result = await session.call("thread/update", { workspace_id, thread_id: id, granted_tools });
    return { before, result };
  });
  tellThread(before.length > 0 ? "Asks again in" : "Nothing was allowed for good in", result, options);
}

function notGranted(thread_id: string, tool: string, granted: readonly string[]) {
  const allowed = granted.length === 0 ? "Nothing is" : `Only ${granted.join(", ")} is`;
  return cliError(
    { kind: "thread.not_granted", thread_id, tool },
    `${allowed} allowed for good in this thread.`,
  );
}

export async function move(id: string, folder: string, options: WorkspaceOptions): Promise<void> {
  const { result, path } = await withSession(options, async (session) => {
    const { thread } = await onThread(session, id, (named) => session.call("thread/get", named));
    const { workspace_id } = thread;
    const folders = new Folders((await session.call("thread/tree", { workspace_id })).folders);
    const folder_id = folders.find(folder)?.id;
    const result = await session.call("thread/move", {
      thread_id: id,
      workspace_id,
      ...(folder_id !== undefined && { folder_id }),
    });
    return { result, path: formatFolderPath(folders.pathOf(folder_id)) };
  });
  if (options.json) return printJson(result);
  print(`Moved ${paint.bold(visible(result.thread.title))} to ${path}  ${paint.dim(id)}`);
}
