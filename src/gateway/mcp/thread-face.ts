import type { Tool } from "@modelcontextprotocol/server";
import type { Result } from "../../protocol/index.js";
import { callerFor, type InsideDeps, type Outsider } from "../inside/caller.js";
import type { BoundThread } from "../rpc/peer.js";
import { type Face, inWords } from "./face.js";

type ListedTool = Result<"tool/list">["data"][number];

const INSTRUCTIONS =
  "These are the tools of the thread you work for. What is called here is recorded there, and some of it waits until somebody has allowed it.";

/** Whoever has the token of a thread has that thread's tools, as its agent is offered them, and nothing else. */
export function threadFace(deps: InsideDeps, outsider: Outsider, bound: BoundThread): Face {
  const { workspace_id, thread_id } = bound;
  return {
    instructions: INSTRUCTIONS,
    async list() {
      const { data } = await callerFor(deps, outsider)("tool/list", { workspace_id, thread_id });
      return data.filter(({ offered }) => offered).map((tool) => toWire(deps, workspace_id, tool));
    },
    async call(name, args, signal) {
      const call = callerFor(deps, { ...outsider, gone: signal });
      const { status, output } = await call("tool/call", {
        workspace_id,
        thread_id,
        name,
        arguments: { ...args },
      });
      return inWords(output, status === "failed");
    },
  };
}

function toWire({ domain }: InsideDeps, workspace_id: string, tool: ListedTool): Tool {
  const { name, title, description, parameters, safe_to_repeat } = tool;
  const asks = domain.tools.get(name, workspace_id)?.asks === true;
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: parameters as Tool["inputSchema"],
    annotations: { readOnlyHint: isReadOnly(tool, asks), idempotentHint: safe_to_repeat },
  };
}

/** By what it needs to be allowed. A tool of a server asks unless its server calls it read-only. */
function isReadOnly({ capabilities }: ListedTool, asks: boolean): boolean {
  if (asks || capabilities.length === 0) return false;
  return capabilities.every((one) => one.startsWith("mcp.") || /\.(read|list)$/.test(one));
}
