import type { InitializeRequest, McpServer } from "@agentclientprotocol/sdk";
import { z } from "zod";
import { VERSION } from "../../../base/index.js";
import type { Bridge } from "../../provider.js";

/**
 * What an agent says, read leniently: only what is needed, and what is not understood is as if it had not been said. An
 * agent is another program of another age.
 */
const text = z.string();
const maybe = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);
const listOf = <T extends z.ZodType>(schema: T) =>
  z
    .array(z.unknown())
    .catch([])
    .transform((all) => all.flatMap((one) => schema.safeParse(one).data ?? []) as z.output<T>[]);

const flag = z.boolean().catch(false);
const offered = z
  .unknown()
  .optional()
  .transform((value) => value !== undefined && value !== null && value !== false);

export const initializedSchema = z.object({
  protocolVersion: z.number(),
  agentInfo: maybe(z.object({ name: text, version: maybe(text) })),
  authMethods: listOf(z.object({ name: text, description: maybe(text) })),
  agentCapabilities: z
    .object({
      loadSession: flag,
      promptCapabilities: z.object({ image: flag }).catch({ image: false }),
      mcpCapabilities: z.object({ http: flag }).catch({ http: false }),
      sessionCapabilities: z.object({ resume: offered }).catch({ resume: false }),
    })
    .catch({
      loadSession: false,
      promptCapabilities: { image: false },
      mcpCapabilities: { http: false },
      sessionCapabilities: { resume: false },
    }),
});
export type Initialized = z.output<typeof initializedSchema>;

const valueSchema = z.object({ value: text });
const groupSchema = z.object({ options: listOf(valueSchema) }).transform(({ options }) => options);
const optionSchema = z.object({
  id: text,
  category: maybe(text),
  currentValue: text,
  options: listOf(z.union([valueSchema.transform((one) => [one]), groupSchema])),
});

/** What can be chosen in a session. Older agents tell it as `models` and `modes`, newer ones as options. */
export const sessionSchema = z.object({
  sessionId: maybe(text.min(1)),
  models: maybe(z.object({ currentModelId: text, availableModels: listOf(z.object({ modelId: text })) })),
  modes: maybe(z.object({ currentModeId: text, availableModes: listOf(z.object({ id: text })) })),
  configOptions: listOf(optionSchema),
});
export type SessionSaid = z.output<typeof sessionSchema>;

const blockSchema = z.looseObject({ type: text, text: maybe(text), uri: maybe(text), name: maybe(text) });
export type Block = z.output<typeof blockSchema>;

const contentSchema = z.union([
  z.object({ type: z.literal("content"), content: blockSchema }),
  z.object({ type: z.literal("diff"), path: text, oldText: text.nullish(), newText: text }),
]);
export type CallContent = z.output<typeof contentSchema>;

export const callSchema = z.looseObject({
  toolCallId: text,
  title: maybe(text),
  kind: maybe(text),
  status: maybe(text),
  content: maybe(z.array(z.unknown()).transform((all) => listOf(contentSchema).parse(all))),
  locations: maybe(listOf(z.object({ path: text }))),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
  _meta: z.unknown().optional(),
});
export type CallSaid = z.output<typeof callSchema>;

export const updateSchema = z.object({
  sessionId: text,
  update: z.looseObject({ sessionUpdate: text }),
});
export const chunkSchema = z.object({ content: blockSchema, messageId: maybe(text) });
export const planSchema = z.object({
  entries: listOf(z.object({ content: text, status: maybe(text), priority: maybe(text) })),
});

export const permissionSchema = z.object({
  sessionId: text,
  toolCall: callSchema,
  options: listOf(z.object({ optionId: text, kind: text })),
});
export type PermissionOptions = z.output<typeof permissionSchema>["options"];

const count = z.number().nonnegative();
const usageSchema = z.object({
  totalTokens: count,
  inputTokens: count,
  outputTokens: count,
  thoughtTokens: maybe(count),
  cachedReadTokens: maybe(count),
  cachedWriteTokens: maybe(count),
});
export type UsageSaid = z.output<typeof usageSchema>;

export const promptedSchema = z.object({
  stopReason: text,
  usage: maybe(usageSchema),
  _meta: maybe(
    z.object({ quota: z.object({ token_count: z.object({ input_tokens: count, output_tokens: count }) }) }),
  ),
});

/** Neither files nor terminals are offered: the agent uses its own, and asks. */
export const hello: InitializeRequest = {
  protocolVersion: 1,
  clientCapabilities: {},
  clientInfo: { name: "heddle", title: "Heddle", version: VERSION },
};

export function mcpServers(bridge: Bridge | undefined, { agentCapabilities }: Initialized): McpServer[] {
  if (!bridge) return [];
  const { url, token, command, args, env } = bridge;
  if (agentCapabilities.mcpCapabilities.http) {
    const headers = [{ name: "Authorization", value: `Bearer ${token}` }];
    return [{ type: "http", name: "heddle", url, headers }];
  }
  const given = Object.entries(env).map(([name, value]) => ({ name, value }));
  return [{ name: "heddle", command, args: [...args], env: given }];
}
