import type { Message, Thread } from "../../protocol/index.js";
import type { CallMethod } from "../inside/caller.js";
import type { Past } from "./conversation.js";
import { isSame, isSilent } from "./recorded.js";

/** Under this attribute a thread of this endpoint keeps the name of its beginning. */
export const ATTRIBUTE = "chatCompletions";

/** Further back nobody looks: a conversation that is taken up after so many others goes on in a thread of its own. */
const LOOKED_AT = 500;
const PAGE = 500;

interface Wanted {
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly beginning: string;
  readonly past: readonly Past[];
}

/** The thread that holds exactly what was said before, if this endpoint has one. One that is at work is another story by now. */
export async function findThread(call: CallMethod, wanted: Wanted): Promise<Thread | undefined> {
  const { workspace_id, agent_id, beginning, past } = wanted;
  if (past.length === 0) return undefined;
  const { data } = await call("thread/list", { workspace_id, agent_id, limit: LOOKED_AT });
  for (const thread of data) {
    const isCandidate = thread.attributes?.[ATTRIBUTE] === beginning && thread.status === "idle";
    if (isCandidate && (await holds(call, thread, past))) return thread;
  }
  return undefined;
}

async function holds(call: CallMethod, thread: Thread, past: readonly Past[]): Promise<boolean> {
  const { message_count: count } = thread;
  // One that holds more than these and an answer without words to each is another conversation: it is not read to its end.
  if (count < past.length || count > 2 * past.length) return false;
  const key = { workspace_id: thread.workspace_id, thread_id: thread.id, order: "asc" as const, limit: PAGE };
  let at = 0;
  let cursor: string | undefined;
  do {
    const page = await call("thread/messages", { ...key, ...(cursor !== undefined && { cursor }) });
    for (const message of page.data) {
      if (isTheOne(message, past[at])) at += 1;
      else if (!isSilent(message)) return false;
    }
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return at === past.length;
}

function isTheOne(message: Message, past: Past | undefined): boolean {
  return past !== undefined && isSame(message, past);
}
