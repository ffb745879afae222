import { z } from "zod";
import { plainWords } from "../../base/index.js";
import type { RunConfig } from "../../protocol/index.js";
import { chatError } from "./errors.js";

const textPart = z.looseObject({ type: z.enum(["text", "input_text", "output_text"]), text: z.string() });
const refusalPart = z.looseObject({ type: z.literal("refusal"), refusal: z.string() });
const imagePart = z.looseObject({
  type: z.literal("image_url"),
  image_url: z.union([z.string(), z.looseObject({ url: z.string() })]),
});

const content = z.union([
  z.string(),
  z.array(z.discriminatedUnion("type", [textPart, refusalPart, imagePart])),
]);

const toolCall = z.looseObject({
  id: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }).optional(),
});

const message = z.discriminatedUnion("role", [
  z.looseObject({ role: z.enum(["system", "developer"]), content }),
  z.looseObject({ role: z.literal("user"), content }),
  z.looseObject({
    role: z.literal("assistant"),
    content: content.nullish(),
    tool_calls: z.array(toolCall).nullish(),
  }),
  z.looseObject({ role: z.literal("tool"), content, tool_call_id: z.string() }),
]);

const MOST_MESSAGES = 5_000;

const request = z.looseObject({
  model: z.string().min(1),
  messages: z.array(message).min(1).max(MOST_MESSAGES),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.literal(1, "only one answer can be asked for").nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  reasoning_effort: z.string().nullish(),
});

export type ChatMessage = z.output<typeof message>;
export type ChatContent = z.output<typeof content>;

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly config: RunConfig;
  /** What was asked for and is not done. */
  readonly ignored: readonly string[];
}

/** They say nothing about the answer, or are done. */
const UNDERSTOOD = new Set([
  ...Object.keys(request.shape),
  "user",
  "metadata",
  "store",
  "safety_identifier",
  "prompt_cache_key",
]);

/** Reads a request. What has no meaning here is passed over and named; what would change what is meant is refused. */
export function readRequest(body: unknown): ChatRequest {
  const parsed = request.safeParse(body, { error: plainWords });
  if (!parsed.success) throw invalid(parsed.error);
  const { model, messages, stream, stream_options, max_tokens, max_completion_tokens, ...rest } = parsed.data;
  const most = max_completion_tokens ?? max_tokens ?? undefined;
  const effort = rest.reasoning_effort ?? undefined;
  return {
    model,
    messages,
    stream: stream === true,
    includeUsage: stream_options?.include_usage === true,
    config: {
      ...(most !== undefined && { max_tokens: most }),
      ...(effort !== undefined && { reasoning_effort: effort }),
    },
    ignored: Object.entries(rest)
      .filter(([name, value]) => !UNDERSTOOD.has(name) && !isNothing(value))
      .map(([name]) => name),
  };
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0);
}

function invalid({ issues }: z.ZodError) {
  const [first] = issues;
  const param = first?.path.map(String).join(".") ?? "";
  const why = first?.message ?? "it is not a request";
  if (first?.path[0] === "n") return chatError({ kind: "chat.unsupported", param: "n" }, `n: ${why}.`);
  return chatError(
    { kind: "chat.invalid", ...(param !== "" && { param }) },
    `Invalid request: ${param === "" ? "" : `${param}: `}${why}.`,
  );
}
