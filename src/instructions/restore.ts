import type { ParsedParams, Result } from "../protocol/index.js";
import type { Call } from "../tree/index.js";
import type { InstructionsDeps } from "./deps.js";
import { measure } from "./normalise.js";
import { putDoc } from "./put.js";
import { findRevision } from "./revision.js";
import { docToWire } from "./wire.js";

/** Saves an earlier version as the next one of its scope; nothing of the history is lost by it. */
export async function restoreDoc(
  deps: InstructionsDeps,
  params: ParsedParams<"thread/agents_doc/restore">,
  call: Call,
): Promise<Result<"thread/agents_doc/restore">> {
  const { workspace_id, expected_version } = params;
  const doc = await deps.store.write({ key: workspace_id, origin: call.origin }, function* () {
    const { revision, folder_id } = yield* findRevision(params);
    const scope = { workspace_id, folder_id };
    const normal = measure(revision.content);
    return yield* putDoc(deps, { scope, normal, expected_version, reason: "restore", actor: call.actor });
  });
  return { doc: docToWire(doc) };
}
