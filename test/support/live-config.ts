import { renameSync, writeFileSync } from "node:fs";
import { waitOn } from "./runs.js";
import type { Wire } from "./wire.js";

/** Does something to a configuration and waits until those who follow are told. Answers what they were told. */
export async function told(wire: Wire, change: () => unknown): Promise<{ problem?: string | undefined }> {
  const before = wire.notifications("agent/changed").length;
  await change();
  return waitOn(wire, () => wire.notifications("agent/changed")[before]?.params, "agent/changed");
}

/** As an editor saves: a file beside it takes its place. */
export function replace(file: string, content: unknown): void {
  writeFileSync(`${file}~`, typeof content === "string" ? content : JSON.stringify(content));
  renameSync(`${file}~`, file);
}

export async function agentIds(wire: Wire, workspace_id?: string): Promise<string[]> {
  const { data } = await wire.result("agent/list", { ...(workspace_id !== undefined && { workspace_id }) });
  return data.map(({ agent_id }) => agent_id);
}
