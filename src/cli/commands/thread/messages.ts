import type { Message } from "../../../protocol/index.js";
import { messageLines } from "../../message-text.js";
import type { WorkspaceOptions } from "../../options.js";
import { note, paint, paintErr, print, printJson } from "../../output.js";
import { type Session, withSession } from "../../session.js";
import { type NamedThread, onThread } from "./of-thread.js";

interface MessagesOptions extends WorkspaceOptions {
  readonly limit: number;
  readonly fromStart?: boolean;
}

const PAGE = 100;

export async function messages(id: string, options: MessagesOptions): Promise<void> {
  const { data, more } = await withSession(options, (session) =>
    onThread(session, id, (named) => readMessages(session, named, options)),
  );
  if (options.json) return printJson({ data, more });
  if (data.length === 0) return print(paint.dim("No messages yet."));
  data.forEach((message, index) => {
    print(...(index === 0 ? [] : [""]), ...messageLines(message));
  });
  if (more) note("", paintErr.dim(`There are more: --limit ${options.limit * 10}`));
}

async function readMessages(
  session: Session,
  named: NamedThread,
  { limit, fromStart }: MessagesOptions,
): Promise<{ data: Message[]; more: boolean }> {
  const data: Message[] = [];
  let cursor: string | undefined;
  do {
    const page = await session.call("thread/messages", {
      ...named,
      order: fromStart ? "asc" : "desc",
      limit: Math.min(PAGE, limit - data.length),
      ...(cursor !== undefined && { cursor }),
    });
    data.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== undefined && data.length < limit);
  // A conversation is read from top to bottom, whichever part of it is shown.
  return { data: fromStart ? data : data.reverse(), more: cursor !== undefined };
}
