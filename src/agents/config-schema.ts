import { z } from "zod";
import { userPackageSchema } from "../hooks/index.js";
import { countChars, isStorableText, MAX_NAME_CHARS } from "../protocol/index.js";
import { reasoningEfforts } from "../providers/index.js";

/** The shape of `heddle.config.json`. The problem of a value completes a sentence that begins with its key. */

const text = z.string().refine(isStorableText, {
  error: "has a NUL character or half a character, which can't be kept",
  abort: true,
});
const name = text.refine(
  (given) => given.length > 0 && countChars(given) <= MAX_NAME_CHARS && !/\p{Cc}/u.test(given),
  `must have 1 to ${MAX_NAME_CHARS} characters on one line`,
);
const word = z
  .string()
  .min(1, "must not be empty")
  .max(255, "must have at most 255 characters")
  .refine((given) => !/\p{C}/u.test(given), "has a character that can't be seen");

const globs = z.array(
  z
    .string()
    .min(1, "must not be empty")
    .max(256, "must have at most 256 characters")
    .regex(/^[^!]/, 'must not begin with "!": what is not wanted belongs into the deny list'),
);
const list = globs.nullish();

const tokens = z.int("must be a whole number").min(1, "must be at least 1").max(100_000_000, "is too large");

const headers = z.record(
  z.string().regex(/^[\w-]+$/, "must be the name of a header"),
  z.string().regex(/^[\x20-\x7e]*$/, "has characters that no header can carry"),
);
const variables = z.record(
  z.string().regex(/^[^=\0]+$/, "must be the name of an environment variable"),
  z.string().regex(/^[^\0]*$/, "has a NUL character"),
);
const address = z
  .string()
  .refine(isSafeAddress, "must be an https address, or an http address of this machine");

/** What any provider can be told. Their values are the providers' business; unknown keys are theirs too. */
export const providerOptionsSchema = z.looseObject({
  baseURL: z.string().optional().describe("where the model API is, if not at its own address"),
  apiKey: z.string().optional().describe("better a variable of the environment than the key itself"),
  headers: headers.optional().describe("sent with every request"),
  timeouts: z.unknown().optional().describe("`connectMs`, `firstTokenMs`, `silenceMs`"),
  retry: z.unknown().optional().describe("`retries`, `backoffMs`, `longestWaitMs`"),
  reasoningSummary: z.unknown().optional().describe("`openai`: `auto`, `concise` or `detailed`"),
  includeUsage: z
    .unknown()
    .optional()
    .describe("`openai-compatible`: whether the server can tell token figures"),
  returnThinking: z.unknown().optional().describe("`openai-compatible`: give the model its thoughts back"),
  delayMs: z.unknown().optional().describe("`demo`: milliseconds between two words"),
  turns: z.unknown().optional().describe("`scripted`: what it plays"),
  command: z.string().optional().describe("command-line and ACP agents: the program"),
  args: z.array(z.string()).optional(),
  env: variables.optional(),
  cwd: z.string().optional(),
});

export const chatSchema = z.object({
  provider: word
    .optional()
    .describe(
      "`openai` (default), `openai-compatible`, `anthropic`, `google`, `demo`, a command-line agent or `acp`",
    ),
  model: word.optional(),
  contextWindow: tokens.optional().describe("the tokens the model takes in all"),
  maxTokens: tokens
    .optional()
    .describe("the most tokens of an answer, unless a thread or run says otherwise"),
  reasoningEffort: z.enum(reasoningEfforts).optional(),
  config: providerOptionsSchema.optional(),
});

export const externalSchema = z.object({
  inputUrl: address.describe("where messages are posted to"),
  callbackBaseUrl: address.optional().describe("how this gateway is reached from there"),
  headers: headers.optional(),
});

export const toolApprovalsSchema = z.object({
  allow: globs.default([]).describe("run without asking"),
  ask: globs.default([]),
  deny: globs.default([]),
});

export const agentSchema = z.object({
  agentId: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,128}$/, "must have 1 to 128 letters, digits, dots, dashes or underscores"),
  displayName: name.optional().describe("default: the agentId"),
  description: text.optional().describe("what it is for; other agents read it too"),
  extends: z.string().optional().describe("the agentId whose fields are the defaults of this one"),
  type: z.enum(["chat", "external"]).optional().describe("default: `chat`"),
  chat: chatSchema.optional(),
  external: externalSchema.optional(),
  systemPrompt: text.optional().describe("default: `You are <displayName>. <description>`"),
  toolAllowlist: list.describe("globs of tools; null or absent: no limit, []: none"),
  toolDenylist: list.describe("applied after the allow list"),
  toolExposure: z.enum(["tools", "skills", "mixed"]).optional().describe("default: `tools`"),
  skillAllowlist: list.describe("globs of plugin ids"),
  skillDenylist: list,
  capabilityAllowlist: list.describe("globs of capabilities, such as `lists.*`"),
  capabilityDenylist: list,
  agentAllowlist: list.describe("globs of agents that this one sees and may delegate to"),
  agentDenylist: list,
  toolApprovals: toolApprovalsSchema.optional(),
  ownTools: z.boolean().optional().describe("a program may use tools of its own, which Heddle can't limit"),
  uiVisible: z.boolean().optional().describe("false: not listed, no target of delegation. Default: true"),
  apiExposed: z.boolean().optional().describe("accepted and not used"),
  color: z
    .string()
    .regex(
      /^(#[0-9a-fA-F]{3}|#[0-9a-fA-F]{6}|[a-z]{3,32})$/,
      "must be a colour: `#rgb`, `#rrggbb` or its name",
    )
    .optional(),
});

export const mcpServerSchema = z
  .looseObject({
    type: z.enum(["stdio", "http"]).optional(),
    command: word.optional().describe("a program to start"),
    args: z.array(z.string()).optional(),
    env: variables.optional(),
    cwd: z.string().optional(),
    url: z
      .string()
      .refine((given) => isAddress(given, /^https?:$/), "must be an http or https address")
      .optional()
      .describe("a server to talk to instead"),
    headers: headers.optional(),
    enabled: z.boolean().optional(),
  })
  .refine(
    ({ command, url }) => (command === undefined) !== (url === undefined),
    "needs either command or url",
  );

const pluginSchema = z.looseObject({
  enabled: z.boolean().optional().describe("false: as if it were not there"),
});

const serverName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, "must be 1 to 64 letters, digits, dashes, underscores");
const pluginId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "must be 1 to 128 letters, digits, dots, dashes, underscores");

export const limitsSchema = z.object({
  maxDelegationDepth: z
    .int("must be a whole number")
    .min(0, "must not be negative")
    .max(100, "is too large")
    .default(1),
  maxDelegationHops: z
    .int("must be a whole number")
    .min(0, "must not be negative")
    .max(10_000, "is too large")
    .default(8),
});

export const configSchema = z.object({
  $schema: z.string().optional(),
  agents: z.array(agentSchema).max(1_000, "must have at most 1,000 entries").default([]),
  plugins: z.record(pluginId, pluginSchema).default({}),
  mcpServers: z.record(serverName, mcpServerSchema).default({}),
  hooks: z.array(userPackageSchema).max(1_000, "must have at most 1,000 entries").default([]),
  limits: limitsSchema.prefault({}),
});

export type AgentEntry = z.output<typeof agentSchema>;
export type ConfigEntries = z.output<typeof configSchema>;

function isAddress(given: string, protocol: RegExp): boolean {
  return URL.canParse(given) && protocol.test(new URL(given).protocol);
}

/** What is posted there and what comes back is a conversation: on its way it is encrypted, or stays on this machine. */
export function isSafeAddress(given: string): boolean {
  if (isAddress(given, /^https:$/)) return true;
  return isAddress(given, /^http:$/) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(given).hostname);
}
