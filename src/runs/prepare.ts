import { type AgentDefinition, type AgentSet, peersOf } from "../agents/index.js";
import { Lru } from "../base/index.js";
import { lastingFact, type PhaseContribution } from "../hooks/index.js";
import {
  COMPILER_VERSION,
  type CompileInputs,
  compilePrefix,
  type EncodedMessage,
  encodeMessage,
  encodeValue,
  type FrozenConfig,
  type SectionInput,
} from "../prompts/index.js";
import type { PromptMessage, ToolSpec } from "../providers/index.js";
import type { RunsDeps } from "./deps.js";
import { aroundIt, offeredTools } from "./offered-tools.js";
import type { KeptBlob, PreparedRun, SessionKey } from "./session/parts.js";

export interface ToPrepare {
  readonly key: SessionKey;
  readonly run_id: string;
  readonly configRef: string;
  readonly config: FrozenConfig;
  readonly input: string;
  readonly signal?: AbortSignal;
  readonly before?: PreparedRun | undefined;
}

/** Asks the hooks and compiles what stands before the history. A hook that fails closed ends it. */
export async function prepareRun(deps: RunsDeps, given: ToPrepare): Promise<PreparedRun> {
  const { key, run_id, config, signal } = given;
  const { workspace_id } = key;
  const agents = deps.agents.in(workspace_id);
  // One that is gone since the run was admitted has no limits to keep to: the run ends instead.
  const agent = agents.require(config.agent_id);
  const offered = offeredTools(deps, workspace_id, agent);
  const { contributions, diagnostics } = await deps.hooks.run(
    "turn.pre_prompt_compile",
    {
      ...key,
      run_id,
      agent_id: config.agent_id,
      input: given.input,
      tools: offered.summaries,
      ...(await aroundIt(deps, workspace_id, agent)),
      agents: peersFor(agents, agent),
    },
    signal ? { signal } : {},
  );
  const sections = contributions.map(sectionOf);
  const base = await deps.texts.load(config.prompt.refs);
  const inputs: CompileInputs = {
    compiler_version: COMPILER_VERSION,
    config: given.configRef,
    base: config.prompt.refs.map((ref) => {
      const { chars, tokens } = base.get(ref) as { chars: number; tokens: number };
      return { ref, chars, tokens };
    }),
    sections: sections.map(({ input }) => input),
    tools: offered.listed,
    ...(offered.encoded && { tools_ref: offered.encoded.ref }),
    tools_tokens: offered.tokens,
  };
  const told = diagnostics.map(({ hook_id, level, message }) => ({ hook_id, level, message }));
  if (given.before && isSame(given.before.inputs, inputs)) return { ...given.before, diagnostics: told };
  const encoded = encodeValue(inputs);
  if (encoded.ref === given.before?.inputsRef) return { ...given.before, diagnostics: told };
  const prefix = compilePrefix(config, inputs);
  const encodedPrefix = encodeValue(prefix);
  return {
    config,
    inputs,
    inputsRef: encoded.ref,
    prefix,
    prefixRef: encodedPrefix.ref,
    placed: [
      ...config.prompt.refs.map((ref) => base.get(ref)?.messages ?? []),
      ...sections.map(({ message }) => [message]),
    ].flatMap((messages, at) => messages.map((message) => ({ message, at }))),
    tools: offered.tools,
    blobs: [
      ...sections.flatMap(({ blobs }) => blobs),
      ...(offered.encoded ? [offered.encoded] : []),
      encoded,
      encodedPrefix,
    ],
    diagnostics: told,
  };
}

type Peers = readonly Pick<AgentDefinition, "agentId" | "displayName" | "description">[];

/** Agents are new objects when the configuration changes. */
const knownPeers = new WeakMap<AgentSet, WeakMap<AgentDefinition, Peers>>();

function peersFor(agents: AgentSet, agent: AgentDefinition): Peers {
  const ofSet = knownPeers.get(agents) ?? new WeakMap<AgentDefinition, Peers>();
  knownPeers.set(agents, ofSet);
  const peers = ofSet.get(agent) ?? lastingFact(peersOf(agents, agent).map(asPeer));
  ofSet.set(agent, peers);
  return peers;
}

function asPeer({ agentId, displayName, description }: AgentDefinition) {
  return { agentId, displayName, description };
}

/** Most runs of a thread are compiled from the same: then nothing is encoded or hashed again. */
function isSame(before: CompileInputs, now: CompileInputs): boolean {
  const { tools: toolsBefore, sections: sectionsBefore, ...restBefore } = before;
  const { tools, sections, ...rest } = now;
  return (
    toolsBefore === tools &&
    sectionsBefore.length === sections.length &&
    sections.every((section, at) => isSameSection(section, sectionsBefore[at])) &&
    JSON.stringify(restBefore) === JSON.stringify(rest)
  );
}

function isSameSection(now: SectionInput, before: SectionInput | undefined): boolean {
  return now === before || JSON.stringify(now) === JSON.stringify(before);
}

/** Characters of sections that are kept encoded: most are the same from run to run, in whichever thread. */
const KEPT_CHARACTERS = 1024 * 1024;
const knownSections = new Lru<string, EncodedMessage>(KEPT_CHARACTERS);

function encodedSection(content: string): EncodedMessage {
  const known = knownSections.get(content);
  if (known) return known;
  const encoded = encodeMessage({ role: "system", content });
  knownSections.set(content, encoded, content.length);
  return encoded;
}

/** A hook may answer megabytes: what was cut is kept for people, who do not read on for ever. */
const KEPT_CUT = 200_000;

function beginning(text: string): string {
  return text.slice(0, KEPT_CUT).toWellFormed();
}

interface Section {
  readonly input: SectionInput;
  readonly blobs: readonly KeptBlob[];
  readonly message: PromptMessage;
}

/** What a hook gave once and gives again is the same object. */
const madeOf = new WeakMap<PhaseContribution, Section>();

function sectionOf(contribution: PhaseContribution): Section {
  const made = madeOf.get(contribution) ?? makeSection(contribution);
  madeOf.set(contribution, made);
  return made;
}

function makeSection(contribution: PhaseContribution): Section {
  const { section, hook_id, package_id, subscription_id, contribution_id, priority, visibility, truncation } =
    contribution;
  const encoded = encodedSection(section.content);
  const { ref, chars, tokens } = encoded;
  const cut = section.cut === undefined ? undefined : encodedSection(beginning(section.cut));
  return {
    message: encoded.message,
    blobs: cut ? [encoded, cut] : [encoded],
    input: {
      section_id: section.section_id,
      title: section.title,
      ref,
      chars,
      tokens,
      truncation,
      ...(cut && { cut_ref: cut.ref }),
      hook_id,
      package_id,
      subscription_id,
      contribution_id,
      priority,
      visibility,
      source_refs: section.source_refs as SectionInput["source_refs"],
    },
  };
}

/** The same from what was recorded: the gateway that prepared it is gone. */
export async function restorePrepared(deps: RunsDeps, inputsRef: string): Promise<PreparedRun> {
  const inputs = await deps.values.load<CompileInputs>(inputsRef);
  const config = await deps.values.load<FrozenConfig>(inputs.config);
  const prefix = compilePrefix(config, inputs);
  const texts = await deps.texts.load(prefix.refs);
  return {
    config,
    inputs,
    inputsRef,
    prefix,
    prefixRef: encodeValue(prefix).ref,
    placed: prefix.refs.flatMap((ref, at) =>
      (texts.get(ref)?.messages ?? []).map((message) => ({ message, at })),
    ),
    tools: inputs.tools_ref ? await deps.values.load<ToolSpec[]>(inputs.tools_ref) : [],
    blobs: [],
    diagnostics: [],
  };
}
