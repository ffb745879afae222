import { z } from "zod";
import type { Workspace } from "../../protocol/index.js";
import type { CallMethod, InsideDeps } from "../inside/caller.js";

/** What a tool of the gateway's own has to work with. */
export interface ClientContext {
  readonly deps: InsideDeps;
  readonly call: CallMethod;
  /** The workspace that is named, else the client's. */
  workspace(named: string | undefined): Promise<Workspace>;
  /** Fires when the client does not want the answer any more. */
  readonly signal: AbortSignal;
}

export interface ClientOutcome {
  readonly text: string;
  readonly failed?: boolean;
}

/** A tool that the gateway offers to whoever has its token. */
export interface ClientTool<P extends z.ZodObject = z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: P;
  readonly readOnly: boolean;
  run(args: z.output<P>, context: ClientContext): Promise<ClientOutcome>;
}

/** Gives `run` the types of its schema. */
export function defineClientTool<P extends z.ZodObject>(tool: ClientTool<P>): ClientTool {
  return tool as unknown as ClientTool;
}

export const workspaceArgument = z
  .string()
  .min(1)
  .max(4096)
  .optional()
  .describe(
    "the workspace, by its id, name or absolute directory; default: where this client works, else Home",
  );

export function answered(value: object): ClientOutcome {
  return { text: JSON.stringify(value) };
}
