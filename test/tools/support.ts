import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { Clock } from "../../src/base/index.js";
import { defineTool, type ToolContext, type ToolDefinition, ToolRegistry } from "../../src/tools/index.js";
import { temporaryDirectory } from "../support/stores.js";

/** A clock that stands still unless it is told to go. */
export function clockAt(iso: string): Clock & { pass(ms: number): void } {
  let now = Date.parse(iso);
  return {
    now: () => now,
    pass(ms) {
      now += ms;
    },
  };
}

export function contextWith(given: Partial<ToolContext> = {}): ToolContext {
  return {
    workspace_id: "ws_1",
    signal: new AbortController().signal,
    clock: clockAt("2026-03-01T12:00:00Z"),
    ...given,
  };
}

/** A tool that says what it was given, unless told otherwise. */
export function tool(name: string, more: Partial<ToolDefinition> = {}): ToolDefinition {
  return defineTool({
    name,
    description: `what ${name} does`,
    parameters: z.object({ path: z.string(), from_line: z.int().optional() }),
    capabilities: ["test.use"],
    safeToRepeat: false,
    run: (args) => ({ status: "completed", output: JSON.stringify(args) }),
    ...more,
  });
}

export function registryOf(...tools: ToolDefinition[]): ToolRegistry {
  const registry = new ToolRegistry();
  registry.register(...tools);
  return registry;
}

/** A directory with these files. */
export function directoryWith(
  files: Record<string, string | Buffer>,
  directory = temporaryDirectory(),
): string {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  return directory;
}
