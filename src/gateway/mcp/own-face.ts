import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { plainWords } from "../../base/index.js";
import { callerFor, type InsideDeps, type Outsider } from "../inside/caller.js";
import { chooseWorkspace, type WorkspaceWish } from "../inside/choose-workspace.js";
import { agentsList } from "./agents-list.js";
import { agentsMdRead } from "./agents-md-read.js";
import { agentsMessage } from "./agents-message.js";
import type { ClientContext, ClientTool } from "./client-tool.js";
import { type Face, inWords } from "./face.js";
import { threadsList } from "./threads-list.js";
import { threadsRead } from "./threads-read.js";

const TOOLS: readonly ClientTool[] = [agentsList, agentsMessage, threadsList, threadsRead, agentsMdRead];

const INSTRUCTIONS =
  "Heddle keeps agents, their threads and their instructions. Ask an agent with agents_message: it works in a thread of its own, which people can see, and may wait for somebody's approval.";

/** Whoever has the gateway's own token asks its agents, and reads. */
export function ownFace(deps: InsideDeps, outsider: Outsider, wish: WorkspaceWish): Face {
  return {
    instructions: INSTRUCTIONS,
    list: async () => TOOLS.map(toWire),
    async call(name, args, signal) {
      const tool = TOOLS.find((one) => one.name === name);
      if (!tool) return inWords(unknown(name), true);
      const parsed = tool.parameters.safeParse(args, { error: plainWords });
      if (!parsed.success) return inWords(problemsOf(name, parsed.error), true);
      const { text, failed } = await tool.run(
        parsed.data,
        contextFor(deps, { ...outsider, gone: signal }, wish),
      );
      return inWords(text, failed);
    },
  };
}

function contextFor(deps: InsideDeps, outsider: Outsider, wish: WorkspaceWish): ClientContext {
  const call = callerFor(deps, outsider);
  const workspace = (named: string | undefined) =>
    chooseWorkspace(call, named === undefined ? wish : { workspace: named });
  return { deps, call, workspace, signal: outsider.gone };
}

function toWire({ name, title, description, parameters, readOnly }: ClientTool): Tool {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(parameters, { io: "input" });
  return {
    name,
    title,
    description,
    inputSchema: inputSchema as Tool["inputSchema"],
    annotations: { title, readOnlyHint: readOnly, openWorldHint: !readOnly },
  };
}

function unknown(name: string): string {
  return `There is no tool ${JSON.stringify(name.slice(0, 100))}. There are: ${TOOLS.map((one) => one.name).join(", ")}.`;
}

function problemsOf(name: string, { issues }: z.ZodError): string {
  const told = issues.slice(0, 10).map(({ path, message }) => `${path.join(".") || "arguments"}: ${message}`);
  return `${name} was not called: ${told.join("; ")}.`;
}
