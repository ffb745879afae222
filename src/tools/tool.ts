import type { z } from "zod";
import type { Clock } from "../base/index.js";

/** For whom a tool is called. Whether that agent may call it is decided before. */
export interface ToolContext {
  readonly workspace_id: string;
  readonly thread_id?: string;
  readonly agent_id?: string;
  /** Absolute: the thread's worktree, or the workspace's directory. */
  readonly directory?: string;
  /** Absolute, links resolved: what is Heddle's own, and no tool's to read or write, should it lie within that directory. */
  readonly keptOut?: readonly string[];
  /** Fires when the outcome is not wanted any more. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The run that calls it. */
  readonly run_id?: string;
  /** Names this call: the same however often a gateway that was killed makes it again. */
  readonly call_key?: string;
  /** Shows output to those who watch, while it comes. Nobody can ask for it later. */
  readonly progress?: (text: string) => void;
}

/** What a model is told, and what is recorded. */
export interface ToolOutcome {
  readonly status: "completed" | "failed";
  readonly output: string;
  /** The output is less than what was asked for. */
  readonly truncated?: boolean;
  readonly diff?: { readonly path: string; readonly oldText: string; readonly newText: string };
}

export interface ToolDefinition<P extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly parameters: P;
  /** What models and people are shown instead of the schema's own: for tools whose schema is somebody else's. */
  readonly jsonSchema?: Readonly<Record<string, unknown>>;
  /** What an agent must be allowed to do. Only `system_*` tools have none. */
  readonly capabilities: readonly string[];
  /** Whether a call that may or may not have happened can be made again without harm. */
  readonly safeToRepeat: boolean;
  /** Somebody is asked before an agent may call it, unless the agent's `toolApprovals` say otherwise. */
  readonly asks?: boolean;
  /** Bytes of UTF-8 that its output may have, where that is more than usual: for one that bounds its answer itself. */
  readonly mostOutputBytes?: number;
  /** The plugin it comes with. */
  readonly plugin?: string;
  /** An expected failure is an outcome. What it throws is taken for a fault of the tool. */
  run(args: z.output<P>, context: ToolContext): Promise<ToolOutcome> | ToolOutcome;
}

/** Gives `run` the types of its schema. */
export function defineTool<P extends z.ZodObject>(definition: ToolDefinition<P>): ToolDefinition {
  return definition;
}

/**
 * The same for Heddle's own, which alone may be called `system_*`. They are known by identity: a mark on a definition could
 * be copied from a plugin's data, and its tool would pass every scope.
 */
export function defineBuiltInTool<P extends z.ZodObject>(definition: ToolDefinition<P>): ToolDefinition {
  const tool = defineTool(definition);
  builtIn.add(tool);
  return tool;
}

export function isBuiltIn(definition: ToolDefinition): boolean {
  return builtIn.has(definition);
}

const builtIn = new WeakSet<ToolDefinition>();
