import { dirname } from "node:path";
import type { HeddleConfig } from "../agents/index.js";
import type { Clock } from "../base/index.js";
import { type McpServerEntry, type McpServerStatus, McpServers, type ToolRegistry } from "../tools/index.js";
import { hookEnv } from "./child-env.js";
import type { FoundConfig } from "./config-file.js";
import type { Withheld } from "./withheld.js";

type Entries = Readonly<Record<string, McpServerEntry>>;

export interface McpParts {
  readonly servers: McpServers;
  /** Nothing is connected before: a command that only looks at something needs no server. */
  begin(): void;
  /** Brings everything to another configuration of the gateway. */
  use(found: FoundConfig): void;
  /** Those of a workspace. Who needs them before they were begun waits for the first try. */
  of(
    workspace_id: string,
    wish?: { readonly tried: boolean },
  ): Promise<readonly Omit<McpServerStatus, "workspace_id">[]>;
  /** The servers that a trusted project names, for its workspace alone. */
  useServers(servers: Entries, of: { workspace_id: string; directory: string }): void;
}

/** The MCP servers that the configuration names and leaves enabled. */
export function composeMcp(given: {
  tools: ToolRegistry;
  clock: Clock;
  env: NodeJS.ProcessEnv;
  found: FoundConfig;
  withheld: Withheld;
  report: (error: unknown, what: string) => void;
}): McpParts {
  let { found } = given;
  let isBegun = false;
  const projects = new Map<string, { servers: Entries; directory: string }>();
  const servers = new McpServers({
    tools: given.tools,
    clock: given.clock,
    // What a server needs beside this, its entry gives it.
    env: () => hookEnv(given.env, given.withheld.names()),
    told: reporting(given.report),
  });
  const setAll = () => {
    if (!isBegun) return;
    servers.set(
      enabled(found.config?.mcpServers.open() ?? {}, found.config),
      undefined,
      dirname(found.file ?? "."),
    );
    for (const [workspace_id, project] of projects) {
      servers.set(enabled(project.servers, found.config), workspace_id, project.directory);
    }
  };
  return {
    servers,
    begin() {
      isBegun = true;
      setAll();
    },
    async of(workspace_id, { tried = !isBegun } = { tried: !isBegun }) {
      if (!isBegun) {
        isBegun = true;
        setAll();
      }
      if (tried) await servers.tried();
      return servers
        .status()
        .filter((one) => one.workspace_id === undefined || one.workspace_id === workspace_id)
        .map(({ workspace_id: _, ...status }) => status);
    },
    use(now) {
      found = now;
      setAll();
    },
    useServers(entries, { workspace_id, directory }) {
      projects.set(workspace_id, { servers: entries, directory });
      setAll();
      if (Object.keys(entries).length === 0) projects.delete(workspace_id);
    },
  };
}

/** `plugins.mcp` stands for all of them, `plugins.mcp-<server>` for one. */
function enabled(servers: Entries, config: HeddleConfig | undefined): Entries {
  const settings = config?.plugins.open() ?? {};
  const isOff = (id: string) => settings[id]?.enabled === false;
  return Object.fromEntries(
    Object.entries(servers).map(([name, entry]) => [
      name,
      isOff("mcp") || isOff(`mcp-${name}`) ? { ...entry, enabled: false } : entry,
    ]),
  );
}

/** A server that keeps failing in the same way is told of once. */
function reporting(report: (error: unknown, what: string) => void) {
  const told = new Map<string, string>();
  return ({ name, workspace_id = "", state, problem }: McpServerStatus) => {
    const key = `${workspace_id} ${name}`;
    if (problem === undefined) {
      if (state === "ready") told.delete(key);
      return;
    }
    if (told.get(key) === problem) return;
    told.set(key, problem);
    report(new Error(problem), `the MCP server ${name} has a problem`);
  };
}
