import { create } from "zustand";
import type { Message, Params, Result } from "../../src/protocol/index.js";
import { isRefused } from "./errors.js";
import { call, client } from "./gateway.js";

/** A stretch of a thread's messages without gaps, oldest first. */
export interface Transcript {
  readonly state: "loading" | "ready" | "failed";
  readonly error?: unknown;
  readonly messages: readonly Message[];
  /** Where older ones are; undefined: there are none. */
  readonly older?: string | undefined;
  /** Where newer ones are; undefined: it reaches to the end. */
  readonly newer?: string | undefined;
  /** Messages that came while it did not reach to the end. */
  readonly missed: number;
}

interface Transcripts {
  readonly byThread: ReadonlyMap<string, Transcript>;
}

const PAGE = 50;
/** Threads that are kept besides the open one: going back to them is immediate. */
const KEPT = 4;
const LOADING: Transcript = { state: "loading", messages: [], missed: 0 };

export const useTranscripts = create<Transcripts>()(() => ({ byThread: new Map() }));

const workspaces = new Map<string, string>();
/** By thread: messages as the gateway counts them, as far as this window was told. */
const counted = new Map<string, number>();
const busy = new Set<string>();
/** Counts the loads of a thread: the answer to an older one must not replace a newer. */
const loads = new Map<string, number>();
/** Pages that are being read. What is told meanwhile may not be in them. */
const readings = new Set<{ readonly thread_id: string; readonly told: Message[] }>();

export function useTranscript(thread_id: string): Transcript {
  return useTranscripts(({ byThread }) => byThread.get(thread_id) ?? LOADING);
}

export function transcriptOf(thread_id: string): Transcript {
  return useTranscripts.getState().byThread.get(thread_id) ?? LOADING;
}

/** An answer that comes after its thread was let go of brings back nothing: part of a transcript would pass for all of it. */
function set(thread_id: string, change: Partial<Transcript>): void {
  const { byThread } = useTranscripts.getState();
  const before = byThread.get(thread_id);
  if (before)
    useTranscripts.setState({ byThread: new Map(byThread).set(thread_id, { ...before, ...change }) });
}

/** Opens a thread at its end, unless it is there already. */
export function openTranscript(ws: string, thread_id: string): void {
  workspaces.set(thread_id, ws);
  const { byThread } = useTranscripts.getState();
  const known = byThread.get(thread_id);
  const kept = new Map([...byThread].filter(([id]) => id !== thread_id).slice(-KEPT));
  kept.set(thread_id, known ?? LOADING);
  useTranscripts.setState({ byThread: kept });
  if (known?.state !== "ready" || known.newer !== undefined) void loadEnd(thread_id);
}

/** Reads the newest page. What is shown stays until it is there. */
export async function loadEnd(thread_id: string): Promise<void> {
  await load(thread_id, {}, ({ data, next_cursor }) => ({
    messages: data.toReversed(),
    older: next_cursor,
    newer: undefined,
  }));
}

/** Reads what came since, and keeps what is shown: who reads further up stays there. */
export async function catchUp(thread_id: string): Promise<void> {
  const last = transcriptOf(thread_id).messages.at(-1);
  if (!last) return loadEnd(thread_id);
  const done = await load(thread_id, { around: last.id }, (page) => joined(transcriptOf(thread_id), page));
  // The log was replaced: nothing of what is shown can be relied on.
  if (!done && isRefused(transcriptOf(thread_id).error)) await loadEnd(thread_id);
}

/** What is shown up to where the page begins, and the page. One that begins elsewhere stands for itself. */
function joined({ messages, older }: Transcript, page: Page): Partial<Transcript> {
  const read = page.data.toReversed();
  const at = messages.findIndex(({ id }) => id === read[0]?.id);
  const newer = page.newer_cursor;
  if (at < 0) return { messages: read, older: page.next_cursor, newer };
  return { messages: [...messages.slice(0, at), ...read], older, newer };
}

/** Reads the messages around one of them. False: it is not in this thread. */
export async function loadAround(thread_id: string, around: string): Promise<boolean> {
  const known = transcriptOf(thread_id);
  if (known.messages.some(({ id }) => id === around)) return true;
  const done = await load(thread_id, { around }, ({ data, next_cursor, newer_cursor }) => ({
    messages: data.toReversed(),
    older: next_cursor,
    newer: newer_cursor,
  }));
  if (done || !isRefused(transcriptOf(thread_id).error)) return done;
  // What is shown is still right, with what was told meanwhile.
  if (known.state === "ready") set(thread_id, { state: "ready", error: undefined });
  else await loadEnd(thread_id);
  return false;
}

type Page = Result<"thread/messages">;

async function load(
  thread_id: string,
  params: { around?: string },
  take: (page: Page) => Partial<Transcript>,
): Promise<boolean> {
  const mine = (loads.get(thread_id) ?? 0) + 1;
  loads.set(thread_id, mine);
  if (transcriptOf(thread_id).state === "failed") set(thread_id, { state: "loading", error: undefined });
  try {
    const { page, told } = await read(thread_id, params);
    if (loads.get(thread_id) !== mine) return true;
    counted.delete(thread_id);
    const { messages = [], ...taken } = take(page);
    const missed = taken.newer === undefined ? 0 : told.length;
    set(thread_id, {
      state: "ready",
      error: undefined,
      missed,
      ...taken,
      ...withTold(messages, taken, told),
    });
    return true;
  } catch (error) {
    if (loads.get(thread_id) === mine) set(thread_id, { state: "failed", error });
    return false;
  }
}

/** A page, and what was told while it was read. */
async function read(thread_id: string, params: Partial<Params<"thread/messages">>) {
  const reading = { thread_id, told: [] as Message[] };
  readings.add(reading);
  try {
    const page = await call("thread/messages", { ...placeOf(thread_id), ...params, limit: PAGE });
    return { page, told: reading.told };
  } finally {
    readings.delete(reading);
  }
}

/** A stretch that reaches to the end has what was told meanwhile too: the page may have been read before. */
function withTold(
  messages: readonly Message[],
  { newer }: Pick<Transcript, "newer">,
  told: readonly Message[],
): Pick<Transcript, "messages"> {
  if (newer !== undefined || told.length === 0) return { messages };
  const later = new Map(told.map((message) => [message.id, message]));
  const known = new Set(messages.map(({ id }) => id));
  const added = [...later.values()].filter(({ id }) => !known.has(id));
  return { messages: [...messages.map((message) => later.get(message.id) ?? message), ...added] };
}

function placeOf(thread_id: string) {
  const workspace_id = workspaces.get(thread_id);
  return { thread_id, ...(workspace_id !== undefined && { workspace_id }) };
}

/** Reads the next page of older, or of newer messages. A failure is tried again with the next scroll. */
export async function loadMore(thread_id: string, which: "older" | "newer"): Promise<void> {
  const cursor = transcriptOf(thread_id)[which];
  const key = `${thread_id} ${which}`;
  if (cursor === undefined || busy.has(key)) return;
  busy.add(key);
  try {
    const order = which === "older" ? "desc" : "asc";
    const { page, told } = await read(thread_id, { cursor, order });
    const { messages, ...now } = transcriptOf(thread_id);
    if (now[which] !== cursor) return;
    const added = page.data.filter(({ id }) => !messages.some((message) => message.id === id));
    const all = which === "older" ? [...added.reverse(), ...messages] : [...messages, ...added];
    const arrived = which === "newer" && page.next_cursor === undefined;
    const whole = arrived ? withTold(all, {}, told) : { messages: all };
    set(thread_id, { ...whole, [which]: page.next_cursor, ...(arrived && { missed: 0 }) });
  } catch (error) {
    // The log was replaced: what the cursor led to is not there.
    if (isRefused(error)) await loadEnd(thread_id);
  } finally {
    busy.delete(key);
  }
}

client.on("message/appended", ({ thread_id, message }) => {
  for (const reading of readings) if (reading.thread_id === thread_id) reading.told.push(message);
  const transcript = useTranscripts.getState().byThread.get(thread_id);
  if (!transcript) return;
  const count = counted.get(thread_id);
  if (count !== undefined) counted.set(thread_id, count + 1);
  if (transcript.state !== "ready") return;
  if (transcript.newer !== undefined) return set(thread_id, { missed: transcript.missed + 1 });
  const { messages } = transcript;
  // Written again with the same id: the later one counts.
  const others = messages.some(({ id }) => id === message.id)
    ? messages.filter(({ id }) => id !== message.id)
    : messages;
  set(thread_id, { messages: [...others, message] });
});

const SETTLE_MS = 400;
const doubts = new Map<string, ReturnType<typeof setTimeout>>();

// A log that was emptied, replaced, or grown by very much at once is told of only by its count.
client.on("thread/changed", ({ thread }) => {
  const { id, message_count } = thread;
  if (!useTranscripts.getState().byThread.has(id)) return;
  const before = counted.get(id);
  if (before === undefined) counted.set(id, message_count);
  clearTimeout(doubts.get(id));
  doubts.delete(id);
  if (message_count === 0) return void loadEnd(id);
  if (before === undefined || before === message_count) return;
  const look = () => {
    doubts.delete(id);
    if (counted.get(id) === message_count) return;
    counted.set(id, message_count);
    void loadEnd(id);
  };
  doubts.set(id, setTimeout(look, SETTLE_MS));
});

client.on("thread/deleted", ({ thread_id }) => {
  const byThread = new Map(useTranscripts.getState().byThread);
  if (byThread.delete(thread_id)) useTranscripts.setState({ byThread });
});

client.onResync((ws) => {
  for (const [id, { state, newer }] of useTranscripts.getState().byThread) {
    if (workspaces.get(id) !== ws) continue;
    // Who reads in the history comes to what is new by reading on.
    if (state !== "ready" || newer === undefined) void catchUp(id);
  }
});
