import type { WorkspaceOptions } from "../../options.js";
import { note, paintErr, print, printJson } from "../../output.js";
import { withSession } from "../../session.js";
import { ofThread, tellThread } from "./of-thread.js";

export async function remove(id: string, options: WorkspaceOptions): Promise<void> {
  const result = await withSession(options, async (session) =>
    session.call("thread/delete", await ofThread(session, id)),
  );
  if (options.json) return printJson(result);
  print(`Deleted ${id}`);
  note(paintErr.dim(`Undo within 30 days: heddle threads undelete ${id}`));
}

export async function undelete(id: string, options: WorkspaceOptions): Promise<void> {
  const result = await withSession(options, async (session) =>
    session.call("thread/undelete", await ofThread(session, id)),
  );
  tellThread("Brought back", result, options);
}
