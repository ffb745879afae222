import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inject, onTestFinished } from "vitest";
import { systemClock } from "../../src/base/index.js";
import {
  type McpServerEntry,
  type McpServerStatus,
  McpServers,
  type ToolContext,
  ToolRegistry,
} from "../../src/tools/index.js";
import { MCP_CHILD } from "./children.js";
import type { McpScript } from "./mcp-script.js";

/** An entry that starts a scripted server. */
export function scripted(script: McpScript = {}, ...habits: readonly string[]): McpServerEntry {
  return {
    command: process.execPath,
    args: [join(inject("tmp"), MCP_CHILD), JSON.stringify(script), ...habits],
  };
}

type Timing = NonNullable<ConstructorParameters<typeof McpServers>[0]["timing"]>;

/** Servers over a registry of their own, which end with the test. */
export class McpStage {
  readonly tools = new ToolRegistry();
  readonly told: McpServerStatus[] = [];
  readonly servers: McpServers;

  constructor(timing: Timing = {}, env: NodeJS.ProcessEnv = { PATH: process.env.PATH }) {
    this.servers = new McpServers({
      tools: this.tools,
      clock: systemClock,
      env: () => env,
      timing: { backoffMs: 50, relistMs: 50, ...timing },
      told: (status) => void this.told.push(status),
    });
    onTestFinished(() => this.servers.close());
  }

  status(name: string): McpServerStatus | undefined {
    return this.servers.status().find((one) => one.name === name);
  }

  /** Waits until a server is in a state, and answers its status. */
  async until(
    name: string,
    isSo: McpServerStatus["state"] | ((status: McpServerStatus) => boolean),
    withinMs = 15_000,
  ): Promise<McpServerStatus> {
    const fits = typeof isSo === "string" ? ({ state }: McpServerStatus) => state === isSo : isSo;
    const end = performance.now() + withinMs;
    for (;;) {
      const status = this.status(name);
      if (status && fits(status)) return status;
      if (performance.now() > end) throw new Error(`waited in vain: ${JSON.stringify(status)}`);
      await sleep(10);
    }
  }

  names(workspace_id?: string): string[] {
    return this.tools.list(workspace_id).map(({ name }) => name);
  }

  call(name: string, args: Record<string, unknown> = {}, more: Partial<ToolContext> = {}) {
    const { signal } = new AbortController();
    return this.tools.call(name, args, { workspace_id: "wks_1", signal, clock: systemClock, ...more });
  }
}
