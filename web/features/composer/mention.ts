import type { Agent } from "../../../src/protocol/index.js";

/** An `@` at the start or after a space, and what was typed of a name since. */
export interface Mention {
  readonly from: number;
  readonly query: string;
}

export function mentionAt(text: string, caret: number): Mention | undefined {
  const found = /(?:^|\s)@([\p{L}\p{N}_-]*)$/u.exec(text.slice(0, caret));
  if (!found) return undefined;
  const query = found[1] as string;
  return { from: caret - query.length - 1, query };
}

/** Whom a message can be addressed to: those who can answer first. */
export function addressable(agents: readonly Agent[], own: string, query: string): Agent[] {
  const wanted = query.toLowerCase();
  const fits = ({ display_name, agent_id }: Agent) =>
    agent_id.toLowerCase().includes(wanted) ||
    display_name.toLowerCase().replaceAll(/\s+/g, "-").includes(wanted) ||
    display_name.toLowerCase().replaceAll(/\s+/g, "").includes(wanted);
  return agents
    .filter((agent) => agent.agent_id !== own && !agent.hidden && fits(agent))
    .sort((a, b) => Number(b.available) - Number(a.available))
    .slice(0, 8);
}

/** The text without the mention: whom it is for stands beside it. */
export function withoutMention(text: string, { from, query }: Mention): string {
  return (text.slice(0, from) + text.slice(from + 1 + query.length)).replace(/^\s+/, "");
}
