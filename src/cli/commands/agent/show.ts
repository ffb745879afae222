import type { AgentDetails } from "../../../protocol/index.js";
import type { WorkspaceOptions } from "../../options.js";
import { paint, print, printJson, visible } from "../../output.js";
import { withSession } from "../../session.js";
import { stateText } from "./state-text.js";

/** Everything that decides what an agent may do. */
export async function showAgent(agent_id: string, options: WorkspaceOptions): Promise<void> {
  const { agent } = await withSession(options, async ({ call, workspace }) =>
    call("agent/get", { workspace_id: (await workspace()).id, agent_id }),
  );
  if (options.json) return printJson({ agent });
  print(`${paint.bold(visible(agent.display_name))}  ${paint.dim(visible(agent.agent_id))}`);
  if (agent.description !== "") print(visible(agent.description));
  for (const [name, value] of facts(agent)) print(`${paint.dim(name.padEnd(WIDTH))}  ${value}`);
}

const WIDTH = 12;

function facts(agent: AgentDetails): [name: string, value: string][] {
  const { tool_approvals: approvals, peers = [] } = agent;
  const rows: [string, string | undefined][] = [
    ["state", stateText(agent)],
    ["origin", ORIGINS[agent.origin]],
    ["extends", agent.extends],
    ["provider", agent.type === "external" ? "external" : agent.provider],
    ["model", agent.model],
    ["version", agent.version],
    ["signed in", agent.signed_in === undefined ? undefined : agent.signed_in ? "yes" : "no"],
    ["own tools", agent.own_tools ? "yes: a program's own tools, which Heddle can't limit" : undefined],
    ["tools", scope(agent.tool_allowlist, agent.tool_denylist, "every tool")],
    ["capabilities", scope(agent.capability_allowlist, agent.capability_denylist, "every one")],
    ["exposure", agent.tool_exposure && EXPOSURES[agent.tool_exposure]],
    [
      "skills",
      agent.tool_exposure === "tools"
        ? undefined
        : scope(agent.skill_allowlist, agent.skill_denylist, "of every plugin"),
    ],
    ["not asked", globs(approvals?.allow)],
    ["asks before", globs(approvals?.ask)],
    ["refused", globs(approvals?.deny)],
    ["agents", scope(agent.agent_allowlist, agent.agent_denylist, "every visible one")],
    ["hands on to", peers.length === 0 ? "nobody" : peers.join(", ")],
    ["told first", agent.system_prompt],
  ];
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [[name, shown(name, value)]]));
}

const ORIGINS = { config: "heddle.config.json", detected: "found on this machine", built_in: "built in" };

const EXPOSURES = {
  tools: "as tools",
  skills: "as skills, used through bash",
  mixed: "as tools and as skills",
};

/** An empty list is told as what it means: nothing is let through. */
function scope(allow: readonly string[] | undefined, deny: readonly string[] = [], all: string): string {
  const allowed = allow === undefined ? all : (globs(allow) ?? "none");
  return deny.length === 0 ? allowed : `${allowed}, but not ${deny.join(", ")}`;
}

function globs(list: readonly string[] = []): string | undefined {
  return list.length === 0 ? undefined : list.join(", ");
}

/** The state is painted already; everything else comes from a file. */
function shown(name: string, value: string): string {
  return name === "state"
    ? value
    : value
        .split("\n")
        .map(visible)
        .join(`\n${" ".repeat(WIDTH + 2)}`);
}
