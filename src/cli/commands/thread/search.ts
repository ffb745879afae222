import type { Result } from "../../../protocol/index.js";
import { messageTime, oneLine } from "../../message-text.js";
import type { WorkspaceOptions } from "../../options.js";
import { note, paint, paintErr, print, printJson } from "../../output.js";
import { type Session, withSession } from "../../session.js";
import { onThread, shownThread } from "./of-thread.js";

interface SearchOptions extends WorkspaceOptions {
  readonly thread?: string;
  readonly limit: number;
}

type Hit = Result<"thread/search">["data"][number];

interface Found {
  readonly data: readonly Hit[];
  readonly more: boolean;
  readonly incomplete: boolean;
}

const PAGE = 100;
const SNIPPET = 200;

export async function search(words: readonly string[], options: SearchOptions): Promise<void> {
  const query = words.join(" ");
  const { titles, ...found } = await withSession(options, async (session) => {
    const workspace_id = await whereToLook(session, options);
    const found = await readHits(session, { workspace_id, query, options });
    return { ...found, titles: options.json ? new Map() : await titlesOf(session, workspace_id, found.data) };
  });
  if (options.json) return printJson(found);
  for (const { thread_id, role, timestamp, snippet } of found.data) {
    const heading = [
      paint.dim(messageTime(timestamp)),
      role,
      shownThread({ id: thread_id, title: titles.get(thread_id) ?? "" }),
    ];
    print(heading.join("  "), `  ${oneLine(snippet, SNIPPET)}`);
  }
  if (found.data.length === 0) print(paint.dim("Nothing found."));
  if (found.incomplete)
    note(paintErr.yellow("Not every message has been read for the search yet: try again in a moment."));
  if (found.more) note(paintErr.dim(`There are more: --limit ${options.limit * 10}`));
}

/** A thread's id tells its workspace; the words alone do not. */
async function whereToLook(session: Session, { thread, workspace }: SearchOptions): Promise<string> {
  if (thread === undefined || workspace !== undefined) return (await session.workspace()).id;
  const found = await onThread(session, thread, (named) => session.call("thread/get", named));
  return found.thread.workspace_id;
}

async function readHits(
  { call }: Session,
  given: { workspace_id: string; query: string; options: SearchOptions },
): Promise<Found> {
  const { workspace_id, query } = given;
  const { thread, limit } = given.options;
  const data: Hit[] = [];
  let cursor: string | undefined;
  let incomplete = false;
  do {
    const page = await call("thread/search", {
      workspace_id,
      query,
      limit: Math.min(PAGE, limit - data.length),
      ...(thread !== undefined && { thread_id: thread }),
      ...(cursor !== undefined && { cursor }),
    });
    data.push(...page.data);
    cursor = page.next_cursor;
    incomplete ||= page.incomplete === true;
  } while (cursor !== undefined && data.length < limit);
  return { data, more: cursor !== undefined, incomplete };
}

async function titlesOf(
  { call }: Session,
  workspace_id: string,
  hits: readonly Hit[],
): Promise<Map<string, string>> {
  const titles = new Map<string, string>();
  for (const { thread_id } of hits) {
    if (titles.has(thread_id)) continue;
    titles.set(thread_id, (await call("thread/get", { workspace_id, thread_id })).thread.title);
  }
  return titles;
}
