import {
  AGENTS_DOC_TITLE,
  type AgentsDoc,
  type AgentsDocResolved,
  type AgentsDocRevision,
} from "../protocol/index.js";
import type { AgentsDocRevisionRow, AgentsDocRow, agentsDocs } from "../store/index.js";

export function docToWire(row: AgentsDocRow): AgentsDoc {
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    ...(row.folder_id !== null && { folder_id: row.folder_id }),
    status: row.status,
    title: AGENTS_DOC_TITLE,
    content: row.content,
    content_sha256: row.content_sha256,
    version: row.version,
    created_at: row.created_at,
    updated_at: row.updated_at,
    ...(row.updated_by !== null && { updated_by: row.updated_by }),
    ...(row.archived_at !== null && { archived_at: row.archived_at }),
  };
}

/** The nearest document of a walk, and where it stands seen from the scope that asked. */
export function resolvedToWire(walk: agentsDocs.Walk, now: number): AgentsDocResolved | undefined {
  if (!walk.nearest) return undefined;
  const { doc, level } = walk.nearest;
  const source = walk.levels[level];
  const asked = walk.levels[0];
  return {
    doc: docToWire(doc),
    ...(source && { source_folder_id: source.id }),
    source_path: walk.levels
      .slice(level)
      .map(({ name }) => name)
      .reverse(),
    inherited: level > 0,
    ...(asked && { resolved_for_folder_id: asked.id }),
    resolved_at: now,
  };
}

export function revisionToWire(row: Omit<AgentsDocRevisionRow, "content">): AgentsDocRevision {
  const { doc_id, version, content_sha256, char_count, reason, saved_at, saved_by } = row;
  return {
    doc_id,
    version,
    content_sha256,
    char_count,
    reason,
    saved_at,
    ...(saved_by !== null && { saved_by }),
  };
}

/** A field for what is in effect, left out when nothing is. */
export function effectiveField(walk: agentsDocs.Walk, now: number): { effective?: AgentsDocResolved } {
  const effective = resolvedToWire(walk, now);
  return effective ? { effective } : {};
}
