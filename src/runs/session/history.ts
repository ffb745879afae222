import { isDeepStrictEqual } from "node:util";
import type { Message, Thread as ThreadFile } from "../../atsf/index.js";
import {
  type EncodedMessage,
  encodeMessage,
  endOf,
  type HistoryView,
  type ListEnd,
  promptMessagesOf,
  type Told,
  type ToTell,
  tell,
  verified,
} from "../../prompts/index.js";
import type { PromptMessage } from "../../providers/index.js";
import { history, type Store, type ThreadRow } from "../../store/index.js";
import type { SessionKey } from "./parts.js";

/** Rows that are about to be written behind a thread's history. */
export interface AddedHistory {
  readonly epoch: number;
  /** The position of the first of them. */
  readonly first: number;
  readonly rows: readonly (Told & { readonly text: string })[];
  /** From where on the history is sent. */
  readonly from: number;
  /** How far into the log it goes then; undefined: as before. */
  readonly covered: number | undefined;
}

/** What a thread's agent was told, from the point on from which it is still sent. */
export class SessionHistory {
  readonly epoch: number;
  from: number;
  /** How far into the log it goes. */
  covered: number;
  end: ListEnd;
  /** Those from `first` on. */
  readonly told: Told[];
  readonly first: number;
  bytes = 0;

  constructor(given: { epoch: number; from: number; covered: number; end: ListEnd; told: readonly Told[] }) {
    this.epoch = given.epoch;
    this.from = given.from;
    this.covered = given.covered;
    this.end = given.end;
    this.told = [...given.told];
    this.first = given.end.length - given.told.length;
    for (const { bytes } of given.told) this.bytes += bytes;
  }

  adopt({ rows, from, covered }: AddedHistory): void {
    for (const { text: _, ...told } of rows) {
      this.told.push(told);
      this.bytes += told.bytes;
    }
    this.end = endAfter(this.end, rows);
    this.from = from;
    if (covered !== undefined) this.covered = covered;
  }

  /** As the compiler sees it, with rows that are about to be added. */
  view(added: readonly Told[], turn: number): HistoryView {
    const end = endAfter(this.end, added);
    const known = this.end.length;
    return {
      start: this.from,
      to: end.length,
      list_hash: end.list_hash,
      turn,
      at: (position) =>
        (position < known ? this.told[position - this.first] : added[position - known]) as Told,
    };
  }

  /** Looks from the end: what is asked for was told a moment ago, or never. */
  hasTold(message_id: string): boolean {
    return this.told.findLast((told) => told.message_id === message_id) !== undefined;
  }

  /** What of it is still sent. */
  sent(): readonly Told[] {
    return this.told.slice(this.from - this.first);
  }
}

function endAfter(end: ListEnd, added: readonly Told[]): ListEnd {
  const last = added.at(-1);
  if (!last) return end;
  const { list_hash, chars, tokens } = last;
  return { length: end.length + added.length, list_hash, chars, tokens };
}

/** Whether it is what the thread's agent was told of the log as it stands. */
export function isPresent(
  { epoch, covered }: SessionHistory,
  row: Pick<ThreadRow, "history_epoch" | "history_to">,
): boolean {
  return row.history_epoch === epoch && row.history_to === covered;
}

/** The thread's present list; a log that was replaced or was never told begins a new one. */
export async function loadHistory(
  store: Store,
  key: SessionKey,
  row: Pick<ThreadRow, "history_epoch" | "history_from" | "history_to">,
): Promise<SessionHistory> {
  const { history_epoch, history_from, history_to } = row;
  if (history_to === null || history_epoch === null) {
    const last = await store.read(() => history.lastTold(key));
    const epoch = Math.max(history_epoch ?? 0, last?.epoch ?? 0) + 1;
    return new SessionHistory({ epoch, from: 0, covered: 0, end: endOf(undefined), told: [] });
  }
  const epoch = Number(history_epoch);
  const from = history_from ?? 0;
  // The one before the first that is sent is needed for its sums.
  const rows = await store.read(() => history.toldMessages({ ...key, epoch }, Math.max(0, from - 1)));
  const told = rows.map(({ content, ...rest }) => toldOf(rest, content));
  return new SessionHistory({ epoch, from, covered: history_to, end: endOf(rows.at(-1)), told });
}

function toldOf(row: Omit<history.ToldMessage, "content">, content: Uint8Array): Told {
  const { hash, list_hash, role, chars, tokens, message_id } = row;
  const message = JSON.parse(Buffer.from(verified(hash, content)).toString()) as PromptMessage;
  return { hash, list_hash, role, chars, tokens, message_id, message, bytes: content.length };
}

/** What stands in the log that its agent was not told yet. Own messages are known by their ids. */
export async function untold(
  store: Store,
  key: SessionKey,
  { file, known, own }: { file: ThreadFile; known: SessionHistory; own: OwnMessages },
): Promise<{ messages: ToTell[]; covered: number }> {
  const found: Message[] = [];
  let { covered } = known;
  for await (const entry of file.newMessagesNow(covered) ?? file.newMessages(covered)) {
    covered = entry.end;
    if ("message" in entry) found.push(entry.message);
  }
  const foreign = found.filter(({ id, role }) => role === "agent" && !own.has(id));
  const before = known.epoch > 1 && foreign.length > 0 ? await toldBefore(store, key, foreign) : NONE;
  const messages: ToTell[] = [];
  for (const message of found) {
    const { id: message_id } = message;
    // A question may have been told before it stood in the log.
    if (message.role === "user" && known.hasTold(message_id)) continue;
    const encoded = own.get(message_id) ?? sameAs(await derived(file, message), before.get(message_id));
    messages.push(...encoded.map((one) => ({ encoded: one, message_id })));
  }
  return { messages, covered };
}

/** By message id; what was told step by step is not told again. */
export type OwnMessages = ReadonlyMap<string, readonly EncodedMessage[]>;

/** What a run said is told in its own bytes, as long as the log still says the same: somebody may have edited it. */
function sameAs(now: EncodedMessage[], before: EncodedMessage[] | undefined): EncodedMessage[] {
  const words = (messages: readonly EncodedMessage[]) =>
    messages.map(({ message: { role, content, tool_calls = [] } }) => [
      role,
      typeof content === "string"
        ? content
        : content.map((part) => (part.type === "text" ? part.text : "")).join(""),
      tool_calls.map(({ name, arguments: given }) => [name, given]),
    ]);
  return before && isDeepStrictEqual(words(before), words(now)) ? before : now;
}

const NONE: ReadonlyMap<string, EncodedMessage[]> = new Map();

/** A log that was replaced may still hold what runs said: it is told in the same bytes as before. */
async function toldBefore(
  store: Store,
  key: SessionKey,
  messages: readonly Message[],
): Promise<Map<string, EncodedMessage[]>> {
  const rows = await store.read(() =>
    history.toldBefore(
      key,
      messages.map(({ id }) => id),
    ),
  );
  const latest = new Map<string, { epoch: number; encoded: EncodedMessage[] }>();
  for (const { message_id, epoch, content } of rows) {
    const there = latest.get(message_id);
    const encoded = encodeMessage(JSON.parse(Buffer.from(content).toString()) as PromptMessage);
    if (there?.epoch === epoch) there.encoded.push(encoded);
    else latest.set(message_id, { epoch, encoded: [encoded] });
  }
  return new Map([...latest].map(([id, { encoded }]) => [id, encoded]));
}

async function derived(file: ThreadFile, message: Message): Promise<EncodedMessage[]> {
  const readImage = (assetRef: string) =>
    file.readAsset(assetRef).then(
      (bytes) => bytes.toString("base64"),
      () => undefined,
    );
  const told = await promptMessagesOf(message, readImage);
  return told.map(encodeMessage);
}

/** Rows for messages that are told next. */
export function addHistory(
  known: SessionHistory,
  messages: readonly ToTell[],
  covered?: number,
): AddedHistory {
  const rows = tell(known.end, messages).map((told, at) => ({
    ...told,
    text: (messages[at] as ToTell).encoded.text,
  }));
  return { epoch: known.epoch, first: known.end.length, rows, from: known.from, covered };
}
