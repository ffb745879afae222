import type { PromptSnapshot, RunConfig, ThreadConfig } from "../protocol/index.js";
import type { BaseSource, Shadowed } from "./compile/inputs.js";
import { promptsError } from "./errors.js";

export interface LadderInput {
  /** What the run sets: a field that is absent is the thread's, `null` leaves the thread's aside. */
  readonly run?: RunConfig;
  readonly thread: ThreadConfig;
  /** Absent when the thread's agent is not known here. */
  readonly agent?: LadderAgent;
  /** The active snapshot of a pack, if it has one. */
  readonly activePack: (pack: string) => PromptSnapshot | undefined;
}

interface LadderAgent {
  readonly agentId: string;
  readonly displayName: string;
  readonly description: string;
  readonly systemPrompt?: string;
}

export interface ResolvedPrompt {
  readonly source: BaseSource;
  /** The blobs it stands in, in order; of a pack the one of its snapshot. */
  readonly refs?: readonly string[];
  /** Its words, where no blob holds them yet. */
  readonly text?: string;
  readonly pack?: PromptSnapshot;
  /** What was named and lost to something stronger. */
  readonly shadowed: readonly Shadowed[];
}

export const DEFAULT_PROMPT = "You are a helpful assistant.";

/** Pure: the base prompt of a run, from the strongest source that is there. */
export function resolveLadder(input: LadderInput): ResolvedPrompt {
  const { run = {}, thread, agent } = input;
  const threadRefs = run.prompt_refs === null ? undefined : thread.default_prompt_refs;
  const pack = packOf(input);
  if (run.prompt_refs) {
    const shadowed = [
      ...(threadRefs ? [{ source: "thread_refs", by: "run_refs" }] : []),
      ...lost(pack, "run_refs"),
    ];
    return { source: "run_refs", refs: someRefs(run.prompt_refs, "run_refs"), shadowed };
  }
  if (threadRefs) {
    return {
      source: "thread_refs",
      refs: someRefs(threadRefs, "thread_refs"),
      shadowed: lost(pack, "thread_refs"),
    };
  }
  if (pack !== undefined) return fromPack(pack, input.activePack(pack));
  return agent ? fromAgent(agent) : { source: "default", text: DEFAULT_PROMPT, shadowed: [] };
}

/** Which packs of which workspace may be asked for: a binding names another workspace than the thread's own. */
export function packsToLoad({
  run = {},
  thread,
  workspace_id,
}: Pick<LadderInput, "run" | "thread"> & { readonly workspace_id: string }): {
  workspace_id: string;
  packs: string[];
} {
  const binding = run.workspace_binding === undefined ? thread.workspace_binding : run.workspace_binding;
  const pack = packOf({ run, thread });
  return { workspace_id: binding?.workspace ?? workspace_id, packs: pack === undefined ? [] : [pack] };
}

function packOf({ run = {}, thread }: Pick<LadderInput, "run" | "thread">): string | undefined {
  return run.prompt_pack === undefined ? thread.default_prompt_pack : (run.prompt_pack ?? undefined);
}

function lost(pack: string | undefined, by: string): Shadowed[] {
  return pack === undefined ? [] : [{ source: "prompt_pack", by, name: pack }];
}

/** A list without refs is a mistake, and never means "no prompt". */
function someRefs(refs: readonly string[], source: "run_refs" | "thread_refs"): readonly string[] {
  if (refs.length > 0) return refs;
  throw promptsError(
    { kind: "prompt.refs_empty", source },
    "The list of prompt refs is empty. Name at least one blob, or leave the list out.",
  );
}

function fromPack(pack: string, snapshot: PromptSnapshot | undefined): ResolvedPrompt {
  if (snapshot)
    return { source: "prompt_pack", refs: [snapshot.prompt_pack_ref], pack: snapshot, shadowed: [] };
  throw promptsError(
    { kind: "prompt.not_synced", pack },
    `The prompt pack ${pack} is not in use yet: sync it, then apply it.`,
  );
}

function fromAgent({ displayName, description, systemPrompt = "" }: LadderAgent): ResolvedPrompt {
  if (systemPrompt.trim() !== "") return { source: "agent", text: systemPrompt, shadowed: [] };
  const text =
    description.trim() === "" ? `You are ${displayName}.` : `You are ${displayName}. ${description}`;
  return { source: "agent_default", text, shadowed: [] };
}
