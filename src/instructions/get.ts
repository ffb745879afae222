import { unixSeconds } from "../base/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { agentsDocs } from "../store/index.js";
import type { InstructionsDeps } from "./deps.js";
import { walkScope } from "./resolve.js";
import { docToWire, effectiveField } from "./wire.js";

/** A scope's own document, and the one in effect there. */
export async function getDoc(
  deps: InstructionsDeps,
  params: ParsedParams<"thread/agents_doc/get">,
): Promise<Result<"thread/agents_doc/get">> {
  const { workspace_id, folder_id = null } = params;
  return deps.store.read(function* () {
    const walk = yield* walkScope(workspace_id, { folder_id });
    const explicit = yield* agentsDocs.findExplicitDoc(workspace_id, folder_id);
    return {
      ...(explicit && { explicit: docToWire(explicit) }),
      ...effectiveField(walk, unixSeconds(deps.clock)),
    };
  });
}
