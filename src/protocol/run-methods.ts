import { z } from "zod";
import * as agents from "./agents.js";
import { panelEventParams } from "./artifacts.js";
import { page, pageParams } from "./common.js";
import { agentId, runId, threadId, workspaceId } from "./ids.js";
import { inWorkspace, method, ofThread, someWorkspace } from "./method.js";
import * as prompts from "./prompts.js";
import * as runs from "./runs.js";
import { optionalParam, plainText } from "./text.js";
import { message } from "./threads.js";
import { promptRef, thread, threadConfigPatch } from "./tree.js";

const ofRun = { workspace_id: someWorkspace, run_id: runId };
const runResult = z.object({ run: runs.run });
const step = optionalParam(z.int().min(1)).describe("from 1; default: the last");
const started = z.object({ run: runs.run, message });

/** Methods around runs: what is asked, what was told, and what they are made of. */
export const runMethods = {
  "run/start": method(
    "Asks the thread's agent. Answers once the run is durable; a busy thread queues it.",
    z.object({
      ...ofThread,
      content: runs.runContent,
      config: optionalParam(runs.runConfigPatch),
      idempotency_key: runs.idempotencyKey,
    }),
    started,
  ),
  "run/get": method(
    "One run; with a tool call's id also that call, whole; of one that waits also what it will be asked.",
    z.object({
      ...ofRun,
      tool_call_id: optionalParam(plainText.min(1).max(255)),
      with_content: optionalParam(z.boolean()).describe("of a queued run: answer its `content` too"),
    }),
    runResult.extend({
      call: runs.askedCall.optional(),
      content: runs.runContent.optional().describe("all that a queued run will be asked, images included"),
    }),
  ),
  "run/list": method(
    "Runs of a workspace or a thread, most recently updated (or created) first.",
    z.object({
      ...inWorkspace,
      thread_id: optionalParam(threadId),
      status: optionalParam(z.array(runs.runStatus).min(1)).describe("only runs in one of these"),
      tree_of: optionalParam(runId).describe("only this run and what was delegated from it, at any depth"),
      order: optionalParam(z.enum(["updated", "created"])),
      ...pageParams,
    }),
    page(runs.run),
  ),
  "run/cancel": method(
    "Stops a run and keeps what it said; a queued one is removed, a finished one answered unchanged.",
    z.object(ofRun),
    runResult,
  ),
  "run/steer": method(
    "Gives a running run another message, which it gets with its next step.",
    z.object({ ...ofRun, content: runs.runContent }),
    started,
  ),
  "run/update": method(
    "Edits a queued run: it is admitted anew, in its place.",
    z.object({
      ...ofRun,
      content: optionalParam(runs.runContent),
      config: optionalParam(runs.runConfigPatch),
    }),
    started,
  ),
  "run/approve": method(
    "Answers a tool call that waits: once, or always for this tool in this thread.",
    z.object({
      ...ofRun,
      tool_call_id: plainText.min(1).max(255),
      decision: runs.approvalDecision,
    }),
    runResult,
  ),
  "run/manifest": method(
    "What a step was told and why, section by section, without the text.",
    z.object({ ...ofRun, step }),
    z.object({ manifest: prompts.manifest }),
  ),
  "run/context": method(
    "The messages of a step and the exact text that was sent.",
    z.object({ ...ofRun, step }),
    prompts.contextResult,
  ),
  "run/preview": method(
    "The manifest and context of what would be sent now. Nothing is sent or kept.",
    z.object({
      ...ofThread,
      content: optionalParam(runs.runContent),
      config: optionalParam(runs.runConfigPatch),
    }),
    prompts.contextResult.extend({ manifest: prompts.manifest }),
  ),
  "run/journal": method(
    "The events of a run, in order.",
    z.object({ ...ofRun, ...pageParams }),
    page(runs.journalEvent),
  ),
  "run/replay": method(
    "Proves a run: its journal and blobs are whole, its state follows from its events, its prompts from their inputs.",
    z.object(ofRun),
    runs.replayResult,
  ),
  "thread/switch": method(
    "Opens a thread, or an agent's latest or a new one; sends it a message and remembers where to go back to.",
    z
      .object({
        workspace_id: optionalParam(workspaceId).describe("needed with `agent_id`"),
        agent_id: optionalParam(agentId),
        thread_id: optionalParam(threadId),
        message: optionalParam(runs.runContent),
        return_to: optionalParam(threadId).describe(
          "the thread that was left; a new one is placed beside it",
        ),
      })
      .refine(({ agent_id, thread_id }) => (agent_id === undefined) !== (thread_id === undefined), {
        error: "needs agent_id or thread_id, and not both",
      })
      .refine(({ agent_id, workspace_id }) => agent_id === undefined || workspace_id !== undefined, {
        error: "needs workspace_id with agent_id",
      }),
    z.object({ thread, created: z.boolean(), run: runs.run.optional() }),
  ),
  "thread/fork": method(
    "A new thread with the messages up to one of them, for another agent, model or prompt.",
    z.object({
      ...ofThread,
      message_id: optionalParam(z.string().min(1).max(255)).describe(
        "the last to take along; default: the last",
      ),
      agent_id: optionalParam(agentId),
      config: optionalParam(threadConfigPatch),
    }),
    z.object({ thread }),
  ),

  "blob/put": method(
    "Keeps bytes under the hash of their content. What nothing refers to is kept for 24 hours after it was last put.",
    prompts.blobPutParams,
    prompts.blobPutResult,
  ),
  "blob/get": method(
    "Bytes by their hash, checked against it.",
    z.object({ ref: promptRef }),
    prompts.blobGetResult,
  ),
  "prompt/packs": method(
    "The prompt packs in a workspace's directory.",
    z.object({ ...inWorkspace, version: prompts.promptSyncParams.version }),
    z.object({ data: z.array(prompts.listedPack) }),
  ),
  "prompt/sync": method(
    "Reads a prompt pack into a pending snapshot. Nothing uses it until it is applied.",
    z.object(prompts.promptSyncParams),
    prompts.promptSyncResult,
  ),
  "prompt/apply": method(
    "Makes a pack's pending snapshot the active one. A run under way keeps what it began with.",
    z.object({
      ...inWorkspace,
      thread_id: optionalParam(threadId),
      pack: prompts.promptSyncParams.pack,
      mode: prompts.promptApplyMode,
    }),
    prompts.promptApplyResult,
  ),
  "prompt/status": method(
    "What is active and pending of each pack, and why the last sync failed.",
    z.object({
      ...inWorkspace,
      thread_id: optionalParam(threadId).describe("only the pack this thread uses"),
      pack: prompts.promptSyncParams.pack,
    }),
    z.object({ data: z.array(prompts.packState) }),
  ),
  "workspace/sync": method(
    "Syncs the prompt pack and the tools of a workspace side by side.",
    z.object(prompts.promptSyncParams),
    z.object({ prompt: prompts.promptSyncResult, tools: prompts.toolSyncResult }),
  ),

  "agent/list": method(
    "The agents there are, and whether each can be used.",
    z.object({
      workspace_id: optionalParam(workspaceId).describe("with those that its project names"),
      include_hidden: optionalParam(z.boolean()),
      look_again: optionalParam(z.boolean()).describe(
        "looks on this machine first, and not once a minute only",
      ),
    }),
    z.object({
      data: z.array(agents.agent),
      problem: z
        .string()
        .optional()
        .describe("why the last edit of the configuration is not in effect: what stood there before is"),
      config_file: z
        .string()
        .optional()
        .describe("where the configuration is, or would be, on the gateway's machine"),
    }),
  ),
  "agent/get": method(
    "One agent, with its limits.",
    z.object({ workspace_id: optionalParam(workspaceId), agent_id: agentId }),
    z.object({ agent: agents.agentDetails }),
  ),
  "tool/list": method(
    "Tools; with a thread, which of them its agent may use and why not the others.",
    z.object({ ...inWorkspace, thread_id: optionalParam(threadId) }),
    z.object({ data: z.array(agents.tool), servers: z.array(agents.toolServer).optional() }),
  ),
  "tool/call": method(
    "Calls a tool; with a thread, within its agent's scope.",
    z.object({
      ...inWorkspace,
      thread_id: optionalParam(threadId),
      name: plainText.min(1).max(128),
      arguments: optionalParam(z.looseObject({})),
    }),
    agents.toolResult,
  ),
  "panel/event": method(
    "Tells which panels a window shows. They are forgotten when its connection ends.",
    z.object({ workspace_id: optionalParam(workspaceId), ...panelEventParams }),
    z.object({ accepted: z.boolean() }),
  ),
  "hook/list": method(
    "Installed hook packages, their subscriptions and last failures.",
    z.object({}),
    z.object({ data: z.array(agents.hookPackage) }),
  ),
} as const;
