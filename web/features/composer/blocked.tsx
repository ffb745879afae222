import { CircleAlert } from "lucide-react";
import type { Thread } from "../../../src/protocol/index.js";
import { agentName, useAgent } from "../../state/agents.js";
import { Icon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";

/** Why nothing can be sent in this thread; undefined: it can. */
export function useBlocked({ read_only, agent_id }: Thread): string | undefined {
  const agent = useAgent(agent_id);
  if (read_only !== undefined) return `Nothing can be written to this thread: ${sentence(read_only)}`;
  if (agent && !agent.available) {
    const reason = agent.reason === undefined ? "" : ` ${sentence(agent.reason)}`;
    return `${agentName(agent, agent_id)} can't answer.${reason}`;
  }
  return undefined;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Says so where the message is written. Text can still be typed, and stays. */
export function Blocked({ thread, why }: { readonly thread: Thread; readonly why: string }) {
  const ws = thread.workspace_id;
  return (
    <div className="strip warn-strip" role="status">
      <Icon of={CircleAlert} size={14} />
      <span className="grow">
        {why} What you type is kept.{" "}
        {thread.read_only === undefined && <Link to={{ view: "settings", ws }}>Show agents</Link>}
      </span>
    </div>
  );
}
