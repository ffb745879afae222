import { type AgentDefinition, modelFor } from "../agents/index.js";
import {
  encodeMessage,
  encodeValue,
  type FrozenConfig,
  loadActivePacks,
  packsToLoad,
  type ResolvedPrompt,
  resolveLadder,
} from "../prompts/index.js";
import type { PromptSnapshot, RunConfig, ThreadConfig } from "../protocol/index.js";
import type { RunsDeps } from "./deps.js";
import type { Frozen, KeptBlob } from "./session/parts.js";
import type { ThreadSession } from "./session/session.js";

export interface ToFreeze {
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly thread: ThreadConfig;
  readonly run: RunConfig;
}

/** The same as for the run before where nothing it depends on is another: packs may be, so they are looked at each time. */
export async function freezeFor(deps: RunsDeps, session: ThreadSession, given: ToFreeze): Promise<Frozen> {
  const { run, thread } = given;
  const packs = typeof (run.prompt_pack ?? thread.default_prompt_pack) === "string";
  const { revision } = deps.agents.in(given.workspace_id);
  const key = packs ? "" : JSON.stringify([revision, given.agent_id, thread, run]);
  if (key !== "" && session.lastFrozen?.key === key) return session.lastFrozen.frozen;
  const frozen = await freeze(deps, given);
  session.lastFrozen = { key, frozen };
  return frozen;
}

/** Decides everything about a run that does not depend on when it runs. Every blob it names is there and fits. */
export async function freeze(deps: RunsDeps, given: ToFreeze): Promise<Frozen> {
  const { run, thread } = given;
  const agents = deps.agents.in(given.workspace_id);
  const known = agents.get(given.agent_id);
  const agent = known ?? agents.require(agents.fallback);
  const choice = modelFor(agent, {
    ...chosen("provider", run, thread),
    ...chosen("model", run, thread),
    ...chosen("reasoning_effort", run, thread),
    ...chosen("max_tokens", run, thread),
  });
  const prompt = await resolvePrompt(deps, given, known);
  const base = await basePrompt(deps, prompt);
  const config: FrozenConfig = {
    agent_id: agent.agentId,
    agent_name: agent.displayName,
    provider: choice.provider,
    model: choice.model,
    options: choice.options,
    params: choice.params,
    window: choice.window,
    prompt: {
      source: prompt.source,
      refs: base.refs,
      ...(prompt.pack && { pack: prompt.pack }),
      ...(prompt.shadowed.length > 0 && { shadowed: prompt.shadowed }),
    },
  };
  const encoded = encodeValue(config);
  deps.values.remember(encoded.ref, config, encoded.text);
  return { config, encoded, blobs: [...base.blobs, encoded] };
}

type Shared = "provider" | "model" | "reasoning_effort" | "max_tokens";

/** A run's own value, else the thread's; `null` leaves the thread's aside. */
function chosen<K extends Shared>(key: K, run: RunConfig, thread: ThreadConfig): Pick<ThreadConfig, K> {
  const value = run[key] === undefined ? thread[key] : (run[key] ?? undefined);
  return (value === undefined ? {} : { [key]: value }) as Pick<ThreadConfig, K>;
}

async function resolvePrompt(
  deps: RunsDeps,
  { run, thread, workspace_id }: ToFreeze,
  agent: AgentDefinition | undefined,
): Promise<ResolvedPrompt> {
  const named = packsToLoad({ run, thread, workspace_id });
  const active: ReadonlyMap<string, PromptSnapshot> =
    named.packs.length === 0
      ? new Map()
      : await deps.store.read(() => loadActivePacks(named.workspace_id, named.packs));
  return resolveLadder({ run, thread, ...(agent && { agent }), activePack: (pack) => active.get(pack) });
}

async function basePrompt(
  deps: RunsDeps,
  { refs, text }: ResolvedPrompt,
): Promise<{ refs: readonly string[]; blobs: KeptBlob[] }> {
  if (refs) {
    // Read and checked now: a run that could not be told its own prompt is not admitted.
    const read = await deps.texts.load(refs);
    return {
      refs,
      blobs: refs.map((ref) => ({ ref, text: (read.get(ref) as { bytes: Uint8Array }).bytes })),
    };
  }
  const encoded = encodeMessage({ role: "system", content: text ?? "" });
  deps.texts.remember(encoded.ref, [encoded.message], encoded.text);
  return { refs: [encoded.ref], blobs: [encoded] };
}
