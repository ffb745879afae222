import { z } from "zod";
import { seq, unixSeconds } from "./common.js";
import { runId, threadId, workspaceId } from "./ids.js";
import { optionalParam, plainText } from "./text.js";
import { configPatch, promptRefs, sharedPatch } from "./tree.js";

/** Overrides of one run. An absent field is the thread's; `null` leaves the thread's aside. */
export const runConfigPatch = configPatch({
  ...sharedPatch,
  prompt_pack: z.string().min(1).max(255),
  prompt_refs: promptRefs,
}).describe(
  "Settings of one run, merged field by field over the thread's: `null` leaves the thread's aside.",
);

export const runStatus = z.enum([
  "queued",
  "running",
  "waiting",
  "completed",
  "failed",
  "cancelled",
  "interrupted",
]);

const count = z.int().min(0);

export const usage = z
  .object({
    input: count,
    output: count,
    cached_input: count.optional().describe("a part of `input`"),
    reasoning: count.optional().describe("a part of `output`"),
  })
  .describe("Tokens as the provider counted them, summed over the steps.");

export const approval = z
  .object({
    run_id: runId.describe("the run that asks: this one, or one it delegated to"),
    thread_id: threadId,
    agent_id: z.string(),
    tool_call_id: z.string(),
    name: z.string(),
    arguments: z.string().describe("as the model wrote them, JSON; their beginning where they are long"),
    truncated: z
      .literal(true)
      .optional()
      .describe("`arguments` is only the beginning: `run/get` with `tool_call_id` has all of it"),
    arguments_chars: count.optional().describe("with `truncated`: UTF-16 units of all of it"),
    asked_at: unixSeconds,
  })
  .describe("A tool call that waits until somebody answers `run/approve`.");

export const askedCall = z
  .object({
    tool_call_id: z.string(),
    name: z.string(),
    arguments: z.string().describe("as the model wrote them, all of it"),
  })
  .describe("A tool call that a run's model asked for.");

export const approvalDecision = z.enum(["allow", "deny", "always"]);

export const madeDecision = z
  .object({ tool_call_id: z.string(), decision: approvalDecision, decided_at: unixSeconds })
  .describe("What somebody answered to a tool call that waited.");

export const runOrigin = z
  .object({
    kind: z
      .enum(["delegated", "returned"])
      .describe(
        "asked by another agent's run; or the result of a run that this thread's agent had asked for",
      ),
    mode: z.enum(["sync", "async"]),
    run_id: runId.optional().describe("the run that asked, or that the result is of"),
    thread_id: threadId,
    agent_id: z.string(),
    depth: z.int().min(0).describe("how many agents stand between it and a person"),
    hops: z.int().min(0).describe("how many results have come back before it, one leading to the next"),
  })
  .describe("Where a run that no person asked for comes from.");

export const steering = z.object({
  message_id: z.string().describe("under which it will stand in the thread"),
  content: z.string().describe("the beginning of its text"),
  created_at: unixSeconds,
});

export const run = z
  .object({
    id: runId,
    number: z.int().min(1).describe("per thread, from 1"),
    thread_id: threadId,
    workspace_id: workspaceId,
    status: runStatus,
    steps: count.describe("model calls so far"),
    agent_id: z.string(),
    model: z.string().optional(),
    parent_run_id: runId.optional(),
    origin: runOrigin.optional(),
    approvals: z.array(approval).optional().describe("what waits for an answer, of delegated runs too"),
    decisions: z
      .array(madeDecision)
      .optional()
      .describe("what was answered to its own calls that waited, oldest first; the last 200"),
    steering: z
      .array(steering)
      .optional()
      .describe("what people said to it that it will be told with its next step, oldest first"),
    error: z.object({ code: z.string().describe("the dotted kind"), message: z.string() }).optional(),
    usage: usage.optional(),
    user_message_id: z.string(),
    agent_message_id: z.string().describe("under which the answer will stand in the thread"),
    content: z.string().optional().describe("what a queued run will be asked: the beginning of its text"),
    created_at: unixSeconds,
    started_at: unixSeconds.optional(),
    ended_at: unixSeconds.optional(),
  })
  .describe("One user message worked to its end.");

/** The bytes of an image are checked where they are used; here only their shape. */
const inputBlock = z.union([
  z.object({ type: z.literal("text"), text: plainText.min(1) }),
  z.object({
    type: z.literal("image"),
    data: z.base64().min(1).describe("base64"),
    mimeType: z.string().regex(/^image\/[a-z0-9][a-z0-9.+-]{0,63}$/, "must be the type of an image"),
  }),
]);

export const runContent = z
  .union([
    plainText.refine((text) => text.trim() !== "", { error: "is empty" }),
    z.array(inputBlock).min(1).max(64),
  ])
  .describe("text, or blocks of text and images");

export const idempotencyKey = optionalParam(
  plainText
    .min(1)
    .max(255)
    .refine((key) => !/^(int_|del_|returned:)/.test(key), { error: "begins like one of Heddle's own" }),
).describe("per thread: the same key answers the first run");

export const runChangedNotification = z
  .object({ run, seq })
  .describe("A run was admitted, began, was steered, waits, or ended.");

export const runDeltaNotification = z
  .object({
    workspace_id: workspaceId,
    thread_id: threadId,
    run_id: runId,
    step: z.int().min(1),
    kind: z.enum(["text", "thinking", "tool_input", "tool_output"]),
    id: z
      .string()
      .describe("the block it belongs to: a thought's or a tool call's id; `text` for the answer"),
    offset: count.describe("UTF-16 units of this block that came before"),
    text: z.string(),
    took_ms: count
      .optional()
      .describe(
        "with a thought that is told to who follows in mid-run: how long it took, or has taken so far",
      ),
  })
  .describe(
    "Live only: a piece of an answer. Who follows a thread in mid-run first gets what came so far: of the output of a tool that is at work at least the last 64 Ki units, of calls that have their answer nothing.",
  );

export const runToolNotification = z
  .object({
    workspace_id: workspaceId,
    thread_id: threadId,
    run_id: runId,
    step: z.int().min(1),
    tool_call_id: z.string(),
    name: z.string(),
    status: z.enum(["waiting", "running", "completed", "failed"]).describe("`waiting`: for `run/approve`"),
    output: z.string().optional().describe("the beginning of what it answered"),
    duration_ms: count.optional(),
    diffs: z
      .array(z.object({ path: z.string(), old_text: z.string(), new_text: z.string() }))
      .optional()
      .describe("what it changed in files, where that is short; the message has all of it"),
  })
  .describe("Live only: a tool call began or ended.");

export const journalEvent = z
  .looseObject({
    seq: z.int().min(1).describe("per thread"),
    type: z.string(),
    at: z.int().describe("unix milliseconds"),
    run_id: z.string().optional(),
    prev: z.string().describe("hash of the event before it"),
    state: z.string().describe("hash of the state after it"),
    hash: z.string(),
  })
  .describe("One event of a thread's journal.");

const check = z.enum(["ok", "failed"]);

export const replayResult = z.object({
  verified: z.boolean(),
  integrity: check.describe("the hash chain and every blob"),
  fold: check.describe("state and effects, at every event"),
  compile: z.enum(["ok", "failed", "other_version"]).describe("each step from its recorded inputs"),
  events: count,
  steps: count,
  first_difference: z
    .object({
      check: z.enum(["integrity", "fold", "compile"]),
      where: z.string().describe("which event, blob or step"),
      message: z.string(),
      diff: z.string().optional().describe("a unified diff, recorded against replayed"),
    })
    .optional(),
});
