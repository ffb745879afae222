import { useQuery } from "@tanstack/react-query";
import type { Result } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";
import { counted, when } from "../../ui/format.js";
import { Part, Unread } from "./part.js";

type Server = NonNullable<Result<"tool/list">["servers"]>[number];

/** Tools come from Heddle itself and from MCP servers; the latter can fail. */
export function ToolsPart({ ws }: { readonly ws: string }) {
  const { data, isError, refetch } = useQuery({
    queryKey: ["tools", ws, "servers"],
    queryFn: () => call("tool/list", { workspace_id: ws }),
    staleTime: 1_000,
  });
  const servers = data?.servers ?? [];
  return (
    <Part
      id="tools"
      title="Tool servers"
      about={
        <>
          MCP servers that agents have tools from, named under <code>mcpServers</code> in the configuration or
          in a project’s <code>.mcp.json</code>.
        </>
      }
    >
      {isError && !data && <Unread what="the tool servers" onRetry={() => void refetch()} />}
      {data && servers.length === 0 && (
        <p className="ink-3">
          No server is named. Heddle has {counted(data.data.length, "tool")} of its own.
        </p>
      )}
      {servers.length > 0 && (
        <ul className="set-list">
          {servers.map((server) => (
            <ServerRow key={server.name} server={server} />
          ))}
        </ul>
      )}
    </Part>
  );
}

const STATES = { ready: "ok", connecting: "", failed: "danger", off: "" };

function ServerRow({ server }: { readonly server: Server }) {
  const { name, state, tools, problem, since } = server;
  return (
    <li className="set-line">
      <div className="grow">
        <div className="label">{name}</div>
        <div className="small ink-3">
          {counted(tools, "tool")}, since {when(since)}
        </div>
        {problem && <div className="small warn">{problem}</div>}
      </div>
      <span className={`chip ${STATES[state]}`}>{state}</span>
    </li>
  );
}
