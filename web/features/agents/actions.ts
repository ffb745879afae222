import type { Params } from "../../../src/protocol/index.js";
import { arrivalFrom } from "../../state/arrival.js";
import { command } from "../../state/gateway.js";
import { currentRoute, pathOf, type Route } from "../../state/router.js";
import { toastProblem } from "../../state/toasts.js";
import { useTree } from "../../state/tree.js";

/** The folder that is open, or the one of the thread that is. Undefined: the root. */
export function folderHere(): string | undefined {
  const route = currentRoute();
  if (route.view === "folder" || route.view === "doc") return route.folder;
  return route.view === "thread" ? useTree.getState().places.get(route.thread)?.folder_id : undefined;
}

export function threadHere(): string | undefined {
  const route = currentRoute();
  return route.view === "thread" ? route.thread : undefined;
}

type Start = Omit<Params<"thread/start">, "workspace_id">;

/** Makes a thread and goes there; undefined: it was refused, and that has been said. */
export async function startThread(given: Start): Promise<string | undefined> {
  const { ws } = useTree.getState();
  if (ws === undefined) return undefined;
  const arrive = arrivalFrom();
  try {
    const { thread } = await command("thread/start", { workspace_id: ws, ...given });
    arrive({ view: "thread", ws, thread: thread.id }, "Made a new thread");
    return thread.id;
  } catch (error) {
    toastProblem(error);
    return undefined;
  }
}

/** Goes to an agent's latest thread, or a new one beside this one, which then knows the way back. */
export async function switchTo(agent_id: string, message?: string): Promise<void> {
  const { ws } = useTree.getState();
  if (ws === undefined) return;
  const left = threadHere();
  const arrive = arrivalFrom();
  try {
    const { thread } = await command("thread/switch", {
      workspace_id: ws,
      agent_id,
      ...(left !== undefined && { return_to: left }),
      ...(message !== undefined && { message }),
    });
    arrive({ view: "thread", ws, thread: thread.id }, "The agent’s thread is there");
  } catch (error) {
    toastProblem(error);
  }
}

/** Takes the whole conversation along, to be answered by another agent from here on. */
export async function forkTo(thread_id: string, agent_id: string): Promise<void> {
  const { ws } = useTree.getState();
  if (ws === undefined) return;
  const arrive = arrivalFrom();
  try {
    const { thread } = await command("thread/fork", { workspace_id: ws, thread_id, agent_id });
    arrive({ view: "thread", ws, thread: thread.id }, "The fork is there");
  } catch (error) {
    toastProblem(error);
  }
}

export function openInNewTab(route: Route): void {
  window.open(pathOf(route), "_blank", "noopener");
}
