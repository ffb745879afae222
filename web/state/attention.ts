import { useEffect, useMemo } from "react";
import { create } from "zustand";
import type { Run } from "../../src/protocol/index.js";
import { client } from "./gateway.js";
import { usePrefs } from "./prefs.js";
import { currentRoute, navigate, useRoute } from "./router.js";
import { useRuns, useWaiting } from "./runs.js";
import { catchUp, lookAtOpen, newsOf, useNews, useSeen } from "./seen.js";
import { toast } from "./toasts.js";
import { type Tree, useTree } from "./tree.js";

/** Something that goes on only when a person answers, or that a person has not seen yet. */
export interface Matter {
  readonly key: string;
  readonly kind: "waiting" | "answer" | "failed";
  readonly thread_id: string;
  /** Of what waits: the tool that asks, and who. */
  readonly tool?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly at?: number | undefined;
}

/** What asks, oldest first. A call that a delegate makes is told by every run above it, and stands here once. */
export function mattersOf(waiting: readonly Run[]): readonly Matter[] {
  const matters = new Map<string, Matter>();
  for (const run of waiting) {
    for (const { run_id, thread_id, tool_call_id, name, agent_id, asked_at } of run.approvals ?? []) {
      const key = `${run_id} ${tool_call_id}`;
      matters.set(key, { key, kind: "waiting", thread_id, tool: name, agent_id, at: asked_at });
    }
  }
  return [...matters.values()].sort((a, b) => (a.at ?? 0) - (b.at ?? 0));
}

export function useWaitingMatters(ws: string | undefined): readonly Matter[] {
  const waiting = useWaiting(ws);
  return useMemo(() => mattersOf(waiting), [waiting]);
}

export function useNewsMatters(ws: string | undefined): readonly Matter[] {
  const news = useNews(ws);
  const threads = useTree((tree) => tree.threads);
  return useMemo(() => newsMatters(news, threads), [news, threads]);
}

function newsMatters(news: ReturnType<typeof useNews>, threads: Tree["threads"]): readonly Matter[] {
  return Object.entries(news)
    .filter(([id]) => threads.get(id)?.status === "idle")
    .map(([id, kind]) => ({ key: id, kind, thread_id: id, agent_id: threads.get(id)?.agent_id }));
}

/** What waits that the person asked to be brought to; its card takes the focus as soon as it is drawn. */
export const useMatterAsked = create<{ readonly key?: string | undefined }>()(() => ({}));

/** Goes to what waits for the person, one after the other: first what asks, then what is new. */
export function goToNextMatter(): void {
  const { ws, threads } = useTree.getState();
  if (ws === undefined) return;
  const waiting = [...useRuns.getState().byId.values()].filter(
    ({ status, workspace_id }) => status === "waiting" && workspace_id === ws,
  );
  const asks = mattersOf(waiting);
  const matters =
    asks.length > 0 ? asks : newsMatters(useSeen.getState().byWorkspace[ws]?.news ?? {}, threads);
  const next = nextOf(matters);
  if (next === undefined) {
    toast("Nothing waits for you.");
    return;
  }
  if (next.kind === "waiting") useMatterAsked.setState({ key: next.key });
  // On a phone another pane may stand in the place of the thread's messages.
  const isHere = openThread() === next.thread_id && document.querySelector(".main.thread") !== null;
  if (!isHere) navigate({ view: "thread", ws, thread: next.thread_id });
}

/** The one after the one in focus, else the first of what is open, else the first of the next thread. */
function nextOf(matters: readonly Matter[]): Matter | undefined {
  const card = document.activeElement?.closest<HTMLElement>("[data-approval]")?.dataset.approval;
  const at = matters.findIndex(({ key }) => key === card);
  if (at >= 0) return matters[(at + 1) % matters.length];
  const here = openThread();
  return (
    matters.find(({ kind, thread_id }) => kind === "waiting" && thread_id === here) ??
    afterThread(matters, here)
  );
}

function afterThread(matters: readonly Matter[], thread: string | undefined): Matter | undefined {
  const at = matters.findLastIndex(({ thread_id }) => thread_id === thread);
  return matters[(at + 1) % matters.length];
}

function openThread(): string | undefined {
  const route = currentRoute();
  return route.view === "thread" && !route.full ? route.thread : undefined;
}

/** Keeps what was seen, the window's title and the desktop's notifications in step with what happens. */
export function useAttention(): void {
  const ws = useTree((tree) => tree.ws);
  const ready = useTree((tree) => tree.state === "ready");
  const route = useRoute();
  useEffect(() => {
    if (ws !== undefined && ready) void catchUp(ws).catch(() => {});
  }, [ws, ready]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another thread may be open now
  useEffect(lookAtOpen, [route]);
  useTitle(ws);
}

function useTitle(ws: string | undefined): void {
  const count = useWaitingMatters(ws).length;
  const route = useRoute();
  const name = useTree((tree) => {
    if (route.view === "thread") return tree.threads.get(route.thread)?.title;
    if (route.view === "folder") return tree.folders.get(route.folder)?.name;
    return route.view === "doc" ? "AGENTS.md" : undefined;
  });
  useEffect(() => {
    const title = name === undefined ? "Heddle" : `${name}, Heddle`;
    document.title = count > 0 ? `(${count}) ${title}` : title;
  }, [count, name]);
  // A browser that is signed out names nothing, not even on its tab.
  useEffect(
    () => () => {
      document.title = "Heddle";
    },
    [],
  );
}

/** Whether this browser could show notifications, if the person wants them. */
export function canNotify(): boolean {
  return "Notification" in window && Notification.permission !== "denied";
}

/** Only ever called from a click: a browser's own question must not come out of nowhere. */
export async function askToNotify(): Promise<void> {
  const answer = await Notification.requestPermission();
  usePrefs.setState({ notify: answer === "granted" ? "on" : "off" });
}

const asked = new Set<string>();

client.on("run/changed", ({ run }) => {
  const asks = mattersOf([run]).filter(({ key }) => !asked.has(key));
  for (const { key } of asks) asked.add(key);
  if (!document.hidden || usePrefs.getState().notify !== "on") return;
  if (!("Notification" in window) || Notification.permission !== "granted") return;
  const news = newsOf(run);
  const [ask] = asks;
  if (ask) notify(run.workspace_id, ask.thread_id, `Waits for you: ${ask.tool}`);
  else if (news) notify(run.workspace_id, run.thread_id, news === "answer" ? "Answered" : "Failed");
});

function notify(ws: string, thread: string, body: string): void {
  const title = useTree.getState().threads.get(thread)?.title ?? "Heddle";
  // Windows that are told the same replace each other's note instead of adding to it.
  const note = new Notification(title, { body, tag: `${thread} ${body}` });
  note.onclick = () => {
    focus();
    navigate({ view: "thread", ws, thread });
    note.close();
  };
}
