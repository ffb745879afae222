import { z } from "zod";
import { parseTime } from "./time.js";

/**
 * The files of the format. Every object is open: fields that are not listed here belong to someone else and are kept.
 */

const isoTime = z.iso.datetime({ offset: true });
const specVersion = z.string().describe('e.g. "1.1"');

const textBlock = z.looseObject({ type: z.enum(["text", "thinking"]), text: z.string() });
const imageBlock = z.looseObject({
  type: z.literal("image"),
  assetRef: z.string().describe("a file in the thread's assets/"),
  mimeType: z.string(),
});
const toolCallRefBlock = z.looseObject({
  type: z.literal("tool_call_ref"),
  toolCallId: z.string(),
  step: z.int().optional(),
});
const KNOWN_BLOCKS = ["text", "thinking", "image", "tool_call_ref"];
const unknownBlock = z.looseObject({
  type: z
    .string()
    .refine((type) => !KNOWN_BLOCKS.includes(type), { error: "lacks a field that blocks of this type have" })
    // A published schema has to say it too, or a text without its text would pass as something unknown.
    .meta({ not: { enum: KNOWN_BLOCKS } }),
});

export const contentBlock = z.union([textBlock, imageBlock, toolCallRefBlock, unknownBlock]);

export const toolCall = z.looseObject({
  toolCallId: z.string(),
  name: z.string(),
  title: z.string().optional(),
  status: z.enum(["pending", "running", "completed", "failed"]),
  input: z.string().optional(),
  output: z.string().optional(),
  duration: z.number().optional(),
  diff: z.looseObject({ path: z.string(), oldText: z.string(), newText: z.string() }).optional(),
});

export const message = z
  .looseObject({
    id: z.string().min(1),
    role: z.enum(["user", "agent", "system"]),
    timestamp: isoTime,
    content: z.array(contentBlock),
    toolCalls: z.array(toolCall).optional(),
    stopReason: z.string().optional(),
    model: z.string().optional(),
    tokens: z.looseObject({ input: z.number().optional(), output: z.number().optional() }).optional(),
  })
  .describe("One line of messages.jsonl.");

const count = z.int().min(0);

export const threadEnvelope = z
  .looseObject({
    specVersion,
    threadId: z.string(),
    title: z.string(),
    createdAt: isoTime,
    updatedAt: isoTime,
    agent: z.looseObject({
      id: z.string(),
      name: z.string(),
      version: z.string().optional(),
      protocol: z.string().optional(),
      protocolVersion: z.number().optional(),
    }),
    context: z.looseObject({
      workingDir: z.string(),
      relativeDir: z.string().optional(),
      gitBranch: z.string().optional(),
      gitCommit: z.string().optional(),
      worktree: z.looseObject({ path: z.string(), branch: z.string() }).optional(),
    }),
    stats: z.looseObject({
      messageCount: count,
      userMessageCount: count,
      agentMessageCount: count,
      toolCallCount: count,
    }),
    metadata: z.looseObject({}).optional(),
  })
  .describe("thread.json: what is known of a thread without reading its log.");

/** Other programs write times in other ways; whoever reads takes any that can be understood. */
const anyTime = z.string().refine((time) => parseTime(time) !== undefined, { error: "is no ISO 8601 time" });
export const readableEnvelope = threadEnvelope.extend({ createdAt: anyTime, updatedAt: anyTime });

export const projectConfig = z
  .looseObject({
    specVersion,
    createdBy: z.looseObject({ name: z.string(), version: z.string() }).optional(),
    defaults: z
      .looseObject({
        agentId: z.string().optional(),
        interactionMode: z.string().optional(),
        useWorktree: z.boolean().optional(),
      })
      .optional(),
    agentSettings: z.record(z.string(), z.unknown()).optional(),
    worktreeHooks: z
      .looseObject({
        symlinks: z.array(z.looseObject({ source: z.string(), target: z.string().optional() })).optional(),
        postSetupCommands: z
          .array(
            z.looseObject({
              command: z.string(),
              label: z.string().optional(),
              timeout: z.number().min(0).optional(),
              continueOnError: z.boolean().optional(),
              platforms: z.array(z.string()).optional(),
            }),
          )
          .optional(),
        initialPrompt: z.string().optional(),
      })
      .optional(),
  })
  .describe("config.json: defaults for the threads of a project. It must not hold secrets.");

export type Message = z.output<typeof message>;
export type ThreadEnvelope = z.output<typeof threadEnvelope>;
export type ProjectConfig = z.output<typeof projectConfig>;
export type ThreadStats = ThreadEnvelope["stats"];
