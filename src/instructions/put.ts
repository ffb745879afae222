import { unixSeconds } from "../base/index.js";
import { AGENTS_DOC_TITLE, ID_PREFIXES } from "../protocol/index.js";
import {
  type AgentsDocRevisionRow,
  type AgentsDocRow,
  agentsDocs,
  notifications,
  type Unit,
} from "../store/index.js";
import { docSummaryToWire, treeChanged } from "../tree/index.js";
import { docChanged } from "./announce.js";
import type { InstructionsDeps } from "./deps.js";
import type { NormalContent } from "./normalise.js";
import { inEffect, openScope, type Scope } from "./scope.js";
import { assertVersion } from "./version.js";

export interface Put {
  readonly scope: Scope;
  readonly normal: NormalContent;
  readonly expected_version: number | undefined;
  readonly reason: AgentsDocRevisionRow["reason"];
  readonly actor: string | undefined;
}

/** Writes the next version of a scope's document: the document, its revision and both notifications, or nothing. */
export function* putDoc(deps: InstructionsDeps, put: Put): Unit<AgentsDocRow> {
  const { explicit, above } = yield* openScope(put.scope);
  assertVersion(put.expected_version, explicit);
  if (explicit?.content === put.normal.content) return explicit;
  const now = unixSeconds(deps.clock);
  const doc = explicit ? yield* nextVersion(explicit, put, now) : yield* firstVersion(deps, put, now);
  yield* agentsDocs.insertRevision(revisionOf(doc, put.reason));
  const change = { doc, before: inEffect(above, explicit), after: inEffect(above, doc) };
  yield* notifications.announce(put.scope.workspace_id, now, [
    docChanged(put.scope, change, now),
    treeChanged(put.scope.workspace_id, { agents_docs: [docSummaryToWire(doc)] }),
  ]);
  return doc;
}

function* nextVersion(explicit: AgentsDocRow, { normal, actor }: Put, now: number): Unit<AgentsDocRow> {
  return yield* agentsDocs.updateDoc(explicit.id, {
    ...normal,
    version: explicit.version + 1,
    updated_at: now,
    updated_by: actor ?? null,
  });
}

function* firstVersion(
  deps: InstructionsDeps,
  { scope, normal, actor }: Put,
  now: number,
): Unit<AgentsDocRow> {
  const row: AgentsDocRow = {
    id: deps.makeId(ID_PREFIXES.agents_doc),
    ...scope,
    ...normal,
    title: AGENTS_DOC_TITLE,
    version: 1,
    created_at: now,
    updated_at: now,
    archived_at: null,
    created_by: actor ?? null,
    updated_by: actor ?? null,
  };
  yield* agentsDocs.insertDoc(row);
  return row;
}

export function revisionOf(doc: AgentsDocRow, reason: AgentsDocRevisionRow["reason"]): AgentsDocRevisionRow {
  const { id: doc_id, version, content, content_sha256, char_count, updated_at, updated_by } = doc;
  return {
    doc_id,
    version,
    content,
    content_sha256,
    char_count,
    reason,
    saved_at: updated_at,
    saved_by: updated_by,
  };
}
