import { Turns } from "../base/index.js";
import type { Thread } from "../protocol/index.js";
import { threads } from "../store/index.js";
import { deleteThread, startThread } from "../threads/index.js";
import { type Call, getThread, threadToWire } from "../tree/index.js";
import type { RunsDeps } from "./deps.js";
import { runsError } from "./errors.js";
import type { SessionKey } from "./session/parts.js";

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

/** Threads that were made here and that nobody has used yet, each with how many are about to. */
const unused = new Map<string, number>();

/**
 * Does something in the thread of an agent that is meant: the most recently updated one, a new one, or one by its id. A
 * thread that was made for it is taken away again when that fails, by the last of those who chose it and only where nothing
 * has begun: another caller may have been told that its message was sent there.
 */
export async function inChosenThread<T>(
  deps: RunsDeps,
  wanted: ToChoose,
  call: Call,
  use: (chosen: ChosenThread) => Promise<T>,
): Promise<T> {
  const chosen = await chooseThread(deps, wanted, call);
  const { id } = chosen.thread;
  try {
    const done = await use(chosen);
    unused.delete(id);
    return done;
  } catch (error) {
    await choosing.run(turnOf(wanted), () => leave(deps, chosen.thread, call));
    throw error;
  }
}

async function chooseThread(deps: RunsDeps, wanted: ToChoose, call: Call): Promise<ChosenThread> {
  const { agent_id, session } = wanted;
  if (session !== "latest" && session !== "create" && session !== "latest-or-create") {
    return joined({ thread: await threadOf(deps, wanted), created: false });
  }
  return choosing.run(turnOf(wanted), async () => {
    const latest = session === "create" ? undefined : await latestThread(deps, wanted);
    if (latest) return joined({ thread: latest, created: false });
    if (session === "latest") throw noThread(agent_id);
    const thread = await makeThread(deps, wanted, call);
    unused.set(thread.id, 1);
    return { thread, created: true };
  });
}

function turnOf({ workspace_id, agent_id }: ToChoose): string {
  return `${workspace_id}/${agent_id}`;
}

function joined(chosen: ChosenThread): ChosenThread {
  const { id } = chosen.thread;
  const before = unused.get(id);
  if (before !== undefined) unused.set(id, before + 1);
  return chosen;
}

/** In the turn of choosing: nobody chooses it meanwhile. */
async function leave(deps: RunsDeps, { id, workspace_id }: Thread, call: Call): Promise<void> {
  const users = unused.get(id);
  if (users === undefined) return;
  if (users > 1) return void unused.set(id, users - 1);
  unused.delete(id);
  await takeAway(deps, { workspace_id, thread_id: id }, call).catch((error) =>
    deps.report(error, "a thread that was made for nothing is still there"),
  );
}

/** Somebody who chose nothing may have sent a message to it: it is listed. */
async function takeAway(deps: RunsDeps, key: SessionKey, call: Call): Promise<void> {
  const session = await deps.sessions.open(key);
  await session.change(async () => {
    if (session.lastNumber === 0) await deleteThread(deps, key, call);
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
