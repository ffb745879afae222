import { z } from "zod";
import { seq, unixSeconds } from "./common.js";
import { threadId, workspaceId } from "./ids.js";
import { optionalParam, plainText } from "./text.js";
import { promptRef } from "./tree.js";

const count = z.int().min(0);
const truncation = z.enum(["none", "hook", "prompt"]).describe("by which limit it was cut");

const sectionSource = z
  .looseObject({
    kind: z
      .enum(["run_refs", "thread_refs", "prompt_pack", "agent", "default", "hook"])
      .describe("where its text comes from"),
    ref: promptRef.describe("the blob that holds it"),
    cut_ref: promptRef
      .optional()
      .describe("the blob that holds what was cut of it; the beginning where that is very long"),
  })
  .describe(
    "The source of a section, with what names it: agent, pack, hook, package, subscription, contribution, documents.",
  );

const promptSection = z.object({
  id: z.string(),
  title: z.string(),
  source: sectionSource,
  chars: count,
  tokens_estimate: count.describe("an estimate; the provider's own figure is the run's usage"),
  truncation,
});

const hookSource = z.object({
  hook_id: z.string(),
  package_id: z.string(),
  subscription_id: z.string(),
  contribution_id: z.string(),
  section_id: z.string(),
  contribution_kind: z.literal("prompt_section"),
  priority: z.int(),
  source_count: count,
  truncation,
});

const offeredTool = z.object({
  name: z.string(),
  offered: z.boolean(),
  reason: z.string().optional().describe("why it was not offered"),
  approval: z.enum(["ask"]).optional().describe("somebody is asked before it is called"),
});

export const delivery = z
  .object({
    way: z
      .enum(["system_prompt", "developer_instructions", "message", "already_there", "not_sent"])
      .describe("`not_sent`: an external agent gets only the user's message"),
    session: z.enum(["new", "resumed", "kept"]),
    replayed: count.describe("messages of the past that a new session was told"),
    adds: z.array(z.string()).describe("what the program adds by itself, which Heddle does not see"),
  })
  .describe("How what Heddle had to say reached an agent that is a program.");

export const manifest = z
  .object({
    compiler_version: z.string(),
    step: z.int().min(1),
    agent_id: z.string(),
    provider: z.string(),
    model: z.string(),
    params: z.looseObject({}).describe("model parameters as sent"),
    sections: z.array(promptSection),
    hook_sources: z.array(hookSource),
    message_refs: z.array(promptRef).describe("every message, in the order it was sent"),
    history: z.object({
      messages: count,
      chars: count,
      tokens_estimate: count,
      list_hash: z.string().describe("over the refs of the thread's history up to here"),
    }),
    window: z.object({
      context: count.describe("tokens the model takes in all"),
      reserved: count.describe("kept free for the answer"),
      tokens_estimate: count.describe("of everything that was sent"),
    }),
    stable_prefix_hash: z.string(),
    tools: z.array(offeredTool),
    tools_ref: promptRef.optional().describe("the blob with the tools as offered"),
    dropped: z
      .array(z.object({ message_id: z.string(), limit: z.literal("context_window") }))
      .optional()
      .describe("history that was left out"),
    shadowed: z
      .array(z.object({ source: z.string(), by: z.string(), name: z.string().optional() }))
      .optional()
      .describe("prompt sources that were named and lost to a stronger one"),
    prefix_changed_at: z.string().optional().describe("the first section that differs from the run before"),
    request_hash: z.string(),
    delivery: delivery.optional(),
  })
  .describe("What one step of a run was told and why, without the text itself.");

export const contextMessage = z.object({
  ref: promptRef,
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]),
  section_id: z.string().optional(),
  message_id: z.string().optional().describe("the message of the thread it comes from"),
  tool_calls: z.array(z.looseObject({})).optional(),
  tool_call_id: z.string().optional(),
});

export const sentRequest = z.object({
  url: z.string(),
  body: z.string().describe("the exact text"),
  sha256: z
    .string()
    .optional()
    .describe("of the text as it was sent; absent when the step has not been sent"),
  exact: z.boolean().optional().describe("whether `body`, built again from what was recorded, has that hash"),
});

export const contextResult = z.object({
  step: z.int().min(1),
  messages: z.array(contextMessage),
  request: sentRequest,
  delivery: delivery.optional(),
});

export const blobPutParams = z
  .object({
    text: optionalParam(plainText.min(1)).describe("becomes one message, in canonical JSON"),
    role: optionalParam(z.enum(["system", "developer", "user"])).describe("of the text; default: `system`"),
    messages: optionalParam(z.array(z.looseObject({})).min(1).max(1_000)).describe("one message or several"),
    content_base64: optionalParam(z.base64()).describe("any bytes"),
  })
  .refine(
    ({ text, messages, content_base64 }) =>
      [text, messages, content_base64].filter((given) => given !== undefined).length === 1,
    { error: "needs one of text, messages and content_base64" },
  );

export const blobPutResult = z.object({ ref: promptRef, size: count });

export const blobGetResult = z.object({
  ref: promptRef,
  size: count,
  content_base64: z.string(),
  messages: z.array(z.looseObject({})).optional().describe("when it holds one or several messages"),
});

const packName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "must be letters, digits, dots, dashes and underscores");

export const promptSnapshot = z
  .object({
    workspace: z.string(),
    version: z.string().optional().describe("the commit it was read at; absent: the working tree"),
    root_hash: z.string().describe("over everything the snapshot was made of"),
    index_ref: promptRef.optional(),
    prompt_pack: z.string(),
    prompt_pack_ref: promptRef,
    taken_at: unixSeconds,
  })
  .describe("A prompt pack as it was when it was read.");

const syncError = z.object({ stage: z.string(), reason: z.string(), at: unixSeconds.optional() });

export const promptSyncParams = {
  workspace_id: workspaceId,
  thread_id: optionalParam(threadId).describe("sets that thread's binding too"),
  pack: optionalParam(packName).describe("default: what the index names, else `default`"),
  version: optionalParam(plainText.min(1).max(255)).describe("a git revision; absent: the working tree"),
};

export const promptSyncResult = z.object({
  status: z.enum(["pending", "unchanged", "failed"]),
  pack: z.string(),
  pending: promptSnapshot.optional(),
  active: promptSnapshot.optional(),
  error: syncError.optional(),
});

export const promptApplyMode = optionalParam(z.enum(["next_run", "when_idle"])).describe(
  "`when_idle`: when the run that is under way has ended; default: `next_run`",
);

export const promptApplyResult = z.object({
  pack: z.string(),
  applied: z.boolean(),
  waiting: z.boolean().optional().describe("it will be applied when the run under way ends"),
  active: promptSnapshot.optional(),
  pending: promptSnapshot.optional(),
});

export const packState = z.object({
  pack: z.string(),
  active: promptSnapshot.optional(),
  pending: promptSnapshot.optional(),
  apply: z.enum(["when_idle"]).optional().describe("an apply that waits"),
  error: syncError.optional().describe("why the last sync failed"),
});

export const listedPack = z.object({
  name: z.string(),
  path: z.string(),
  valid: z.boolean(),
  default: z.boolean().optional(),
  error: z.string().optional(),
});

export const toolSyncResult = z.object({
  status: z.enum(["changed", "unchanged", "failed"]),
  count,
  ref: promptRef.optional(),
  error: z.object({ reason: z.string() }).optional(),
});

export const promptChangedNotification = z
  .object({ workspace_id: workspaceId, pack: z.string(), state: packState, seq })
  .describe("A prompt pack was synced or applied, or that failed.");
