import {
  type AgentDefinition,
  approvalFor,
  effectiveTools,
  exposedTools,
  peersOf,
  skillsOf,
} from "../agents/index.js";
import type { PhaseContribution } from "../hooks/index.js";
import {
  COMPILER_VERSION,
  type CompileInputs,
  compilePrefix,
  type EncodedValue,
  encodeMessage,
  encodeValue,
  type FrozenConfig,
  type SectionInput,
  sizeOfText,
} from "../prompts/index.js";
import type { PromptMessage, ToolSpec } from "../providers/index.js";
import type { RunsDeps } from "./deps.js";
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
  const agent = agents.get(config.agent_id);
  const offered = offeredTools(deps, workspace_id, agent);
  const { contributions, diagnostics } = await deps.hooks.run(
    "turn.pre_prompt_compile",
    {
      ...key,
      run_id,
      agent_id: config.agent_id,
      input: given.input,
      tools: offered.tools.map(({ name, description }) => ({ name, description })),
      ...(await aroundIt(deps, workspace_id, agent)),
      ...(agent && { agents: peersOf(agents, agent).map(asPeer) }),
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
    tools_tokens: offered.encoded ? sizeOfText(offered.encoded.text).tokens : 0,
  };
  const encoded = encodeValue(inputs);
  const told = diagnostics.map(({ hook_id, level, message }) => ({ hook_id, level, message }));
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
      ...sections.map(({ blob }) => blob),
      ...(offered.encoded ? [offered.encoded] : []),
      encoded,
      encodedPrefix,
    ],
    diagnostics: told,
  };
}

interface OfferedTools {
  readonly tools: readonly ToolSpec[];
  readonly listed: CompileInputs["tools"];
  readonly encoded: EncodedValue | undefined;
}

function asPeer({ agentId, displayName, description }: AgentDefinition) {
  return { agentId, displayName, description };
}

/** What is told only where the agent can do something with it: nobody looks for what no section names. */
async function aroundIt(deps: RunsDeps, workspace_id: string, agent: AgentDefinition | undefined) {
  const tools = deps.tools.list(workspace_id);
  const plugins = skillsOf(agent, tools, deps.tools.plugins(workspace_id));
  const usesArtifacts = effectiveTools(agent, tools).some(
    ({ tool, offered }) => offered && ARTIFACTS.has(tool.plugin ?? ""),
  );
  const [skills, artifacts] = await Promise.all([
    plugins.length === 0 ? [] : deps.surroundings.skills(workspace_id, plugins),
    usesArtifacts ? deps.surroundings.artifacts(workspace_id) : [],
  ]);
  return {
    ...(skills.length > 0 && { skills }),
    ...(usesArtifacts && { artifacts, panels: deps.surroundings.panels(workspace_id) }),
  };
}

const ARTIFACTS: ReadonlySet<string> = new Set(["lists", "notes", "views"]);

/** Which tools the agent is shown, sorted, so that an unchanged thread gives the same bytes. */
function offeredTools(
  deps: RunsDeps,
  workspace_id: string,
  agent: AgentDefinition | undefined,
): OfferedTools {
  const scoped = exposedTools(agent, deps.tools.list(workspace_id));
  const listed = scoped.map(({ tool, offered, reason }) => ({
    name: tool.name,
    offered,
    ...(reason !== undefined && { reason }),
    ...(offered && approvalFor(agent, tool) === "ask" && { approval: "ask" as const }),
  }));
  const tools = scoped
    .filter(({ offered }) => offered)
    .map(({ tool: { name, description, parameters } }) => ({ name, description, parameters }));
  if (tools.length === 0) return { tools, listed, encoded: undefined };
  const encoded = encodeValue(tools);
  // As the blob has them, down to the order of keys: what is sent can be built again from it.
  return { tools: JSON.parse(encoded.text) as ToolSpec[], listed, encoded };
}

function sectionOf(contribution: PhaseContribution): {
  input: SectionInput;
  blob: KeptBlob;
  message: PromptMessage;
} {
  const { section, hook_id, package_id, subscription_id, contribution_id, priority, visibility, truncation } =
    contribution;
  const encoded = encodeMessage({ role: "system", content: section.content });
  const { ref, chars, tokens } = encoded;
  return {
    message: encoded.message,
    blob: encoded,
    input: {
      section_id: section.section_id,
      title: section.title,
      ref,
      chars,
      tokens,
      truncation,
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
