import type { ParsedParams, Result } from "../protocol/index.js";
import type { Call } from "../tree/index.js";
import type { InstructionsDeps } from "./deps.js";
import { normalise } from "./normalise.js";
import { putDoc } from "./put.js";
import { docToWire } from "./wire.js";

export async function saveDoc(
  deps: InstructionsDeps,
  params: ParsedParams<"thread/agents_doc/save">,
  call: Call,
): Promise<Result<"thread/agents_doc/save">> {
  const { workspace_id, folder_id = null, expected_version, save_reason: reason = "autosave" } = params;
  const normal = normalise(params.content);
  const put = { scope: { workspace_id, folder_id }, normal, expected_version, reason, actor: call.actor };
  const doc = await deps.store.write({ key: workspace_id, origin: call.origin }, () => putDoc(deps, put));
  return { doc: docToWire(doc) };
}
