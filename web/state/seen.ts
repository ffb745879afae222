import { create } from "zustand";
import type { Run } from "../../src/protocol/index.js";
import { keepInBrowser, readKept } from "./browser-storage.js";
import { call, client, isUnanswered } from "./gateway.js";
import { currentRoute } from "./router.js";
import { useTree } from "./tree.js";

/** What ended in a thread and has not been looked at. */
export type News = "answer" | "failed";

/** By workspace id. It is kept in the browser, and the same in all its windows. */
interface Seen {
  readonly byWorkspace: Readonly<Record<string, Kept>>;
}

interface Kept {
  /** Unix seconds up to which every end of a run is accounted for. */
  readonly until: number;
  readonly news: Readonly<Record<string, News>>;
}

const KEY = "heddle.seen";
const NO_NEWS: Readonly<Record<string, News>> = {};

export const useSeen = create<Seen>()(() => ({ byWorkspace: stored() }));

function stored(): Seen["byWorkspace"] {
  try {
    const value: unknown = JSON.parse(readKept(KEY) ?? "{}");
    return typeof value === "object" && value !== null ? (value as Seen["byWorkspace"]) : {};
  } catch {
    return {};
  }
}

/** Whether the browser kept the last of it. What it did not keep only this window knows. */
let isKept = true;

/** Always what is stored now: another window may have written since this one read. */
function known(): Seen["byWorkspace"] {
  return isKept ? stored() : useSeen.getState().byWorkspace;
}

function change(ws: string, make: (kept: Kept) => Kept): void {
  const all = known();
  const before = all[ws] ?? { until: 0, news: {} };
  const after = make(before);
  if (after === before) return;
  const byWorkspace = { ...all, [ws]: after };
  isKept = keepInBrowser(KEY, JSON.stringify(byWorkspace));
  useSeen.setState({ byWorkspace });
}

addEventListener("storage", ({ key }) => {
  if (key !== KEY) return;
  useSeen.setState({ byWorkspace: stored() });
  lookAtOpen();
});

const now = () => Math.floor(Date.now() / 1000);

/** What the end of a run means to a person; undefined: nothing, or somebody ended it on purpose. */
export function newsOf(run: Run): News | undefined {
  // What one agent asks of another is that agent's to read.
  if (run.origin?.kind === "delegated") return undefined;
  if (run.status === "completed") return "answer";
  return run.status === "failed" || run.status === "interrupted" ? "failed" : undefined;
}

function isOpen(ws: string, thread: string): boolean {
  const route = currentRoute();
  return !document.hidden && route.view === "thread" && route.ws === ws && route.thread === thread;
}

/** Workspaces of which this window heard every end of a run since it last asked. */
const heardAll = new Set<string>();

client.on("run/changed", ({ run }) => {
  const news = newsOf(run);
  if (news !== undefined) take(run.workspace_id, [[run.thread_id, news]], run.ended_at ?? now());
});
client.onResync((ws) => {
  heardAll.delete(ws);
  void catchUp(ws).catch(() => {});
});

function take(ws: string, ended: readonly (readonly [string, News])[], until: number): void {
  const fresh = ended.filter(([thread]) => !isOpen(ws, thread));
  change(ws, (kept) => ({
    // While some were missed, a later one must not stand for them: they would never be asked for again.
    until: heardAll.has(ws) ? Math.max(kept.until, until) : kept.until,
    news: { ...kept.news, ...Object.fromEntries(fresh) },
  }));
}

/** A thread that is looked at has no news any more. */
export function markSeen(ws: string, thread: string): void {
  if (useSeen.getState().byWorkspace[ws]?.news[thread] === undefined) return;
  change(ws, ({ until, news: { [thread]: _, ...news } }) => ({ until, news }));
}

/** The thread that this window shows is being looked at. */
export function lookAtOpen(): void {
  const route = currentRoute();
  if (route.view === "thread" && !document.hidden) markSeen(route.ws, route.thread);
}
document.addEventListener("visibilitychange", lookAtOpen);

/**
 * Takes in what ended while this window was not told. A browser that sees a workspace for the first time begins with nothing
 * new: it can't know what its person has read elsewhere.
 */
export async function catchUp(ws: string): Promise<void> {
  const { until } = known()[ws] ?? { until: 0 };
  const { runs, at } = until > 0 ? await endedSince(ws, until) : { runs: [], at: now() };
  heardAll.add(ws);
  take(
    ws,
    runs.flatMap((run) => pair(run, newsOf(run))),
    at,
  );
  forgetGone(ws);
}

const ENDED: Run["status"][] = ["completed", "failed", "interrupted"];

/** Oldest first, and when that was asked. Where nobody answers it is asked again over the next connection. */
async function endedSince(ws: string, until: number): Promise<{ runs: Run[]; at: number }> {
  for (;;) {
    const at = now();
    try {
      const { data } = await call("run/list", { workspace_id: ws, status: ENDED, limit: 100 });
      return { runs: data.filter((run) => (run.ended_at ?? 0) > until).reverse(), at };
    } catch (error) {
      if (!isUnanswered(error)) throw error;
    }
  }
}

const pair = (run: Run, news: News | undefined) => (news ? [[run.thread_id, news] as const] : []);

/** Threads that are gone would be counted for ever. */
function forgetGone(ws: string): void {
  const { ws: open, state, threads } = useTree.getState();
  if (open !== ws || state !== "ready") return;
  change(ws, (kept) => {
    const left = Object.entries(kept.news).filter(([id]) => threads.has(id));
    if (left.length === Object.keys(kept.news).length) return kept;
    return { ...kept, news: Object.fromEntries(left) };
  });
}

export function useNews(ws: string | undefined): Readonly<Record<string, News>> {
  return useSeen(({ byWorkspace }) => (ws === undefined ? NO_NEWS : (byWorkspace[ws]?.news ?? NO_NEWS)));
}
