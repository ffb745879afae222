import { z } from "zod";

/** What Claude Code writes with `--output-format stream-json`: only what is used of it. */
const blockSchema = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
  content: z.unknown().optional(),
  is_error: z.boolean().nullish(),
});

const ofSubagent = { parent_tool_use_id: z.string().nullish() };

const systemSchema = z.looseObject({
  type: z.literal("system"),
  subtype: z.string(),
  session_id: z.string().optional(),
  tools: z.array(z.string()).optional(),
  content: z.string().optional(),
  attempt: z.number().optional(),
  error_status: z.number().nullish(),
  error: z.unknown().optional(),
});

const streamSchema = z.looseObject({
  type: z.literal("stream_event"),
  ...ofSubagent,
  event: z.looseObject({
    type: z.string(),
    content_block: z
      .looseObject({ type: z.string(), id: z.string().optional(), name: z.string().optional() })
      .optional(),
    delta: z
      .looseObject({
        type: z.string().optional(),
        text: z.string().optional(),
        thinking: z.string().optional(),
        partial_json: z.string().optional(),
      })
      .optional(),
  }),
});

const assistantSchema = z.looseObject({
  type: z.literal("assistant"),
  ...ofSubagent,
  message: z.looseObject({ content: z.array(blockSchema) }),
  is_api_error_message: z.boolean().nullish(),
  error: z.unknown().optional(),
});

const userSchema = z.looseObject({
  type: z.literal("user"),
  ...ofSubagent,
  message: z.looseObject({ content: z.union([z.string(), z.array(blockSchema)]) }),
  tool_use_result: z.unknown().optional(),
});

const count = z.number().nullish();

const resultSchema = z.looseObject({
  type: z.literal("result"),
  subtype: z.string(),
  session_id: z.string().optional(),
  is_error: z.boolean().nullish(),
  result: z.string().nullish(),
  errors: z.array(z.string()).nullish(),
  stop_reason: z.string().nullish(),
  usage: z
    .looseObject({
      input_tokens: count,
      cache_creation_input_tokens: count,
      cache_read_input_tokens: count,
      output_tokens: count,
      output_tokens_details: z.looseObject({ thinking_tokens: count }).nullish(),
    })
    .nullish(),
  /** All models of the turn, those of its subagents included. */
  model_usage_since_last_result: z
    .record(
      z.string(),
      z.looseObject({
        inputTokens: count,
        outputTokens: count,
        cacheReadInputTokens: count,
        cacheCreationInputTokens: count,
        thinkingTokens: count,
      }),
    )
    .nullish(),
});

/** A sign of life of a tool that takes long. */
const progressSchema = z.looseObject({
  type: z.literal("tool_progress"),
  tool_use_id: z.string(),
  ...ofSubagent,
});

const askedSchema = z.looseObject({
  type: z.literal("control_request"),
  request_id: z.string(),
  request: z.looseObject({
    subtype: z.string(),
    tool_name: z.string().optional(),
    tool_use_id: z.string().optional(),
    input: z.unknown().optional(),
    mcp_server: z.looseObject({ name: z.string().optional() }).nullish(),
    permission_suggestions: z.array(z.looseObject({ type: z.string() })).nullish(),
  }),
});

const withdrawnSchema = z.looseObject({
  type: z.literal("control_cancel_request"),
  request_id: z.string(),
});

const answeredSchema = z.looseObject({
  type: z.literal("control_response"),
  response: z.looseObject({
    subtype: z.string(),
    request_id: z.string(),
    response: z.unknown().optional(),
    error: z.unknown().optional(),
  }),
});

const lineSchema = z.discriminatedUnion("type", [
  systemSchema,
  streamSchema,
  assistantSchema,
  userSchema,
  resultSchema,
  progressSchema,
  askedSchema,
  withdrawnSchema,
  answeredSchema,
]);

export type Line = z.infer<typeof lineSchema>;
export type Block = z.infer<typeof blockSchema>;
export type LineOf<T extends Line["type"]> = Extract<Line, { type: T }>;
export type AskedLine = z.infer<typeof askedSchema>;

const known: ReadonlySet<unknown> = new Set(lineSchema.options.map(({ shape }) => shape.type.value));

/** A line as it is meant; `other` for one of a kind that does not matter here; undefined when it is none of its lines. */
export function readLine(text: string): Line | "other" | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || !("type" in value)) return undefined;
  if (!known.has(value.type)) return typeof value.type === "string" ? "other" : undefined;
  return lineSchema.safeParse(value).data;
}
