import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Agent, AgentDetails, Result, Thread } from "../../../src/protocol/index.js";
import { agentName, dyeOf, useAgents } from "../../state/agents.js";
import { call } from "../../state/gateway.js";
import { counted } from "../../ui/format.js";

type Tool = Result<"tool/list">["data"][number];

interface FactsProps {
  readonly agent: Agent;
  /** Of its own agent more is known: which tools it has in this thread. */
  readonly thread?: Thread | undefined;
}

/** What an agent is and what it may use. */
export function AgentFacts({ agent, thread }: FactsProps) {
  const { className, style } = dyeOf(agent, agent.agent_id);
  const details = useDetails(agent, thread?.workspace_id);
  const tools = useTools(thread?.agent_id === agent.agent_id ? thread : undefined);
  return (
    <div className={`agent-facts ${className}`} style={style}>
      <p>
        <span className="ag">{agent.display_name}</span> <span className="small ink-3">{kindOf(agent)}</span>
      </p>
      <p className="small ink-2">{agent.description}</p>
      <Standing agent={agent} />
      {details && (
        <dl className="agent-kv">
          <Fact name="May use">{mayUse(details, tools)}</Fact>
          <Fact name="Asks for">{names(asksFor(details, tools))}</Fact>
          <Fact name="Refused">{names(refused(details, tools))}</Fact>
          <Fact name="May do">{limits(details.capability_allowlist, details.capability_denylist)}</Fact>
          <Fact name="Skills">{limits(details.skill_allowlist, details.skill_denylist)}</Fact>
          <Peers details={details} />
        </dl>
      )}
      {details?.system_prompt && (
        <details className="agent-prompt">
          <summary className="small">System prompt</summary>
          <pre className="small mono">{details.system_prompt}</pre>
        </details>
      )}
    </div>
  );
}

/** `claude-cli, sonnet` */
export function kindOf({ type, provider, model }: Agent): string {
  if (type === "external") return "answers from elsewhere";
  return [provider, model !== provider && model].filter(Boolean).join(", ");
}

/** Whether it can be asked, and what is known of its program. */
function Standing({ agent }: { readonly agent: Agent }) {
  const { available, reason, version, signed_in } = agent;
  const facts = [version, signed_in === true && "signed in", signed_in === false && "not signed in"]
    .filter(Boolean)
    .join(", ");
  return (
    <>
      {facts !== "" && <p className="small ink-3 num">{facts}</p>}
      {reason && <p className={`small ${available ? "ink-2" : "warn"}`}>{reason}</p>}
    </>
  );
}

function useDetails(agent: Agent, ws: string | undefined): AgentDetails | undefined {
  const { data } = useQuery({
    queryKey: ["agents", ws, "details", agent.agent_id],
    queryFn: () => call("agent/get", { workspace_id: ws, agent_id: agent.agent_id }),
  });
  return data?.agent;
}

function useTools(thread: Thread | undefined): readonly Tool[] | undefined {
  const { data } = useQuery({
    queryKey: ["tools", thread?.workspace_id, thread?.id],
    queryFn: () => call("tool/list", { workspace_id: thread?.workspace_id as string, thread_id: thread?.id }),
    enabled: thread !== undefined,
  });
  return thread && data?.data;
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  if (children === undefined) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function mayUse({ own_tools, tool_allowlist }: AgentDetails, tools: readonly Tool[] | undefined): ReactNode {
  const own = own_tools ? ", and tools of its own" : "";
  if (tools) {
    const offered = tools.filter((tool) => tool.offered);
    const groups = [...new Set(offered.map(({ name }) => name.split("_")[0]))];
    if (offered.length === 0) return own ? "Tools of its own" : "No tools";
    return `${counted(offered.length, "tool")}: ${groups.join(", ")}${own}`;
  }
  if (!tool_allowlist) return `Every tool${own}`;
  if (tool_allowlist.length === 0) return own ? "Tools of its own" : "No tools";
  return (
    <>
      {names(tool_allowlist)}
      {own}
    </>
  );
}

function asksFor({ tool_approvals }: AgentDetails, tools: readonly Tool[] | undefined): readonly string[] {
  const asked = tools
    ?.filter(({ approval, offered }) => offered && approval === "ask")
    .map(({ name }) => name);
  return asked ?? tool_approvals?.ask ?? [];
}

function refused(details: AgentDetails, tools: readonly Tool[] | undefined): readonly string[] {
  const named = [...(details.tool_denylist ?? []), ...(details.tool_approvals?.deny ?? [])];
  return tools ? tools.filter(({ offered }) => !offered).map(({ name }) => name) : named;
}

const MOST = 12;

function names(list: readonly string[]): ReactNode {
  if (list.length === 0) return undefined;
  const shown = list.slice(0, MOST);
  return (
    <>
      {shown.map((name, at) => (
        <span key={name}>
          {at > 0 && ", "}
          <code>{name}</code>
        </span>
      ))}
      {list.length > shown.length && ` and ${list.length - shown.length} more`}
    </>
  );
}

function limits(allow: readonly string[] | undefined, deny: readonly string[] | undefined): ReactNode {
  if (!allow && !deny?.length) return undefined;
  return (
    <>
      {allow && (allow.length === 0 ? "nothing" : <>only {names(allow)}</>)}
      {deny && deny.length > 0 && <> not {names(deny)}</>}
    </>
  );
}

function Peers({ details }: { readonly details: AgentDetails }) {
  const { byId } = useAgents();
  const peers = details.peers ?? [];
  const shown = peers.map((id) => agentName(byId.get(id), id));
  return <Fact name="May ask">{shown.length === 0 ? "No other agent" : shown.join(", ")}</Fact>;
}
