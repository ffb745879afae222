import { z } from "zod";

/** Prefix of every id Heddle makes; a ULID follows. */
export const ID_PREFIXES = {
  workspace: "ws_",
  folder: "fld_",
  thread: "thr_",
  agents_doc: "agd_",
  run: "run_",
  list: "lst_",
  item: "itm_",
  note: "not_",
  view: "viw_",
} as const;

/** Ids are opaque on the wire: threads written by other programs keep theirs. */
const id = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,128}$/, "must be an id: 1 to 128 letters, digits, dots, dashes or underscores");

export const workspaceId = id.describe("`ws_…`");
export const folderId = id.describe("`fld_…`");
export const threadId = id.describe("`thr_…`");
export const agentsDocId = id.describe("`agd_…`");
export const runId = id.describe("`run_…`");
export const agentId = id.describe("id of an agent definition");
