import {
  type AgentDefinition,
  approvalFor,
  effectiveTools,
  exposedTools,
  skillsOf,
} from "../agents/index.js";
import { lastingFact } from "../hooks/index.js";
import { type CompileInputs, type EncodedValue, encodeValue, sizeOfText } from "../prompts/index.js";
import { isProgram, type ToolSpec } from "../providers/index.js";
import type { RunsDeps } from "./deps.js";

export interface OfferedTools {
  readonly tools: readonly ToolSpec[];
  readonly listed: CompileInputs["tools"];
  readonly encoded: EncodedValue | undefined;
  readonly tokens: number;
  /** As hooks are told of them. */
  readonly summaries: readonly Pick<ToolSpec, "name" | "description">[];
}

/** What was put together for a list of tools as an agent sees it: the same list is the same object. */
const known = new WeakMap<readonly object[], OfferedTools>();

/** Which tools the agent is shown, sorted, so that an unchanged thread gives the same bytes. */
export function offeredTools(
  deps: RunsDeps,
  workspace_id: string,
  agent: AgentDefinition | undefined,
): OfferedTools {
  const listed = deps.tools.list(workspace_id);
  const reason = whyNone(deps, agent);
  if (reason !== undefined) return noneOf(listed, reason);
  const scoped = exposedTools(agent, listed);
  const offered = known.get(scoped) ?? putTogether(scoped, agent);
  known.set(scoped, offered);
  return offered;
}

/** Why an agent can call nothing here, whatever its lists say. */
export function whyNone({ bridges }: RunsDeps, agent: AgentDefinition | undefined): string | undefined {
  // It is sent messages, and nothing else.
  if (agent?.type === "external") return "an external agent can't call tools";
  if (agent && isProgram(agent.chat.provider) && !bridges.mayOpen()) return "this gateway opens no port";
  return undefined;
}

function noneOf(tools: readonly { readonly name: string }[], reason: string): OfferedTools {
  const listed = tools.map(({ name }) => ({ name, offered: false, reason }));
  return { tools: [], listed, encoded: undefined, tokens: 0, summaries: [] };
}

function putTogether(
  scoped: ReturnType<typeof exposedTools>,
  agent: AgentDefinition | undefined,
): OfferedTools {
  const listed = scoped.map(({ tool, offered, reason }) => ({
    name: tool.name,
    offered,
    ...(reason !== undefined && { reason }),
    ...(offered && approvalFor(agent, tool) === "ask" && { approval: "ask" as const }),
  }));
  const tools = scoped
    .filter(({ offered }) => offered)
    .map(({ tool: { name, description, parameters } }) => ({ name, description, parameters }));
  const summaries = lastingFact(tools.map(({ name, description }) => ({ name, description })));
  if (tools.length === 0) return { tools, listed, encoded: undefined, tokens: 0, summaries };
  const encoded = encodeValue(tools);
  const { tokens } = sizeOfText(encoded.text);
  // As the blob has them, down to the order of keys: what is sent can be built again from it.
  return { tools: JSON.parse(encoded.text) as ToolSpec[], listed, encoded, tokens, summaries };
}

/** What is told only where the agent can do something with it: nobody looks for what no section names. */
export async function aroundIt(deps: RunsDeps, workspace_id: string, agent: AgentDefinition | undefined) {
  if (whyNone(deps, agent) !== undefined) return {};
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
    ...(canDelegate(exposedTools(agent, tools), effectiveTools(agent, tools), skills) && { delegates: true }),
    ...(skills.length > 0 && { skills }),
    ...(usesArtifacts && { artifacts, panels: deps.surroundings.panels(workspace_id) }),
  };
}

const ARTIFACTS: ReadonlySet<string> = new Set(["lists", "notes", "views"]);

/** The tool by which an agent asks another. */
const MESSAGE = "agents_message";

type Scoped = ReturnType<typeof effectiveTools>;

/** It has the tool, or is told of the command that does the same. */
function canDelegate(shown: Scoped, usable: Scoped, skills: readonly { readonly id: string }[]): boolean {
  const isMessage = ({ tool, offered }: Scoped[number]) => offered && tool.name === MESSAGE;
  const plugin = usable.find(isMessage)?.tool.plugin;
  return shown.some(isMessage) || skills.some(({ id }) => id === plugin);
}
