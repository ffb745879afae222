import type { ParsedParams, Result } from "../protocol/index.js";
import { type AgentsDocRevisionRow, agentsDocs, type Unit, workspaces } from "../store/index.js";
import { workspaceNotFound } from "../tree/index.js";
import type { InstructionsDeps } from "./deps.js";
import { instructionsError } from "./errors.js";
import { revisionToWire } from "./wire.js";

export async function getRevision(
  deps: InstructionsDeps,
  params: ParsedParams<"thread/agents_doc/revision">,
): Promise<Result<"thread/agents_doc/revision">> {
  const { revision } = await deps.store.read(() => findRevision(params));
  return { revision: { ...revisionToWire(revision), content: revision.content } };
}

interface Found {
  readonly revision: AgentsDocRevisionRow;
  readonly folder_id: string | null;
}

export function* findRevision(params: ParsedParams<"thread/agents_doc/revision">): Unit<Found> {
  const { workspace_id, doc_id, version } = params;
  if (!(yield* workspaces.findWorkspace(workspace_id))) throw workspaceNotFound(workspace_id);
  const doc = yield* agentsDocs.findDoc(workspace_id, doc_id);
  if (!doc) {
    throw instructionsError(
      { kind: "agents_doc.not_found", doc_id },
      `There is no AGENTS.md document ${doc_id} in this workspace.`,
    );
  }
  const revision = yield* agentsDocs.findRevision(doc_id, version);
  if (!revision) {
    throw instructionsError(
      { kind: "agents_doc.revision_not_found", doc_id, version },
      `The document ${doc_id} has no version ${version}; its latest is ${doc.version}.`,
    );
  }
  return { revision, folder_id: doc.folder_id };
}
