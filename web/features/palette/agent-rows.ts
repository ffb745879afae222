import type { Agent } from "../../../src/protocol/index.js";
import { folderHere, startThread, switchTo } from "../agents/actions.js";
import { rank } from "./match.js";
import type { Group, Row } from "./row.js";

interface AgentsGiven {
  readonly words: readonly string[];
  readonly most: number;
  /** What the agent that is chosen will be asked. */
  readonly about?: string | undefined;
}

export function agentGroup(agents: readonly Agent[], { words, most, about }: AgentsGiven): Group {
  const shown = agents
    .filter(({ hidden }) => !hidden)
    .sort((a, b) => Number(b.available) - Number(a.available));
  const { best } = rank(shown, {
    words,
    most,
    lower: ({ display_name, agent_id }) => `${display_name} ${agent_id}`.toLowerCase(),
  });
  const title = about === undefined ? "Agents" : `Ask about “${about}”`;
  return { id: "agents", title, rows: best.map((agent) => agentRow(agent, words, about)) };
}

function agentRow(agent: Agent, words: readonly string[], about: string | undefined): Row {
  const { agent_id, display_name, description, available, reason } = agent;
  return {
    id: `agent-${agent_id}`,
    title: display_name,
    words,
    path: available ? description : undefined,
    agentId: agent_id,
    off: available ? undefined : (reason ?? "It is not available."),
    run: () => void switchTo(agent_id, about),
    also: () => void startThread({ agent_id, folder_id: folderHere() }),
  };
}
