/** Every way in which a request can fail, with what to do about it. */
const advice = {
  "provider.unreachable": "Check the address, the network, and that the server is running.",
  "provider.timeout": "Try again, or allow more time in the provider's `timeouts`.",
  "provider.rate_limited": "Wait a moment and try again.",
  "provider.quota": "Check the plan and the billing of this key.",
  "provider.unauthorized": "Check the API key, and that it may use this model.",
  "provider.not_found": "Check the model's name and the address (`baseURL`).",
  "provider.too_large": "Shorten the conversation, or choose a model with a larger window.",
  "provider.bad_request": "Check the model's name and parameters.",
  "provider.overloaded": "Try again in a while.",
  "provider.server_error": "Try again in a while.",
  "provider.broken_stream": "Try again.",
  "provider.empty_answer": "Try again.",
  "provider.content_type": "Check that the address (`baseURL`) is that of the API.",
  "program.missing": "Install it, or set `chat.config.command` to where it is.",
  "program.signed_out": "Sign in with the program itself, then try again.",
  "program.no_start": "Run the command in a terminal to see why, then try again.",
  "program.silent": "Try again, or allow more time in `chat.config.timeouts`.",
  "program.exited": "Send the message again: it goes to a new session with all that was said.",
  "program.unintelligible":
    "Check that `chat.config.command` is the program that the provider is for, in a version that is known.",
  "program.failed": "Look at what the program says, then try again.",
  "program.unlimited":
    'Say `"ownTools": true` in the agent\'s configuration to let it use them, or take its tool and capability lists away.',
} as const;

export type FailureCode = keyof typeof advice;
export const failureCodes = Object.keys(advice) as readonly FailureCode[];

export type TimeoutPhase = "connect" | "first_token" | "silence";

const final: ReadonlySet<FailureCode> = new Set([
  "provider.quota",
  "provider.unauthorized",
  "provider.not_found",
  "provider.too_large",
  "provider.bad_request",
  "provider.content_type",
  "program.missing",
  "program.signed_out",
  "program.unintelligible",
  "program.unlimited",
]);

export interface FailedEvent {
  readonly type: "failed";
  readonly code: FailureCode;
  /** For people; never holds a key, whatever the server sent back. */
  readonly message: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** The HTTP status, when there was one. */
  readonly status?: number;
  readonly phase?: TimeoutPhase;
}

/** A failure of one attempt. */
export interface AttemptFailure {
  readonly code: FailureCode;
  /** What happened, without a full stop. */
  readonly words: string;
  /** Whether this attempt may be followed by another, as long as no token arrived. */
  readonly again: boolean;
  readonly status?: number | undefined;
  readonly phase?: TimeoutPhase | undefined;
  /** How long the server asks to be left alone. */
  readonly waitMs?: number | undefined;
}

export function failedEvent({ code, words, status, phase }: AttemptFailure): FailedEvent {
  return {
    type: "failed",
    code,
    message: `${words}${/[!?…]$/.test(words) ? "" : "."} ${advice[code]}`,
    retryable: !final.has(code),
    ...(status === undefined ? {} : { status }),
    ...(phase === undefined ? {} : { phase }),
  };
}

/** What a server says about its failure, in a status, in a body, or in the middle of a stream. */
export interface ServerWords {
  readonly status?: number | undefined;
  /** Codes and types, for programs. */
  readonly hint: string;
  readonly message: string;
}

const byHint: readonly (readonly [RegExp, FailureCode])[] = [
  [/insufficient_quota|billing/, "provider.quota"],
  [/context_length|context_size|too_large|prompt_too_long|string_above_max_length/, "provider.too_large"],
  [/authentication|permission|unauthenticated|api_key|invalid_key/, "provider.unauthorized"],
  [/rate_limit|resource_exhausted|too_many_requests/, "provider.rate_limited"],
  [/overload|unavailable/, "provider.overloaded"],
  [/not_found/, "provider.not_found"],
  [/server_error|api_error|internal|timeout|deadline/, "provider.server_error"],
  [/invalid|bad_request|failed_precondition|unsupported/, "provider.bad_request"],
];

/** Some servers tell these two apart in words only. */
const byMessage: readonly (readonly [RegExp, FailureCode])[] = [
  [/credit balance is too low/, "provider.quota"],
  [
    /prompt is too long|maximum context length|exceeds? the (?:available )?context|input token count/,
    "provider.too_large",
  ],
];

const byStatus: Readonly<Record<number, FailureCode>> = {
  401: "provider.unauthorized",
  402: "provider.quota",
  403: "provider.unauthorized",
  404: "provider.not_found",
  408: "provider.server_error",
  413: "provider.too_large",
  425: "provider.server_error",
  429: "provider.rate_limited",
  503: "provider.overloaded",
  529: "provider.overloaded",
};

/** Servers disagree on what a status means, so their own words come first where they say more than it does. */
export function codeOf({ status, hint, message }: ServerWords): FailureCode {
  const said = find(byMessage, message) ?? find(byHint, hint);
  if (status === undefined) return said ?? "provider.server_error";
  if (said === "provider.quota" || said === "provider.too_large") return said;
  if (status >= 500)
    return byStatus[status] ?? (said === "provider.overloaded" ? said : "provider.server_error");
  return byStatus[status] ?? said ?? "provider.bad_request";
}

function find(patterns: typeof byHint, text: string): FailureCode | undefined {
  const lower = text.toLowerCase();
  return patterns.find(([pattern]) => pattern.test(lower))?.[1];
}

/** Whether another attempt may go better. 501 and 505 are what the server is, not how it is doing. */
export function mayPass(code: FailureCode, status?: number): boolean {
  return !final.has(code) && status !== 501 && status !== 505;
}
