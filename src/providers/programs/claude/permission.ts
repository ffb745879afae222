import type { PermissionAnswer } from "../../provider.js";
import type { Turn } from "../program.js";
import { writtenJson } from "../say.js";
import type { AskedLine } from "./lines.js";
import { BRIDGE, BRIDGE_PREFIX } from "./options.js";

type Asked = AskedLine["request"];

/** What the program may do, in its own words. */
export async function permission(
  asked: Asked,
  { work }: Turn,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const given = writtenJson(asked.input ?? {});
  // Whoever allows a call repeats its arguments.
  if (given === undefined) return denied("Its arguments are nested too deep.");
  if (isOfBridge(asked)) return allowed(asked);
  if (!work.ownTools) return denied(`${asked.tool_name ?? "This tool"} is switched off for this agent.`);
  const answer = await work
    .ask({
      id: asked.tool_use_id,
      name: asked.tool_name ?? "",
      arguments: given,
      signal,
    })
    .catch((): PermissionAnswer => "deny");
  if (answer === "deny") return denied("This was not allowed. Go on without it, or ask what to do instead.");
  return answer === "always" ? { ...allowed(asked), updatedPermissions: rules(asked) } : allowed(asked);
}

/** Heddle decides on its own tools where they are carried out. */
function isOfBridge({ tool_name, mcp_server }: Asked): boolean {
  const named = tool_name?.startsWith(BRIDGE_PREFIX) === true;
  return named && (mcp_server?.name === undefined || mcp_server.name === BRIDGE);
}

function allowed({ input }: Asked): Record<string, unknown> {
  return { behavior: "allow", updatedInput: input ?? {} };
}

export function denied(message: string): Record<string, unknown> {
  return { behavior: "deny", message };
}

/**
 * What it proposes itself, for this session: never for a settings file of the project. Only rules on what was asked: a mode or
 * a directory would allow more than that.
 */
function rules({ permission_suggestions }: Asked): Record<string, unknown>[] {
  return (permission_suggestions ?? [])
    .filter(({ type, behavior }) => type === "addRules" && behavior === "allow")
    .map((rule) => ({ ...rule, destination: "session" }));
}
