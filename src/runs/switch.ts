import { modelFor } from "../agents/index.js";
import type { ParsedParams, Result, Thread } from "../protocol/index.js";
import { updateThread } from "../threads/index.js";
import { type Call, getThread } from "../tree/index.js";
import { startRun } from "./admit.js";
import { type ChosenThread, inChosenThread } from "./choose-thread.js";
import type { RunsDeps } from "./deps.js";

type SwitchParams = ParsedParams<"thread/switch"> & { readonly workspace_id: string };

/** Under this attribute a thread remembers which one was left for it. */
const RETURN_TO = "returnTo";

/** Opens another thread with what was said, and remembers the way back. What can't be done leaves no thread behind. */
export async function switchThread(
  deps: RunsDeps,
  params: SwitchParams,
  call: Call,
): Promise<Result<"thread/switch">> {
  const { workspace_id, message, return_to } = params;
  const left = return_to === undefined ? undefined : await threadIn(deps, workspace_id, return_to);
  return inThread(deps, params, { left, call }, async ({ thread, created }) => {
    const marked = left && left.id !== thread.id ? await remember(deps, thread, left, call) : thread;
    if (message === undefined) return { thread: marked, created };
    const key = { workspace_id, thread_id: thread.id };
    const { run } = await startRun(
      deps,
      { ...key, content: message, config: undefined, idempotency_key: undefined },
      call,
    );
    return { thread: marked, created, run };
  });
}

async function inThread<T>(
  deps: RunsDeps,
  { workspace_id, agent_id, thread_id }: SwitchParams,
  { left: beside, call }: { left: Thread | undefined; call: Call },
  use: (chosen: ChosenThread) => Promise<T>,
): Promise<T> {
  if (thread_id !== undefined)
    return use({ thread: await threadIn(deps, workspace_id, thread_id), created: false });
  const agent = deps.agents.in(workspace_id).require(agent_id as string);
  // Somebody who can't answer is no one to switch to.
  modelFor(agent, {});
  const wanted = { workspace_id, agent_id: agent.agentId, session: "latest-or-create", beside };
  return inChosenThread(deps, wanted, call, use);
}

async function threadIn(deps: RunsDeps, workspace_id: string, thread_id: string): Promise<Thread> {
  return (await getThread(deps, { workspace_id, thread_id })).thread;
}

async function remember(
  deps: RunsDeps,
  { workspace_id, id }: Thread,
  left: Thread,
  call: Call,
): Promise<Thread> {
  const kept = { title: undefined, pinned: undefined, config: undefined, granted_tools: undefined };
  const attributes = { [RETURN_TO]: left.id };
  return (await updateThread(deps, { workspace_id, thread_id: id, attributes, ...kept }, call)).thread;
}
