import type { PermissionAnswer, WorkPlace } from "../../provider.js";
import { jsonText } from "../say.js";
import { BRIDGE, mcpName } from "./items.js";
import type { TurnNotes } from "./notes.js";
import { approvalSchema, elicitationSchema } from "./protocol.js";

type Deciding = { readonly work: WorkPlace; readonly notes: TurnNotes };

/** Answers what codex wants to know before it does something. Rejects what is no such question. */
export async function decide(method: string, params: unknown, deciding: Deciding): Promise<object> {
  switch (method) {
    case "item/commandExecution/requestApproval":
    case "item/fileChange/requestApproval":
      return { decision: decisions[await approval(method, params, deciding)] };
    case "mcpServer/elicitation/request":
      return elicitation(params, deciding);
    default:
      throw new Error(`${method} is not answered here`);
  }
}

const decisions: Readonly<Record<PermissionAnswer, string>> = {
  allow: "accept",
  always: "acceptForSession",
  // "cancel" would end the turn; so the model is told, and goes on.
  deny: "decline",
};

async function approval(
  method: string,
  params: unknown,
  { work, notes }: Deciding,
): Promise<PermissionAnswer> {
  // An agent with lists has none of these tools. This holds even if codex offers one that no option switches off.
  if (!work.ownTools) return "deny";
  const { itemId, kind, command, cwd, reason } = approvalSchema.parse(params);
  const call = notes.call(itemId);
  const isInput = kind !== undefined && kind !== null && kind !== "command";
  if (call && !isInput) return work.ask({ id: itemId, name: call.name, arguments: call.arguments });
  const given = JSON.stringify({ command, cwd, reason });
  if (isInput) return work.ask({ name: "write_stdin", arguments: given });
  const name = method.startsWith("item/fileChange") ? "apply_patch" : "exec_command";
  return work.ask({ id: itemId, name, arguments: given });
}

async function elicitation(params: unknown, { work, notes }: Deciding): Promise<object> {
  const { serverName, _meta } = elicitationSchema.parse(params);
  // A form that a server wants filled in: there is nobody to do it.
  if (_meta?.codex_approval_kind !== "mcp_tool_call") return answered("deny");
  if (serverName === BRIDGE) return answered("allow");
  if (!work.ownTools) return answered("deny");
  const call = notes.callNamed(mcpName(serverName, ""), _meta.tool_params);
  return answered(
    await work.ask({
      ...(call ? { id: call.id } : {}),
      name: call?.name ?? `mcp__${serverName}`,
      arguments: call?.arguments ?? jsonText(_meta.tool_params ?? {}),
    }),
  );
}

function answered(answer: PermissionAnswer): object {
  return answer === "deny"
    ? { action: "decline", content: null, _meta: null }
    : { action: "accept", content: {}, _meta: answer === "always" ? { persist: "session" } : null };
}
