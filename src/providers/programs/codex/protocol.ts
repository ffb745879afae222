import { z } from "zod";

/** What Heddle reads of the app-server's messages; whatever else they hold, and messages of other kinds, is passed over. */

export const messageSchema = z
  .looseObject({
    id: z.union([z.string(), z.number()]).optional(),
    method: z.string().optional(),
    params: z.unknown().optional(),
    result: z.unknown().optional(),
    error: z.looseObject({ message: z.string() }).optional(),
  })
  .refine(({ id, method }) => id !== undefined || method !== undefined);

export const initializedSchema = z.looseObject({ userAgent: z.string() });

export const accountSchema = z.looseObject({
  account: z.unknown(),
  requiresOpenaiAuth: z.boolean(),
});

export const configSchema = z.looseObject({
  config: z.looseObject({ mcp_servers: z.record(z.string(), z.unknown()).nullish() }),
});

export const openedSchema = z.looseObject({
  thread: z.looseObject({ id: z.string().min(1), threadSource: z.string().nullish() }),
  approvalPolicy: z.unknown(),
});

/** Whose a notification is. */
export const whoseSchema = z.looseObject({ threadId: z.string().nullish(), turnId: z.string().nullish() });

const counted = z.number().catch(0);
export const usageSchema = z.looseObject({
  tokenUsage: z.looseObject({
    total: z.looseObject({ totalTokens: counted }),
    last: z.looseObject({
      inputTokens: counted,
      cachedInputTokens: counted,
      outputTokens: counted,
      reasoningOutputTokens: counted,
    }),
  }),
});

export const turnErrorSchema = z.looseObject({
  message: z.string(),
  codexErrorInfo: z.unknown(),
  additionalDetails: z.string().nullish(),
});
export type TurnError = z.infer<typeof turnErrorSchema>;

export const turnSchema = z.looseObject({
  turn: z.looseObject({ id: z.string(), status: z.string(), error: turnErrorSchema.nullish() }),
});

export const errorSchema = z.looseObject({ error: turnErrorSchema, willRetry: z.boolean() });
export const deltaSchema = z.looseObject({ itemId: z.string(), delta: z.string() });
export const partSchema = z.looseObject({ itemId: z.string(), summaryIndex: z.number() });
export const progressSchema = z.looseObject({ itemId: z.string(), message: z.string() });
export const planSchema = z.looseObject({ explanation: z.string().nullish(), plan: z.array(z.unknown()) });
export const warningSchema = z.union([
  z.looseObject({ message: z.string() }).transform(({ message }) => message),
  z.looseObject({ summary: z.string() }).transform(({ summary }) => summary),
]);

const changeSchema = z.looseObject({
  path: z.string(),
  kind: z.looseObject({ type: z.string(), move_path: z.string().nullish() }),
  diff: z.string(),
});
export type Change = z.infer<typeof changeSchema>;

const status = z.string().catch("");
const durationMs = z.number().nullish();

const itemSchema = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("agentMessage"), id: z.string(), text: z.string() }),
  z.looseObject({
    type: z.literal("reasoning"),
    id: z.string(),
    summary: z.array(z.string()),
    content: z.array(z.string()),
  }),
  z.looseObject({
    type: z.literal("commandExecution"),
    id: z.string(),
    command: z.string(),
    cwd: z.string().nullish(),
    status,
    aggregatedOutput: z.string().nullish(),
    exitCode: z.number().nullish(),
    durationMs,
  }),
  z.looseObject({
    type: z.literal("fileChange"),
    id: z.string(),
    changes: z.array(changeSchema),
    status,
  }),
  z.looseObject({
    type: z.literal("mcpToolCall"),
    id: z.string(),
    server: z.string(),
    tool: z.string(),
    status,
    arguments: z.unknown(),
    result: z.looseObject({ content: z.array(z.unknown()) }).nullish(),
    error: z.looseObject({ message: z.string() }).nullish(),
    durationMs,
  }),
  z.looseObject({
    type: z.literal("collabAgentToolCall"),
    id: z.string(),
    tool: z.string(),
    prompt: z.string().nullish(),
    status,
  }),
  z.looseObject({ type: z.literal("webSearch"), id: z.string(), query: z.string() }),
  z.looseObject({ type: z.literal("imageView"), id: z.string(), path: z.string() }),
  z.looseObject({ type: z.literal("imageGeneration"), id: z.string(), status }),
]);
export type Item = z.infer<typeof itemSchema>;
export type ItemOf<T extends Item["type"]> = Extract<Item, { type: T }>;

export const withItemSchema = z.looseObject({ item: itemSchema });

export const approvalSchema = z.looseObject({
  itemId: z.string(),
  kind: z.string().nullish(),
  command: z.string().nullish(),
  cwd: z.string().nullish(),
  reason: z.string().nullish(),
});

export const elicitationSchema = z.looseObject({
  serverName: z.string(),
  _meta: z.looseObject({ codex_approval_kind: z.string().nullish(), tool_params: z.unknown() }).nullish(),
});
