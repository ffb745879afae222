import { z } from "zod";
import { page, pageParams, seq, unixSeconds } from "./common.js";
import { agentsDocId, folderId, threadId, workspaceId } from "./ids.js";
import { optionalParam, plainText } from "./text.js";

export const AGENTS_DOC_TITLE = "AGENTS.md";

export const agentsDocStatus = z
  .enum(["draft", "active", "archived"])
  .describe("`draft`: empty, never in effect. `active`: has text. `archived`: removed from the tree.");

export const agentsDocSaveReason = z.enum(["autosave", "manual"]);
export const agentsDocRevisionReason = z.enum(["autosave", "manual", "archive", "restore"]);

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const version = z.int().min(1);
const scope = {
  workspace_id: workspaceId,
  folder_id: optionalParam(folderId).describe("absent for the root"),
};
const expectedVersion = optionalParam(z.int().min(0)).describe(
  "the version this change builds on; `0`: there must be no file yet; absent: last write wins",
);

export const agentsDocPayload = z
  .object({
    id: agentsDocId,
    workspace_id: workspaceId,
    folder_id: folderId.optional(),
    status: agentsDocStatus,
    title: z.literal(AGENTS_DOC_TITLE),
    content: z.string(),
    content_sha256: sha256,
    version,
    created_at: unixSeconds,
    updated_at: unixSeconds,
    updated_by: z.string().optional(),
    archived_at: unixSeconds.optional(),
  })
  .describe("An AGENTS.md document with its content.");

export const agentsDocSummary = z
  .object({
    id: agentsDocId,
    workspace_id: workspaceId,
    folder_id: folderId.optional(),
    status: agentsDocStatus,
    content_sha256: sha256,
    version,
    char_count: z.int().min(0),
    updated_at: unixSeconds,
  })
  .describe("An AGENTS.md document as the tree shows it, without content.");

export const agentsDocResolvedPayload = z
  .object({
    doc: agentsDocPayload,
    source_folder_id: folderId.optional(),
    source_path: z.array(z.string()).describe("folder names from the root of the tree to the source"),
    inherited: z.boolean(),
    resolved_for_folder_id: folderId.optional(),
    resolved_at: unixSeconds,
  })
  .describe("The document in effect for a scope, and where it comes from.");

const effective = agentsDocResolvedPayload.optional();

export const agentsDocGetParams = z.object(scope);
export const agentsDocGetResponse = z.object({ explicit: agentsDocPayload.optional(), effective });

export const agentsDocSaveParams = z.object({
  ...scope,
  content: plainText,
  expected_version: expectedVersion,
  save_reason: optionalParam(agentsDocSaveReason),
});
export const agentsDocSaveResponse = z.object({ doc: agentsDocPayload });

export const agentsDocArchiveParams = z.object({ ...scope, expected_version: expectedVersion });
export const agentsDocArchiveResponse = z.object({ archived: z.boolean(), effective });

export const agentsDocResolveForThreadParams = z.object({
  workspace_id: optionalParam(workspaceId),
  thread_id: threadId,
});
export const agentsDocResolveForThreadResponse = z.object({ effective });

export const agentsDocRevision = z.object({
  doc_id: agentsDocId,
  version,
  content_sha256: sha256,
  char_count: z.int().min(0),
  reason: agentsDocRevisionReason,
  saved_at: unixSeconds,
  saved_by: z.string().optional(),
});
export const agentsDocRevisionsParams = z.object({ ...scope, ...pageParams });
export const agentsDocRevisionsResponse = page(agentsDocRevision);

export const agentsDocRevisionParams = z.object({ workspace_id: workspaceId, doc_id: agentsDocId, version });
export const agentsDocRevisionResponse = z.object({
  revision: agentsDocRevision.extend({ content: z.string() }),
});

export const agentsDocRestoreParams = agentsDocRevisionParams.extend({ expected_version: expectedVersion });

export const agentsDocChangedNotification = z
  .object({
    workspace_id: workspaceId,
    folder_id: folderId.optional(),
    doc: agentsDocPayload.optional(),
    effective,
    effective_changed: z.boolean(),
    seq: seq.optional(),
  })
  .describe(
    "A document was saved, restored or archived, or its folder moved so that another one is in effect.",
  );
