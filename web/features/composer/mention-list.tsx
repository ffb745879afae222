import type { Agent } from "../../../src/protocol/index.js";
import { AgentTick } from "../../ui/agent-tick.js";

interface MentionListProps {
  readonly id: string;
  readonly agents: readonly Agent[];
  readonly at: number;
  onMove(at: number): void;
  onChoose(agent: Agent): void;
}

export const optionId = (id: string, at: number) => `${id}-${at}`;

/** The agents a message can be addressed to. The focus stays in the field: arrows and Enter work there. */
export function MentionList({ id, agents, at, onMove, onChoose }: MentionListProps) {
  return (
    <div className="menu mention" role="listbox" id={id} aria-label="Send to another agent">
      {agents.map((agent, index) => (
        <div
          key={agent.agent_id}
          id={optionId(id, index)}
          role="option"
          tabIndex={-1}
          aria-selected={index === at}
          aria-disabled={!agent.available || undefined}
          className={`menu-item${index === at ? " on" : ""}`}
          onPointerMove={() => index !== at && onMove(index)}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onChoose(agent)}
        >
          <span className="menu-gut">
            <AgentTick agentId={agent.agent_id} />
          </span>
          <span className="label">{agent.display_name}</span>
          <span className="grow cut small ink-3">
            {agent.available ? agent.description : (agent.reason ?? "Not available")}
          </span>
        </div>
      ))}
    </div>
  );
}
