import type { Message } from "../atsf/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { messages, searchTerms, type Unit, type WorkspaceRow, wordsOf, workspaces } from "../store/index.js";
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, findThread, workspaceNotFound } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { readableTextOf } from "./text.js";

type Hit = Result<"thread/search">["data"][number];

/** How long a search waits for words that are still missing; then it answers with what is there. */
const SETTLE_MS = 2_000;
const SNIPPET_CHARS = 160;
const LEAD_CHARS = 40;

/** Messages in which every word of the query begins a word, newest first, with the text around the first match. */
export async function searchMessages(
  deps: ThreadsDeps,
  params: ParsedParams<"thread/search">,
): Promise<Result<"thread/search">> {
  const { workspace_id } = params;
  const limit = params.limit ?? DEFAULT_LIMIT;
  const before = params.cursor === undefined ? undefined : decodeCursor(params.cursor, ["number", "number"]);
  const terms = searchTerms(params.query);
  const workspace = await deps.store.read(() => requirePlaces(workspace_id, params.thread_id));
  const incomplete = !(await withinTime(deps.words.settle(workspace_id)));
  const rows = await deps.store.read(() =>
    messages.searchMessages({
      workspace_id,
      thread_id: params.thread_id,
      terms,
      before: before && { at: before[0], id: before[1] },
      limit: limit + 1,
    }),
  );
  const hits = await Promise.all(rows.slice(0, limit).map((row) => toHit(deps, workspace, row, terms)));
  const last = rows[limit - 1];
  return {
    data: hits.filter((hit) => hit !== undefined),
    ...(rows.length > limit && last && { next_cursor: encodeCursor(last.at, last.id) }),
    ...(incomplete && { incomplete }),
  };
}

function* requirePlaces(workspace_id: string, thread_id: string | undefined): Unit<WorkspaceRow> {
  const workspace = yield* workspaces.findWorkspace(workspace_id);
  if (!workspace) throw workspaceNotFound(workspace_id);
  if (thread_id !== undefined) yield* findThread({ workspace_id, thread_id });
  return workspace;
}

async function withinTime(work: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, SETTLE_MS, false);
  });
  return Promise.race([work.then(() => true), late]).finally(() => clearTimeout(timer));
}

/** The text comes from the thread's own file. Undefined when it is no longer there: the index follows in a moment. */
async function toHit(
  deps: ThreadsDeps,
  workspace: WorkspaceRow,
  found: messages.SearchedMessage,
  terms: readonly string[],
): Promise<Hit | undefined> {
  const root = found.file_root ?? deps.files.directoryOf(workspace);
  const message = await deps.files
    .thread(root, found.thread_id)
    .then((file) => file.readAt(found.line_offset))
    .catch(() => undefined);
  if (!message) return undefined;
  return {
    thread_id: found.thread_id,
    message_id: message.id,
    snippet: snippetAround(message, terms),
    role: message.role,
    ...(typeof message.timestamp === "string" && { timestamp: message.timestamp }),
  };
}

/** A piece of the text that begins a little before the first word that was looked for. */
function snippetAround(message: Message, terms: readonly string[]): string {
  const text = readableTextOf(message).replaceAll(/\s+/g, " ").trim();
  const at = firstMatch(text, terms);
  const start = at <= LEAD_CHARS ? 0 : at - LEAD_CHARS;
  const piece = [...text.slice(start, start + SNIPPET_CHARS * 2).toWellFormed()]
    .slice(0, SNIPPET_CHARS)
    .join("");
  return `${start > 0 ? "…" : ""}${piece}${start + piece.length < text.length ? "…" : ""}`;
}

function firstMatch(text: string, terms: readonly string[]): number {
  const folded = text.toLowerCase();
  const places = terms.map((term) => folded.indexOf(term)).filter((place) => place >= 0);
  if (places.length > 0) return Math.min(...places);
  const words = new Set(terms);
  const word = [...text.matchAll(/[\p{L}\p{M}\p{N}_]+/gu)].find(({ 0: each }) =>
    wordsOf(each).some((made) => [...words].some((term) => made.startsWith(term))),
  );
  return word?.index ?? 0;
}
