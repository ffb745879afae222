import { Turns } from "../base/index.js";
import type { Thread } from "../protocol/index.js";
import { threads } from "../store/index.js";
import { startThread } from "../threads/index.js";
import { type Call, getThread, threadToWire } from "../tree/index.js";
import type { RunsDeps } from "./deps.js";
import { runsError } from "./errors.js";

export interface ToChoose {
  readonly workspace_id: string;
  readonly agent_id: string;
  /** `latest`, `create`, `latest-or-create`, or the id of a thread. */
  readonly session: string;
  /** A thread that is made is placed beside this one, so that the same AGENTS.md applies. */
  readonly beside?: Pick<Thread, "id" | "folder_id"> | undefined;
}

export interface ChosenThread {
  readonly thread: Thread;
  readonly created: boolean;
}

/** Two who look for an agent's latest thread at the same moment, and find none, must not make two. */
const choosing = new Turns();

/** The thread of an agent that is meant: the most recently updated one, a new one, or one by its id. */
export async function chooseThread(deps: RunsDeps, wanted: ToChoose, call: Call): Promise<ChosenThread> {
  const { workspace_id, agent_id, session } = wanted;
  if (session !== "latest" && session !== "create" && session !== "latest-or-create") {
    return { thread: await threadOf(deps, wanted), created: false };
  }
  return choosing.run(`${workspace_id}/${agent_id}`, async () => {
    const latest = session === "create" ? undefined : await latestThread(deps, wanted);
    if (latest) return { thread: latest, created: false };
    if (session === "latest") throw noThread(agent_id);
    return { thread: await makeThread(deps, wanted, call), created: true };
  });
}

async function latestThread(
  deps: RunsDeps,
  { workspace_id, agent_id }: ToChoose,
): Promise<Thread | undefined> {
  const row = await deps.store.read(() => threads.latestOfAgent(workspace_id, agent_id));
  return row && threadToWire(row);
}

async function makeThread(
  deps: RunsDeps,
  { workspace_id, agent_id, beside }: ToChoose,
  call: Call,
): Promise<Thread> {
  const { thread } = await startThread(
    deps,
    {
      workspace_id,
      agent_id,
      folder_id: beside?.folder_id,
      title: undefined,
      // A project's wish for worktrees is for people who begin something, not for every question between agents.
      use_worktree: false,
      config: undefined,
    },
    call,
    beside ? { parentThreadId: beside.id } : {},
  );
  return thread;
}

async function threadOf(deps: RunsDeps, { workspace_id, agent_id, session }: ToChoose): Promise<Thread> {
  const { thread } = await getThread(deps, { workspace_id, thread_id: session });
  if (thread.agent_id === agent_id) return thread;
  throw runsError(
    { kind: "thread.other_agent", thread_id: thread.id, agent_id: thread.agent_id },
    `The thread ${thread.id} is one of ${thread.agent_id}, not of ${agent_id}.`,
  );
}

function noThread(agent_id: string) {
  return runsError(
    { kind: "thread.none_of_agent", agent_id },
    `There is no thread of ${agent_id} yet. Use latest-or-create, or create.`,
  );
}
