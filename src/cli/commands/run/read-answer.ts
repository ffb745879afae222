import type { Message, Run } from "../../../protocol/index.js";
import type { Session } from "../../session.js";
import { AWAY_MS } from "./follow.js";

const PAGE = 20;
const MOST_PAGES = 50;

/** What the agent said in a run, in order, as the thread's log has it: back to the message it was asked. */
export async function readAnswer(
  { call }: Session,
  { id, thread_id, workspace_id, user_message_id }: Run,
): Promise<Message[]> {
  const found: Message[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const params = { workspace_id, thread_id, limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const { data, next_cursor } = await call("thread/messages", params, { timeoutMs: AWAY_MS });
    for (const message of data) {
      if (message.id === user_message_id) return found.reverse();
      if (message.role === "agent" && message.run_id === id) found.push(message);
    }
    if (next_cursor === undefined) break;
    cursor = next_cursor;
  }
  return found.reverse();
}
