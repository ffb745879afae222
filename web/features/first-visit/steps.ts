import { useQuery } from "@tanstack/react-query";
import type { Agent } from "../../../src/protocol/index.js";
import { useAgents } from "../../state/agents.js";
import { arrivalFrom } from "../../state/arrival.js";
import { askForEditor } from "../../state/editor-asked.js";
import { call, command } from "../../state/gateway.js";
import { post } from "../../state/outbox.js";
import { navigate } from "../../state/router.js";
import { toastProblem } from "../../state/toasts.js";
import { useTree } from "../../state/tree.js";
import { note, type Progress, useProgressIn } from "./progress.js";

export interface Step {
  readonly id: "ask" | "instruct" | "delegate";
  readonly title: string;
  readonly text: string;
  readonly done: boolean;
  readonly action: string;
  /** Why it can't be done. */
  readonly off?: string | undefined;
  run(): void;
}

const HELLO = "Hello, what can you do?";

/** The agent that answers without a key where there is one, else the first that can be asked. */
export function useGuide(): Agent | undefined {
  const { list } = useAgents();
  const able = list.filter(({ available, hidden }) => available && !hidden);
  return able.find(({ provider }) => provider === "demo") ?? able.find((agent) => agent.default) ?? able[0];
}

/** Three things to try, and how far each is. */
export function useSteps(): readonly Step[] {
  const ws = useTree((tree) => tree.ws);
  const progress = useProgressIn(ws);
  const guide = useGuide();
  const peer = usePeer(ws, guide);
  if (ws === undefined) return [];
  const off = guide ? undefined : "There is no agent yet that can be asked.";
  const name = guide?.display_name ?? "the agent";
  const errand = peer === undefined ? "" : errandFor(guide, peer);
  return [
    {
      id: "ask",
      title: "Send a message",
      text: `${name} answers at once, and says what it was told and which tools it has.`,
      done: progress.asked === true,
      action: progress.asked ? "Send it again" : `Send “${HELLO}”`,
      off,
      run: () => void send({ ws, thread: progress.thread, content: HELLO, guide }),
    },
    instruct(ws, progress, guide, off),
    {
      id: "delegate",
      title: "Let one agent ask another",
      text: peer
        ? `${name} hands the errand to ${peer.display_name} in a thread of its own, and you see both.`
        : `${name} may hand work to nobody. Allow it in the configuration.`,
      done: progress.delegated === true,
      action: progress.delegated ? "Delegate again" : "Send an errand",
      off: off ?? (peer ? undefined : "There is no other agent it may ask."),
      run: () => void send({ ws, thread: progress.thread, content: errand, guide }),
    },
  ];
}

/** Writing it is half of it: the other half is to see that it arrives. */
function instruct(ws: string, progress: Progress, guide: Agent | undefined, off: string | undefined): Step {
  const step = { id: "instruct", title: "Give it instructions", done: progress.seen === true } as const;
  if (!progress.written)
    return {
      ...step,
      text: "Write an AGENTS.md, say “Answer in one sentence.” Every agent here follows it from the next run.",
      action: "Write AGENTS.md",
      run: () => {
        note(ws, { along: true });
        askForEditor(ws, undefined);
        navigate({ view: "doc", ws });
      },
    };
  return {
    ...step,
    text: progress.seen
      ? "Context showed your AGENTS.md, word for word, in what the model was sent."
      : "It is saved. Ask again: Context shows it in what the model is sent.",
    action: "Ask again and open Context",
    off,
    run: () => void send({ ws, thread: progress.thread, content: HELLO, guide, context: true }),
  };
}

function errandFor(guide: Agent | undefined, peer: Agent): string {
  return guide?.provider === "demo"
    ? `Ask ${peer.agent_id} to write down that the first visit went well.`
    : `Ask ${peer.agent_id} to introduce itself in one sentence, and tell me what it said.`;
}

/** Whom the guide may hand work to. */
function usePeer(ws: string | undefined, guide: Agent | undefined): Agent | undefined {
  const { byId } = useAgents();
  const { data } = useQuery({
    queryKey: ["agents", ws, "details", guide?.agent_id],
    queryFn: () => call("agent/get", { workspace_id: ws, agent_id: guide?.agent_id as string }),
    enabled: guide !== undefined,
  });
  const peers = (data?.agent.peers ?? []).map((id) => byId.get(id)).filter((each) => each?.available);
  return peers.find((each) => each?.provider === guide?.provider) ?? peers[0];
}

interface Errand {
  readonly ws: string;
  readonly thread: string | undefined;
  readonly content: string;
  readonly guide: Agent | undefined;
  /** Whether the inspector is to be shown with it. */
  readonly context?: boolean;
}

/** Sends it in the thread of the steps, which is made when it is not there. */
async function send({ ws, thread: last, content, guide, context = false }: Errand): Promise<void> {
  const arrive = arrivalFrom();
  try {
    const known = last !== undefined && useTree.getState().threads.has(last);
    const thread = known ? last : await begin(ws, guide);
    note(ws, { thread, along: true });
    await command("run/start", { workspace_id: ws, thread_id: thread, content });
    arrive({ view: "thread", ws, thread, ...(context && { pane: "context" as const }) }, "It is sent");
  } catch (error) {
    toastProblem(error);
  }
}

async function begin(ws: string, guide: Agent | undefined): Promise<string> {
  const { thread } = await command("thread/start", {
    workspace_id: ws,
    title: "Welcome",
    ...(guide && { agent_id: guide.agent_id }),
  });
  return thread.id;
}

/** A first message of one's own. Once it has a thread it is kept until the gateway has it, whatever happens here. */
export async function sendFirst(ws: string, text: string, guide: Agent | undefined): Promise<void> {
  const { thread } = await command("thread/start", {
    workspace_id: ws,
    ...(guide && { agent_id: guide.agent_id }),
  });
  post({ ws, thread: thread.id, text, images: [] });
  note(ws, { thread: thread.id, along: true });
  navigate({ view: "thread", ws, thread: thread.id });
}
