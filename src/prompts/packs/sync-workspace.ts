import type { ParsedParams, Result } from "../../protocol/index.js";
import type { Call } from "../../tree/index.js";
import type { PromptsDeps } from "../deps.js";
import { placeToSync, syncPrompt } from "./sync.js";
import { syncTools } from "./sync-tools.js";

/** Syncs the prompt pack and the tools side by side and waits for both: what happens to one does not stop the other. */
export async function syncWorkspace(
  deps: PromptsDeps,
  params: ParsedParams<"workspace/sync">,
  call: Call,
): Promise<Result<"workspace/sync">> {
  await deps.store.read(() => placeToSync(params));
  const [prompt, tools] = await Promise.allSettled([syncPrompt(deps, params, call), syncTools(deps, params)]);
  if (prompt.status === "rejected") throw prompt.reason;
  if (tools.status === "rejected") throw tools.reason;
  return { prompt: prompt.value, tools: tools.value };
}
