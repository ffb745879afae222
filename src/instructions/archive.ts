import { unixSeconds } from "../base/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { type AgentsDocRow, agentsDocs, notifications, type Unit } from "../store/index.js";
import { type Call, treeChanged } from "../tree/index.js";
import { docChanged } from "./announce.js";
import type { InstructionsDeps } from "./deps.js";
import { revisionOf } from "./put.js";
import { inEffect, openScope } from "./scope.js";
import { assertVersion } from "./version.js";
import { effectiveField } from "./wire.js";

/** Takes a scope's document out of the tree; what it inherits is in effect again. Its revisions stay. */
export async function archiveDoc(
  deps: InstructionsDeps,
  params: ParsedParams<"thread/agents_doc/archive">,
  call: Call,
): Promise<Result<"thread/agents_doc/archive">> {
  const { workspace_id, folder_id = null, expected_version } = params;
  const scope = { workspace_id, folder_id };
  return deps.store.write({ key: workspace_id, origin: call.origin }, function* () {
    const { explicit, above } = yield* openScope(scope);
    const now = unixSeconds(deps.clock);
    if (!explicit) return { archived: false, ...effectiveField(above, now) };
    assertVersion(expected_version, explicit);
    const doc = yield* markArchived(explicit, now, call.actor);
    yield* notifications.announce(workspace_id, now, [
      docChanged(scope, { doc, before: inEffect(above, explicit), after: above }, now),
      treeChanged(workspace_id, { removed_ids: [doc.id] }),
    ]);
    return { archived: true, ...effectiveField(above, now) };
  });
}

export function* markArchived(
  explicit: AgentsDocRow,
  now: number,
  actor: string | undefined,
): Unit<AgentsDocRow> {
  const doc = yield* agentsDocs.updateDoc(explicit.id, {
    status: "archived",
    version: explicit.version + 1,
    updated_at: now,
    archived_at: now,
    updated_by: actor ?? null,
  });
  yield* agentsDocs.insertRevision(revisionOf(doc, "archive"));
  return doc;
}
