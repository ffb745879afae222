import { useQuery } from "@tanstack/react-query";
import type { CSSProperties } from "react";
import type { Agent } from "../../src/protocol/index.js";
import { readable } from "../ui/readable.js";
import { call } from "./gateway.js";
import { useTree } from "./tree.js";

const DYES = ["walnut", "woad", "verdigris", "orchil", "nettle", "cochineal", "weld", "iris"];

interface Agents {
  readonly list: readonly Agent[];
  readonly byId: ReadonlyMap<string, Agent>;
  /** Why the last edit of the configuration is not in effect. */
  readonly problem: string | undefined;
  readonly loading: boolean;
}

const NONE: Agents = { list: [], byId: new Map(), problem: undefined, loading: true };

export function useAgents(): Agents {
  const ws = useTree((tree) => tree.ws);
  const { data } = useQuery({
    queryKey: ["agents", ws],
    queryFn: async (): Promise<Agents> => {
      const { data: list, problem } = await call("agent/list", { workspace_id: ws, include_hidden: true });
      return { list, byId: new Map(list.map((agent) => [agent.agent_id, agent])), problem, loading: false };
    },
    enabled: ws !== undefined,
    placeholderData: (before) => before,
  });
  return data ?? NONE;
}

export function useAgent(id: string | undefined): Agent | undefined {
  const { byId } = useAgents();
  return id === undefined ? undefined : byId.get(id);
}

export function agentName(agent: Agent | undefined, id: string): string {
  return agent?.display_name ?? (id || "No agent");
}

interface Dye {
  readonly className: string;
  readonly style?: CSSProperties;
}

/** Gives an agent's colour (`--ac`) to an element and all below it: one of our dyes by class, any other so that it can be read. */
export function dyeOf(agent: Agent | undefined, id: string): Dye {
  const color = agent?.color ?? "";
  const own = DYES.includes(color) ? undefined : readable(color);
  if (own !== undefined) return { className: "a-own", style: { "--ac": own } as CSSProperties };
  return { className: `a-${DYES.includes(color) ? color : DYES[hash(id) % DYES.length]}` };
}

function hash(text: string): number {
  let value = 2166136261;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 16777619) >>> 0;
  return value;
}
