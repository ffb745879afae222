import { acceptDefinition, type ListedTool, type RegisteredTool } from "./accept.js";
import { callTool } from "./call.js";
import { toolError } from "./errors.js";
import { nearest } from "./nearest.js";
import { failed } from "./outcome.js";
import { quoted } from "./quoted.js";
import type { ToolContext, ToolDefinition, ToolOutcome } from "./tool.js";

/** The tools there are. It knows no agent: whether one may call a tool is decided by whoever calls `call`. */
export class ToolRegistry {
  #tools: ReadonlyMap<string, RegisteredTool> = new Map();

  /** All of them or none. */
  register(...definitions: readonly ToolDefinition[]): void {
    const next = new Map(this.#tools);
    for (const tool of definitions.map(acceptDefinition)) {
      const { name } = tool.listed;
      if (next.has(name)) throw nameTaken(name);
      next.set(name, tool);
    }
    this.#tools = next;
  }

  /** By name, in the order of code units: the same bytes whoever registered first. */
  list(): ListedTool[] {
    return [...this.#tools.values()].map(({ listed }) => listed).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  get(name: string): ToolDefinition | undefined {
    return this.#tools.get(name)?.definition;
  }

  /** Never throws: whatever goes wrong is an outcome that says what to do. Arguments come as an object or as its JSON. */
  async call(
    name: string,
    given: string | Record<string, unknown>,
    context: ToolContext,
  ): Promise<ToolOutcome & { readonly duration_ms: number }> {
    const began = context.clock.now();
    const tool = this.get(name);
    const outcome = tool ? await callTool(tool, given, context) : failed(this.#unknown(name));
    return { ...outcome, duration_ms: Math.max(0, Math.round(context.clock.now() - began)) };
  }

  #unknown(name: string): string {
    const near = nearest(name, this.#tools.keys());
    const advice = near === undefined ? "There are no tools here." : `The nearest is ${quoted(near)}.`;
    return `There is no tool ${quoted(name)}. ${advice} Nothing was done.`;
  }
}

function nameTaken(name: string) {
  return toolError(
    { kind: "tool.name_taken", name },
    `A tool ${name} is registered already. Give this one another name.`,
  );
}
