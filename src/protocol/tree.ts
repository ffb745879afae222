import { z } from "zod";
import { agentsDocSummary } from "./agents-doc.js";
import { seq, unixSeconds } from "./common.js";
import { folderId, threadId, workspaceId } from "./ids.js";
import { optionalParam } from "./text.js";
import { threadSetup } from "./threads.js";

export const workspace = z
  .object({
    id: workspaceId,
    name: z.string(),
    root_path: z.string().optional().describe("the project directory it is bound to"),
    created_at: unixSeconds,
    updated_at: unixSeconds,
  })
  .describe("A tree of threads, usually bound to a project directory.");

export const folder = z
  .object({
    id: folderId,
    workspace_id: workspaceId,
    parent_folder_id: folderId.optional(),
    name: z.string(),
    rank: z.int().describe("order among its siblings, lowest first"),
    created_at: unixSeconds,
    updated_at: unixSeconds,
  })
  .describe("A folder of the thread tree.");

export const placement = z
  .object({
    thread_id: threadId,
    workspace_id: workspaceId,
    folder_id: folderId.optional(),
    rank: z.int().describe("order among the threads of its folder, lowest first"),
  })
  .describe("Where a thread stands in the tree; without `folder_id` at the root.");

export const promptRef = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, "must be `sha256:` and 64 lower-case hex digits")
  .describe("names a blob by the hash of its bytes");

export const promptRefs = z
  .array(promptRef)
  .min(1, "must name at least one blob: leave it out, or give null, to use none")
  .max(64);

const bindingVersion = z.string().max(255);

/** What a thread and a run can both set. */
export const sharedConfig = {
  provider: z.string().min(1).max(255),
  model: z.string().min(1).max(255),
  reasoning_effort: z.string().min(1).max(255),
  max_tokens: z.int().min(1),
  workspace_binding: z.object({ workspace: z.string().min(1).max(255), version: bindingVersion.optional() }),
};

const configFields = {
  ...sharedConfig,
  default_prompt_pack: z.string().min(1).max(255),
  default_prompt_refs: promptRefs,
};

export const threadConfig = z
  .object(configFields)
  .partial()
  .describe("A thread's settings; a field that is absent is decided by the agent.");

type Nullable<T> = { [K in keyof T]: T[K] extends z.ZodType ? z.ZodOptional<z.ZodNullable<T[K]>> : never };

/** In a change of `config`, `null` clears a field and an absent one stays as it is. */
export function configPatch<T extends z.ZodRawShape>(fields: T): z.ZodObject<Nullable<T>> {
  const nullable = Object.entries(fields).map(([key, schema]) => [key, (schema as z.ZodType).nullish()]);
  return z.object(Object.fromEntries(nullable) as Nullable<T>);
}

/** In params `null` is the same as absent, also within a binding. */
export const sharedPatch = {
  ...sharedConfig,
  workspace_binding: sharedConfig.workspace_binding.extend({ version: optionalParam(bindingVersion) }),
};

export const threadConfigPatch = configPatch({ ...configFields, ...sharedPatch }).describe(
  "A change of a thread's settings: `null` clears a field.",
);

export const threadStatus = z.enum(["idle", "queued", "running", "waiting"]);

export const thread = z
  .object({
    id: threadId,
    workspace_id: workspaceId,
    folder_id: folderId.optional(),
    title: z.string(),
    agent_id: z.string().describe("id of an agent definition; another program's may be any text"),
    status: threadStatus,
    pinned_at: unixSeconds.optional(),
    last_snippet: z.string().optional(),
    message_count: z.int().min(0),
    created_at: unixSeconds,
    updated_at: unixSeconds,
    worktree: z.object({ path: z.string(), branch: z.string() }).optional(),
    parent_thread_id: threadId.optional(),
    attributes: z.record(z.string(), z.unknown()).optional(),
    config: threadConfig,
    setup: threadSetup.optional(),
    granted_tools: z
      .array(z.string())
      .optional()
      .describe("tools that its agent may call without asking, since somebody said always"),
    read_only: z.string().optional().describe("why nothing can be written to it"),
  })
  .describe("One conversation with one agent.");

const treeChanges = z
  .object({
    folders: z.array(folder),
    threads: z.array(thread),
    placements: z.array(placement),
    agents_docs: z.array(agentsDocSummary),
    removed_ids: z.array(z.string()),
  })
  .partial();

export const treeChangedNotification = z
  .object({ workspace_id: workspaceId, seq, changes: treeChanges.optional() })
  .describe(
    "The tree changed. Without `changes` there were too many to list: read `thread/tree` again, and the messages of threads you show.",
  );
