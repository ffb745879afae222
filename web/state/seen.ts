import { create } from "zustand";
import type { Run } from "../../src/protocol/index.js";
import { call, client } from "./gateway.js";
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
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof value === "object" && value !== null ? (value as Seen["byWorkspace"]) : {};
  } catch {
    return {};
  }
}

/** Always on what is stored now: another window may have written since this one read. */
function change(ws: string, make: (kept: Kept) => Kept): void {
  const all = stored();
  const before = all[ws] ?? { until: 0, news: {} };
  const after = make(before);
  if (after === before) return;
  const byWorkspace = { ...all, [ws]: after };
  localStorage.setItem(KEY, JSON.stringify(byWorkspace));
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

client.on("run/changed", ({ run }) => {
  const news = newsOf(run);
  if (news !== undefined) take(run.workspace_id, [[run.thread_id, news]], run.ended_at ?? now());
});

function take(ws: string, ended: readonly (readonly [string, News])[], until: number): void {
  const fresh = ended.filter(([thread]) => !isOpen(ws, thread));
  change(ws, (kept) => ({
    until: Math.max(kept.until, until),
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
 * Takes in what ended while no window was there to be told. A browser that sees a workspace for the first time begins with
 * nothing new: it can't know what its person has read elsewhere.
 */
export async function catchUp(ws: string): Promise<void> {
  const { until } = stored()[ws] ?? { until: 0 };
  const at = now();
  if (until > 0) {
    const { data } = await call("run/list", {
      workspace_id: ws,
      status: ["completed", "failed", "interrupted"],
      limit: 100,
    });
    const missed = data.filter((run) => (run.ended_at ?? 0) > until).reverse();
    take(
      ws,
      missed.flatMap((run) => pair(run, newsOf(run))),
      at,
    );
  } else take(ws, [], at);
  forgetGone(ws);
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
