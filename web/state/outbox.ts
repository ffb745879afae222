import { create } from "zustand";
import { useShallow } from "zustand/react/shallow";
import { CallError, NoAnswerError } from "../../src/client/index.js";
import { useDrafts } from "./drafts.js";
import { type Problem, problemOf } from "./errors.js";
import { call, client } from "./gateway.js";
import { handed, takeUpHanded } from "./handed.js";
import { dropForgotten, dropImages, ImagesGone, imageBlock, readImages } from "./kept-images.js";
import { keep } from "./runs.js";

/** A message that was sent by a person and not yet taken by the gateway. */
export interface Unsent {
  /** Made when the person pressed Enter. The gateway answers the same run to the same key, so that it is sent at most once. */
  readonly key: string;
  readonly at: number;
  readonly ws: string;
  readonly thread: string;
  /** With the context line, if one goes along. */
  readonly text: string;
  readonly images: readonly string[];
  /** To be sent to this agent in its own thread, which is not known yet. */
  readonly to?: string | undefined;
  /** It was handed over and nobody knows what came of it: until that is known it can't be another. */
  readonly tried?: boolean | undefined;
  /** The gateway refused it: it waits for the person. */
  readonly problem?: Problem | undefined;
  /** Images of it that this browser has no more: without them it goes only if the person says so. */
  readonly gone?: readonly string[] | undefined;
  /** The gateway asked for patience. */
  readonly busy?: boolean | undefined;
  /** No window tries it before this time. */
  readonly not_before?: number | undefined;
}

const PREFIX = "heddle.outbox.";
const BUSY_MS = 1_000;
const BUSIEST_MS = 10_000;
/** Whoever is asked to wait for longer had their clock changed meanwhile. */
const LONGEST_MS = 60_000;

const useOutboxList = create<{ readonly list: readonly Unsent[] }>()(() => ({ list: readAll() }));

/** A thread's messages that wait in this browser, oldest first. */
export function useOutbox(threadId: string): readonly Unsent[] {
  return useOutboxList(useShallow(({ list }) => list.filter(({ thread }) => thread === threadId)));
}

/** Takes a message in, durably, and sends it as soon as it can be sent. */
export function post(message: Pick<Unsent, "ws" | "thread" | "text" | "images" | "to">): Unsent {
  const last = useOutboxList.getState().list.at(-1)?.at ?? 0;
  const unsent = { ...message, key: `page_${crypto.randomUUID()}`, at: Math.max(Date.now(), last + 1) };
  write(unsent);
  void pump(unsent.thread);
  return unsent;
}

/** Changes one that was not handed over yet; answers whether it could be. */
export function amend(key: string, change: Pick<Unsent, "text" | "images">): Promise<boolean> {
  return alone(key, (unsent) => write({ ...unsent, ...change, problem: undefined, gone: undefined }));
}

/** Takes one back that was not handed over yet. Its images stay for a while: it may be posted again. */
export function takeBack(key: string): Promise<boolean> {
  return alone(key, erase);
}

/** The person asks for one that was refused to be tried again. */
export function tryAgain(key: string): void {
  void alone(key, (unsent) => write({ ...unsent, problem: undefined, gone: undefined }));
}

/** Nobody else has it in hand meanwhile, in whichever window. While another one of its thread is on its way, it waits for that. */
async function alone(key: string, change: (unsent: Unsent) => void): Promise<boolean> {
  const before = find(key);
  if (!before || before.tried) return false;
  const { thread } = before;
  const done = await navigator.locks.request(PREFIX + thread, () => {
    reread();
    const unsent = find(key);
    if (!unsent || unsent.tried) return false;
    if (unsent.thread !== thread) return undefined;
    change(unsent);
    return true;
  });
  // It has gone to its agent's thread meanwhile, where somebody else may have it in hand.
  if (done === undefined) return alone(key, change);
  if (done) void pump(thread);
  return done;
}

/**
 * Sends what waits in a thread, one after the other. Only one window does it at a time: the order is the person's. Between two
 * it lets go, so that what waits can be changed before its turn.
 */
async function pump(thread: string): Promise<void> {
  if (client.state !== "open" || !next(thread)) return;
  const sent = await navigator.locks.request(PREFIX + thread, async () => {
    reread();
    const unsent = next(thread);
    if (!unsent || client.state !== "open" || pauseOf(unsent) > 0) return false;
    await send(unsent);
    return true;
  });
  if (sent) return pump(thread);
  const waits = client.state === "open" ? next(thread) : undefined;
  if (waits) pumpLater(thread, pauseOf(waits));
}

/** Counted with the message and not by a window: several windows together are no less patient than one. */
function pauseOf({ not_before = 0 }: Unsent): number {
  const pause = not_before - Date.now();
  return pause > LONGEST_MS ? 0 : pause;
}

const timers = new Map<string, ReturnType<typeof setTimeout>>();

function pumpLater(thread: string, pause: number): void {
  clearTimeout(timers.get(thread));
  timers.set(
    thread,
    setTimeout(() => void pump(thread), Math.max(0, pause)),
  );
}

/** Refused ones stand aside, so that one that can't be sent does not hold up the rest. */
function next(thread: string): Unsent | undefined {
  return useOutboxList.getState().list.find((each) => each.thread === thread && !each.problem);
}

let patience = BUSY_MS;

async function send(unsent: Unsent): Promise<void> {
  write({ ...unsent, tried: true });
  try {
    if (unsent.to === undefined) await deliver(unsent);
    else await address(unsent, unsent.to);
    patience = BUSY_MS;
  } catch (error) {
    write({ ...unsent, ...cameOf(error) });
  }
}

function cameOf(error: unknown): Partial<Unsent> {
  // Whether it arrived is not known: it is asked again with the same key, over the next connection.
  if (error instanceof NoAnswerError)
    return { tried: true, not_before: client.state === "open" ? Date.now() + BUSY_MS : undefined };
  if (!(error instanceof CallError && error.retryable)) {
    const gone = error instanceof ImagesGone ? error.ids : undefined;
    return { tried: false, busy: false, not_before: undefined, problem: problemOf(error), gone };
  }
  const asked = Number((error.data as { retry_after_ms?: number } | undefined)?.retry_after_ms) || patience;
  patience = Math.min(patience * 2, BUSIEST_MS);
  return { tried: false, busy: true, not_before: Date.now() + Math.min(asked, LONGEST_MS) };
}

async function deliver(unsent: Unsent): Promise<void> {
  const { ws: workspace_id, thread: thread_id, key: idempotency_key } = unsent;
  const content = await contentOf(unsent);
  const { run } = await call("run/start", { workspace_id, thread_id, content, idempotency_key });
  keep([run], { told: false });
  erase(unsent);
  dropImages(unsent.images);
}

/** Finds the agent's thread first: from then on the message belongs there, and is sent once like any other. */
async function address(unsent: Unsent, agent_id: string): Promise<void> {
  const { ws: workspace_id, thread: return_to } = unsent;
  const { thread } = await call("thread/switch", { workspace_id, agent_id, return_to });
  write({ ...unsent, thread: thread.id, to: undefined, tried: false });
  for (const listener of arrivals) listener(unsent.key, thread.id);
  void pump(thread.id);
}

const arrivals = new Set<(key: string, threadId: string) => void>();

/** Hears in which thread a message that was addressed to an agent stands. */
export function onArrival(listener: (key: string, threadId: string) => void): () => void {
  arrivals.add(listener);
  return () => arrivals.delete(listener);
}

export async function contentOf({ text, images }: Pick<Unsent, "text" | "images">) {
  if (images.length === 0) return text;
  const blocks = await Promise.all((await readImages(images)).map(imageBlock));
  return [...(text.trim() === "" ? [] : [{ type: "text" as const, text }]), ...blocks];
}

function find(key: string): Unsent | undefined {
  return useOutboxList.getState().list.find((each) => each.key === key);
}

function write(unsent: Unsent): void {
  useOutboxList.setState(({ list }) => ({ list: placed(list, unsent) }));
  try {
    localStorage.setItem(PREFIX + unsent.key, JSON.stringify(unsent));
    fleeting.delete(unsent.key);
  } catch {
    fleeting.add(unsent.key);
  }
}

/** Those that a full storage did not take: they are sent all the same, as long as this window lives. */
const fleeting = new Set<string>();

/** What other windows did just now may not have been told yet; what is sent must be what stands there. */
function reread(): void {
  useOutboxList.setState(({ list }) => ({
    list: list.filter(({ key }) => fleeting.has(key)).reduce(placed, readAll()),
  }));
}

function erase({ key }: Unsent): void {
  fleeting.delete(key);
  localStorage.removeItem(PREFIX + key);
  useOutboxList.setState(({ list }) => ({ list: list.filter((each) => each.key !== key) }));
}

function placed(list: readonly Unsent[], unsent: Unsent): Unsent[] {
  return [...list.filter(({ key }) => key !== unsent.key), unsent].sort((a, b) => a.at - b.at);
}

function readAll(): Unsent[] {
  return Object.keys(localStorage)
    .filter((key) => key.startsWith(PREFIX))
    .map((key) => parse(localStorage.getItem(key)))
    .filter((each) => each !== undefined)
    .sort((a, b) => a.at - b.at);
}

function parse(value: string | null): Unsent | undefined {
  try {
    const unsent = JSON.parse(value ?? "null") as Unsent;
    const texts = [unsent.key, unsent.ws, unsent.thread, unsent.text];
    const whole = texts.every((each) => typeof each === "string") && Array.isArray(unsent.images);
    return whole ? unsent : undefined;
  } catch {
    return undefined;
  }
}

function pumpAll(): void {
  for (const thread of new Set(useOutboxList.getState().list.map((each) => each.thread))) void pump(thread);
}

/** As long as the page lives, whichever view is open. */
export function watchOutbox(): () => void {
  const forget = client.onState((state) => state === "open" && pumpAll());
  addEventListener("storage", heard);
  pumpAll();
  takeUpHanded();
  void dropForgotten(namedImages);
  return () => {
    forget();
    removeEventListener("storage", heard);
  };
}

/** What another window took in may be this one's to send: that one may be gone, or without a connection. */
function heard({ key, newValue }: StorageEvent): void {
  if (!key?.startsWith(PREFIX)) return;
  const unsent = parse(newValue);
  useOutboxList.setState(({ list }) => ({
    list: unsent ? placed(list, unsent) : list.filter((each) => PREFIX + each.key !== key),
  }));
  if (!unsent) return;
  // Another window has it in hand: what comes of that may be read here a moment later than it is written there.
  if (unsent.tried || unsent.busy) pumpLater(unsent.thread, Math.max(BUSY_MS, pauseOf(unsent)));
  else void pump(unsent.thread);
}

function namedImages(): Set<string> {
  const { list } = useOutboxList.getState();
  const drafts = [...useDrafts.getState().byThread.values()];
  return new Set([...list, ...drafts, ...handed()].flatMap(({ images }) => images));
}
