import { z } from "zod";
import { seq } from "./common.js";
import { threadId, workspaceId } from "./ids.js";
import { optionalParam, plainText } from "./text.js";

const block = z.looseObject({ type: z.string() }).describe("a content block; unknown types are kept");

/** File content: names as the format has them, and whatever other programs added. */
export const message = z
  .looseObject({
    id: z.string(),
    role: z.enum(["user", "agent", "system"]),
    timestamp: z.string().optional().describe("ISO 8601"),
    content: z.array(block),
    toolCalls: z.array(z.looseObject({})).optional(),
    run_id: z.string().optional().describe("the run that made it, where known"),
    truncated: z
      .boolean()
      .optional()
      .describe("long texts in it were cut for the wire; the file has them whole"),
  })
  .describe("A message of a thread, as its file has it.");

/** Kept as it came: an object schema would put the keys it knows first. */
const newBlock = z
  .record(z.string(), z.unknown())
  .refine((value): value is { type: string } => typeof value.type === "string", { error: "needs a type" })
  .describe("a content block: an object with a `type`");

export const newMessage = z
  .looseObject({
    id: optionalParam(z.string().min(1).max(255)).describe("default: a new UUID"),
    role: z.enum(["user", "agent", "system"]),
    timestamp: optionalParam(z.iso.datetime({ offset: true })).describe("default: now"),
    content: z.union([z.string(), z.array(newBlock)]).describe("blocks; a string is one text block"),
  })
  .describe(
    'A message to record. Images come as `{type: "image", data: <base64>, mimeType}` and become files.',
  );

export const messageAppendedNotification = z
  .object({ workspace_id: workspaceId, thread_id: threadId, message, seq })
  .describe(
    "A message was appended to a thread, by the gateway or by another program. Where another program adds very many at once only `thread/changed` comes.",
  );

export const setupStatus = z.enum(["untrusted", "running", "done", "failed", "interrupted"]);

const setupStep = z.object({
  label: z.string(),
  status: z.enum(["done", "skipped", "failed", "timed_out"]),
  reason: z.string().optional(),
  output: z.string().optional().describe("the end of what it printed"),
});

export const threadSetup = z
  .object({
    status: setupStatus,
    steps: z.array(setupStep).optional(),
    initial_prompt: z.string().optional().describe("what the first run will be asked"),
    content_sha256: z.string().optional().describe("what `workspace/trust` needs to let these hooks run"),
  })
  .describe("How the set-up of a thread's worktree went.");

export const threadSetupNotification = z
  .object({
    workspace_id: workspaceId,
    thread_id: threadId,
    status: setupStatus,
    step: z.int().optional().describe("from 1"),
    of: z.int().optional(),
    label: z.string().optional(),
    output: z.string().optional().describe("the end of what the step has printed so far"),
    reason: z.string().optional(),
    content_sha256: z.string().optional(),
    seq,
  })
  .describe("How the set-up of a thread's worktree goes.");

export const indexingNotification = z
  .object({ workspace_id: workspaceId, done: z.int(), total: z.int() })
  .describe("How far reading a workspace's files is. Live only: it has no seq.");

export const searchHit = z
  .object({
    thread_id: threadId,
    message_id: z.string(),
    snippet: z.string(),
    role: z.enum(["user", "agent", "system"]),
    timestamp: z.string().optional(),
  })
  .describe("A message that was found, with the text around the first match.");

export const trustKind = z.enum(["worktree_hooks", "mcp", "config"]);

export const trustState = z
  .object({
    kind: trustKind,
    content_sha256: z.string(),
    trusted: z.boolean(),
    content: z.string().describe("what would run, as JSON"),
  })
  .describe("Something a project's files would have run here, and whether the user allowed exactly that.");

export const indexProblem = z.object({
  file: z.string(),
  message: z.string(),
});

export const contentHash = z.string().regex(/^[0-9a-f]{64}$/, "must be a SHA-256 in lower-case hex");
export const archiveText = z.string().min(1);
export const filePath = optionalParam(plainText.min(1).max(4096));
