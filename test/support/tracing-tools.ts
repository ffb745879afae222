import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "../../src/tools/index.js";

export type TracingTool = "test_write" | "test_look";

/**
 * Two tools that leave a trace in a directory: `test_write` must not be repeated, `test_look` may be. Each writes a line
 * when it begins and one when it ends, and waits in between while a file of its name is there.
 */
export function tracingTools(directory: string): ToolDefinition[] {
  return [tracing(directory, "test_write", false), tracing(directory, "test_look", true)];
}

/** What a tool has done so far. */
export function traceOf(directory: string, name: TracingTool): string[] {
  const file = join(directory, `${name}.trace`);
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

function tracing(directory: string, name: TracingTool, safeToRepeat: boolean): ToolDefinition {
  return defineTool({
    name,
    description: "Leaves a trace.",
    parameters: z.strictObject({ id: z.string(), ms: z.number().optional() }),
    capabilities: ["tests.trace"],
    safeToRepeat,
    async run({ id, ms = 0 }, { signal }) {
      const trace = (word: string) => appendFileSync(join(directory, `${name}.trace`), `${word} ${id}\n`);
      trace("begin");
      await sleep(ms);
      while (existsSync(join(directory, `${name}.hold`)) && !signal.aborted) await sleep(5);
      trace("end");
      return { status: "completed", output: `traced ${id}` };
    },
  });
}
