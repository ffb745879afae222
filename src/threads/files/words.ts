import type { Message, Thread as ThreadFile } from "../../atsf/index.js";
import { sha256 } from "../../base/index.js";
import type { Store } from "../../store/index.js";
import { messages, type ThreadRow, threadFiles, threads, wordsOf, workspaces } from "../../store/index.js";
import { searchTextOf, storable } from "../text.js";
import { secondsOf } from "./fields.js";
import { pageThrough } from "./page-through.js";
import type { ThreadFiles } from "./thread-files.js";

interface WordsDeps {
  readonly store: Store;
  readonly files: ThreadFiles;
  readonly report: (error: unknown, what: string) => void;
}

const IDLE_MS = 1_000;
const BATCH_MESSAGES = 200;
const BATCH_CHARS = 1024 * 1024;
const MAX_ID = 255;

/**
 * Puts the words of messages into the index a moment after they came, many at once: a turn of a conversation does not
 * wait for it. Whoever searches has what is missing put in first.
 */
export class WordIndexer {
  readonly #deps: WordsDeps;
  readonly #pending = new Map<string, Set<string>>();
  readonly #opening = new Map<string, Promise<void>>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #coming = new Map<string, Set<Promise<unknown>>>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(deps: WordsDeps) {
    this.#deps = deps;
  }

  /**
   * Threads get messages whose words are missing once this commit is done. A client may see the commit before its writer
   * hears of it: a search that begins then waits for this too.
   */
  async missingAfter<T>(workspace_id: string, thread_ids: readonly string[], commit: Promise<T>): Promise<T> {
    const coming = this.#coming.get(workspace_id) ?? new Set();
    this.#coming.set(workspace_id, coming);
    const mine = commit.finally(() => {
      for (const thread_id of thread_ids) this.#note(workspace_id, thread_id);
      coming.delete(mine);
    });
    coming.add(mine);
    return mine;
  }

  #note(workspace_id: string, thread_id: string): void {
    const pending = this.#pending.get(workspace_id);
    // Not looked at yet: the first search asks the store for all of them.
    if (!pending) return;
    pending.add(thread_id);
    this.#timer ??= setTimeout(() => this.#runAll(), IDLE_MS).unref();
  }

  /** Finds out what is missing in a workspace; from then on it is kept up. */
  open(workspace_id: string): Promise<void> {
    const opening = this.#opening.get(workspace_id) ?? this.#ask(workspace_id);
    this.#opening.set(workspace_id, opening);
    opening.catch(() => this.#forget(workspace_id));
    return opening;
  }

  async #ask(workspace_id: string): Promise<void> {
    const pending = new Set<string>();
    this.#pending.set(workspace_id, pending);
    const lacking: threadFiles.WordStateRow[] = [];
    for await (const row of pageThrough(this.#deps, workspace_id, threadFiles.pageOfWordStates))
      if (row.deleted_at === null && lacksWords(row)) lacking.push(row);
    // What somebody worked on last is looked for first.
    lacking.sort((a, b) => b.updated_at - a.updated_at);
    for (const { id } of lacking) pending.add(id);
    if (lacking.length > 0) this.#timer ??= setTimeout(() => this.#runAll(), IDLE_MS).unref();
  }

  /** Asks the store anew what is missing. */
  async reopen(workspace_id: string): Promise<void> {
    this.#forget(workspace_id);
    await this.open(workspace_id);
  }

  #forget(workspace_id: string): void {
    this.#pending.delete(workspace_id);
    this.#opening.delete(workspace_id);
  }

  /** Resolves when every word that was missing is there. */
  async settle(workspace_id: string): Promise<void> {
    await Promise.allSettled(this.#coming.get(workspace_id) ?? []);
    // What is being put in right now is missing too, though nothing waits for its turn any more.
    await this.#running.get(workspace_id);
    await this.open(workspace_id);
    while (this.#running.has(workspace_id) || this.#pending.get(workspace_id)?.size) {
      await this.#run(workspace_id);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await Promise.all(this.#running.values());
  }

  #runAll(): void {
    this.#timer = undefined;
    for (const [workspace_id, pending] of this.#pending) if (pending.size > 0) void this.#run(workspace_id);
  }

  #run(workspace_id: string): Promise<void> {
    const running = this.#running.get(workspace_id);
    if (running) return running;
    const mine = this.#drain(workspace_id).finally(() => this.#running.delete(workspace_id));
    this.#running.set(workspace_id, mine);
    return mine;
  }

  async #drain(workspace_id: string): Promise<void> {
    const pending = this.#pending.get(workspace_id) as Set<string>;
    let failed = false;
    for (const thread_id of pending) {
      if (this.#closed) {
        pending.clear();
        return;
      }
      pending.delete(thread_id);
      await indexWords(this.#deps, workspace_id, thread_id).catch((error) => {
        failed = true;
        this.#deps.report(error, "a thread's messages could not be made searchable");
      });
    }
    // Files that are away now may be back later: the next search asks the store again what is missing.
    if (failed) this.#forget(workspace_id);
  }
}

/** Brings the words of one thread up to what the index knows of its log; what is appended meanwhile has its turn later. */
export async function indexWords(
  deps: Pick<WordsDeps, "store" | "files">,
  workspace_id: string,
  thread_id: string,
): Promise<void> {
  let goal: number | undefined;
  for (;;) {
    const found = await deps.store.read(function* () {
      const workspace = yield* workspaces.findWorkspace(workspace_id);
      const row = yield* threadFiles.findIndexed(workspace_id, thread_id);
      return workspace && row && row.deleted_at === null ? { workspace, row } : undefined;
    });
    if (!found || !lacksWords(found.row)) return;
    const { row, workspace } = found;
    goal ??= row.log_size ?? 0;
    if ((row.words_to ?? 0) >= goal) return;
    const file = await deps.files.thread(row.file_root ?? deps.files.directoryOf(workspace), thread_id);
    const { rows, to } = await nextBatch(file, row);
    await deps.store.write({ key: workspace_id }, function* () {
      const now = yield* threadFiles.findIndexed(workspace_id, thread_id);
      // Cleared, replaced or done by someone else meanwhile: what was read no longer belongs here.
      if (now?.words_to !== row.words_to || !(row.words_to || now?.log_stamp === row.log_stamp)) return;
      if (!row.words_to) yield* messages.removeMessages(workspace_id, thread_id);
      yield* messages.saveMessages(rows);
      yield* threads.updateThread(workspace_id, thread_id, { words_to: to });
    });
  }
}

/** What a message is found by under its id: other programs' ids may be longer than PostgreSQL can look up. */
export function messageKey(message_id: string): string {
  return message_id.length <= MAX_ID ? storable(message_id) : `long:${sha256(storable(message_id))}`;
}

function lacksWords({ words_to, log_size }: Pick<ThreadRow, "words_to" | "log_size">): boolean {
  return (words_to ?? 0) < (log_size ?? 0);
}

async function nextBatch(
  file: ThreadFile,
  row: ThreadRow,
): Promise<{ rows: messages.IndexedMessage[]; to: number }> {
  const rows: messages.IndexedMessage[] = [];
  const size = row.log_size ?? 0;
  let to = row.words_to ?? 0;
  let chars = 0;
  for await (const entry of file.newMessages(to)) {
    if (entry.end > size || rows.length >= BATCH_MESSAGES || chars > BATCH_CHARS) break;
    to = entry.end;
    if (!("message" in entry)) continue;
    const text = searchTextOf(entry.message);
    chars += text.length;
    rows.push(indexed(row, entry.message, entry.offset, text));
  }
  // Nothing more to be had up to there: broken lines have no words.
  return { rows, to: rows.length === 0 ? size : to };
}

function indexed(
  row: ThreadRow,
  message: Message,
  line_offset: number,
  text: string,
): messages.IndexedMessage {
  const at = secondsOf(message.timestamp);
  return {
    workspace_id: row.workspace_id,
    thread_id: row.id,
    message_id: messageKey(message.id),
    line_offset,
    at: Number.isFinite(at) ? at : row.created_at,
    role: message.role,
    words: wordsOf(text),
  };
}
