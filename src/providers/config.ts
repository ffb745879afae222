import { z } from "zod";
import { plainWords } from "../base/index.js";
import { providerError } from "./errors.js";
import type { ProviderId } from "./provider.js";

/** How a model API is reached. */
export interface HttpConfig {
  readonly baseURL: string;
  readonly apiKey?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: Timeouts;
  readonly retry: RetryPolicy;
}

export interface Timeouts {
  /** Until the connection stands, TLS included. */
  readonly connectMs: number;
  /** From asking to the first token, thinking included. */
  readonly firstTokenMs: number;
  /** Between two events after that. Comments that keep a connection open are no events. */
  readonly silenceMs: number;
}

export interface RetryPolicy {
  /** Attempts after the first. */
  readonly retries: number;
  readonly backoffMs: number;
  /** No wait is longer, whatever the server asks for. */
  readonly longestWaitMs: number;
}

const milliseconds = z.number().int().min(1).max(3_600_000);

export const httpConfigSchema = z.looseObject({
  baseURL: z
    .string()
    .refine(isPlainAddress, "must be an http or https address without credentials, query or fragment"),
  apiKey: z
    .string()
    .regex(/^[\x21-\x7e]*$/, "must not hold spaces, line ends or other characters that no header can carry")
    .optional(),
  headers: z
    .record(z.string().regex(/^[\w-]+$/, "must be the name of a header"), z.string().regex(/^[\x20-\x7e]*$/))
    .default({}),
  timeouts: z
    .looseObject({
      connectMs: milliseconds.default(10_000),
      firstTokenMs: milliseconds.default(300_000),
      silenceMs: milliseconds.default(300_000),
    })
    .prefault({}),
  retry: z
    .looseObject({
      retries: z.number().int().min(0).max(20).default(3),
      backoffMs: milliseconds.default(500),
      longestWaitMs: milliseconds.default(60_000),
    })
    .prefault({}),
});

/** Reads the configuration of one provider, or says which key is wrong. Values are never repeated: they may be secrets. */
export function readConfig<S extends z.ZodType>(
  provider: ProviderId,
  schema: S,
  given: unknown,
): z.output<S> {
  const read = schema.safeParse(given ?? {}, { error: plainWords });
  if (read.success) return read.data;
  const { path, message } = read.error.issues[0] as z.core.$ZodIssue;
  const key = path.map(String).join(".");
  throw providerError(
    { kind: "provider.invalid_config", provider, key, problem: message },
    `The configuration of the provider ${provider} is wrong: ${key || "it"}: ${message}.`,
  );
}

/** A key is needed at the API's own address; who sets another one may have a server that wants none. */
export function needKey<C extends HttpConfig>(provider: ProviderId, config: C, ownAddress: string): C {
  if (!config.apiKey && config.baseURL === ownAddress) {
    throw providerError(
      { kind: "provider.missing_key", provider },
      `The provider ${provider} needs an API key: set \`apiKey\` in its configuration.`,
    );
  }
  return config;
}

function isPlainAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === "" && !/[?#]/.test(text);
}
