import { create } from "zustand";
import type { NotificationParams } from "../../src/protocol/index.js";
import { call, client } from "./gateway.js";
import { type LivePart, LiveWords } from "./live-words.js";

export type { LivePart } from "./live-words.js";

/** What runs say while they say it, by run. Published at most ten times a second. */
interface Live {
  readonly runs: ReadonlyMap<string, readonly LivePart[]>;
}

export const useLive = create<Live>()(() => ({ runs: new Map() }));

const EVERY_MS = 100;
const NONE: readonly LivePart[] = [];

/** By run: what has come, and of which thread it is. */
const heard = new Map<string, { readonly thread: string; readonly words: LiveWords }>();
/** How many views show a thread. */
const followed = new Map<string, number>();
/** Threads, with their workspaces, that nobody tells of because asking for it failed. */
const unheard = new Map<string, string>();
let timer: ReturnType<typeof setTimeout> | undefined;
let publishedAt = 0;

/** What a run has said since its last message in the log. */
export function useLiveParts(run_id: string | undefined): readonly LivePart[] {
  return useLive(({ runs }) => (run_id === undefined ? NONE : (runs.get(run_id) ?? NONE)));
}

/** Hears a thread's words as long as somebody looks at it. Returns a function that ends it. */
export function followThread(workspace_id: string, thread_id: string): () => void {
  followed.set(thread_id, (followed.get(thread_id) ?? 0) + 1);
  void listen(workspace_id, thread_id);
  return () => {
    const left = (followed.get(thread_id) ?? 1) - 1;
    if (left > 0) {
      followed.set(thread_id, left);
      return;
    }
    followed.delete(thread_id);
    unheard.delete(thread_id);
    for (const [run_id, { thread }] of heard) if (thread === thread_id) heard.delete(run_id);
    call("unsubscribe", { workspace_id: null, thread_id }).catch(() => {});
    publish();
  };
}

/** A connection that is made anew follows by itself what was followed; what failed is asked for again with it. */
function listen(workspace_id: string, thread_id: string): Promise<void> {
  unheard.delete(thread_id);
  return call("subscribe", { workspace_id, thread_id }).then(
    () => {},
    () => {
      if (followed.has(thread_id)) unheard.set(thread_id, workspace_id);
    },
  );
}

client.onState((state) => {
  if (state === "open") for (const [thread_id, ws] of [...unheard]) void listen(ws, thread_id);
});

function wordsOf({ run_id, thread_id }: { run_id: string; thread_id: string }): LiveWords | undefined {
  if (!followed.has(thread_id)) return undefined;
  const known = heard.get(run_id)?.words;
  if (known) return known;
  const words = new LiveWords();
  heard.set(run_id, { thread: thread_id, words });
  return words;
}

client.on("run/delta", (delta) => {
  const words = wordsOf(delta);
  if (!words) return;
  // A piece before this one was lost with a connection or with the message it was taken for: all of it is told again.
  if (!words.delta(delta)) void listen(delta.workspace_id, delta.thread_id);
  soon();
});
client.on("run/tool", (tool) => {
  const words = wordsOf(tool);
  if (!words) return;
  words.tool(tool);
  soon();
  if (words.lacksInput(tool.step, tool.tool_call_id)) void readInput(words, tool);
});
client.on("message/appended", ({ message }: NotificationParams<"message/appended">) => {
  if (message.role === "agent" && message.run_id !== undefined) forget(message.run_id);
});
client.on("run/changed", ({ run }) => {
  if (run.ended_at !== undefined) forget(run.id);
});
client.onResync(() => {
  heard.clear();
  publish();
});

/** It stands in the log now: in the same moment it is no longer said. */
function forget(run_id: string): void {
  if (heard.delete(run_id)) publish();
}

/** Who comes in mid-run is not told again what went into calls that were answered by then. */
async function readInput(words: LiveWords, tool: NotificationParams<"run/tool">): Promise<void> {
  const { workspace_id, run_id, step, tool_call_id } = tool;
  const asked = await call("run/get", { workspace_id, run_id, tool_call_id }).catch(() => undefined);
  if (asked?.call === undefined) return;
  words.setInput(step, tool_call_id, asked.call.arguments);
  soon();
}

function soon(): void {
  timer ??= setTimeout(publish, Math.max(0, publishedAt + EVERY_MS - performance.now()));
}

function publish(): void {
  clearTimeout(timer);
  timer = undefined;
  publishedAt = performance.now();
  useLive.setState({ runs: new Map([...heard].map(([id, { words }]) => [id, words.parts()])) });
}
