import { dyeOf, useAgent } from "../state/agents.js";

/** The 2 px line that stands for an agent wherever its name does not. */
export function AgentTick({ agentId }: { readonly agentId: string }) {
  const agent = useAgent(agentId);
  const faint = agent && !agent.available ? " off" : "";
  const { className, style } = dyeOf(agent, agentId);
  return <span className={`tick ${className}${faint}`} style={style} />;
}
