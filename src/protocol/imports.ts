import { z } from "zod";
import { threadId, workspaceId } from "./ids.js";
import { optionalParam, plainText } from "./text.js";

export const importTool = z.enum(["claude", "codex", "pi", "opencode"]);

const sessionId = plainText.min(1).max(255);

/** What `thread/import` takes besides archives. */
export const sessionParams = {
  from: optionalParam(importTool).describe(
    "takes sessions of this tool instead: at `path` (a file or directory of the tool), or where it keeps them",
  ),
  session_ids: optionalParam(z.array(sessionId).max(10_000)).describe("with `from`: only these sessions"),
  directory: optionalParam(plainText.min(1).max(4096)).describe(
    "with `from`: only sessions whose agent worked in this directory, each into the workspace it belongs to",
  ),
  all: optionalParam(z.boolean()).describe(
    "with `from`: sessions of other directories too, each into the workspace of its directory, which is made where there is none",
  ),
  dry_run: optionalParam(z.boolean()).describe("with `from`: says what would be done, and does nothing"),
  cursor: optionalParam(z.string().max(8192)).describe(
    "with `from`: goes on behind the sessions of an earlier answer",
  ),
  limit: optionalParam(z.int().min(1).max(1_000)).describe(
    "with `from`: sessions a call takes; default: 100",
  ),
};

export const lost = z.object({ what: z.string(), count: z.int() });
export const notRead = z.object({ path: z.string(), reason: z.string() });

export const importedThread = z.object({
  thread_id: z.string(),
  status: z
    .enum(["imported", "updated", "exists", "skipped", "invalid"])
    .describe("`updated`: what is new in its session was appended; `skipped`: `reason` says why it was not"),
  reason: z.string().optional(),
  title: z.string().optional(),
  workspace_id: workspaceId.optional().describe("where it stands"),
  session_id: z.string().optional().describe("what its tool calls the session"),
  source_path: z.string().optional(),
  parent_thread_id: threadId.optional().describe("what it branches off, or which session asked for it"),
  messages: z.int().optional().describe("how many it has of its session"),
  added: z.int().optional().describe("how many of them are new"),
  lossy: z.array(lost).optional().describe("what a thread has no place for, by kind"),
});

export const importResult = z.object({
  data: z.array(importedThread),
  next_cursor: z.string().optional().describe("with `from`: there is more"),
  total: z.int().optional().describe("with `from`: sessions that were found for this workspace"),
  elsewhere: z
    .int()
    .optional()
    .describe("with `from`: sessions of other directories, which were left where they are"),
  not_read: z
    .array(notRead)
    .optional()
    .describe("with `from`: files that could be no session, or not be read; the first 1,000"),
});

export const importSource = z
  .object({
    tool: importTool,
    name: z.string().describe("the tool as people know it"),
    path: z.string().describe("where it keeps its sessions"),
    threads: z.int().describe("sessions whose directory lies in this workspace"),
    imported: z.int().describe("those of them that have a thread already"),
    elsewhere: z.int().describe("sessions of other directories"),
  })
  .describe("Sessions of another tool that were found.");

export const importProgressNotification = z
  .object({
    workspace_id: workspaceId,
    tool: importTool,
    done: z.int(),
    total: z.int(),
    title: z.string().optional().describe("of the session that was taken last"),
  })
  .describe("How far taking in sessions is. Live only: it has no seq.");
