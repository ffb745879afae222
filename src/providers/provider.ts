import type { FailedEvent, FailureCode } from "./failure.js";
import type { PromptMessage, ProviderData } from "./prompt-message.js";

/**
 * A model, or a program that works by itself with one, behind one interface. It knows nothing of threads or runs: messages
 * in, events out.
 */
export interface Provider {
  readonly id: ProviderId;
  /**
   * Asks the model. Nothing is thrown: what goes wrong is an event. Exactly one `finish`, `failed` or `aborted` is the last
   * event. An abort reaches the socket at once, whether or not anyone is reading; so does leaving the loop.
   */
  generate(request: GenerateRequest, options?: GenerateOptions): AsyncIterable<ProviderEvent>;
  /**
   * The text that `generate` would send, without sending it: the same code up to the socket. The same request gives the
   * same bytes. Throws `provider.inexpressible` for a request the API has no words for.
   */
  prepare(request: GenerateRequest): Promise<SentRequest>;
  /** Loads the code of this provider, which the first request would otherwise wait for. */
  load(): Promise<void>;
  /** Ends what is kept for a `WorkPlace.key`; without one, all of it. Resolves when no process of it is left. */
  release?(key?: string): Promise<void>;
}

export const providerIds = [
  "openai",
  "openai-compatible",
  "anthropic",
  "google",
  "claude-cli",
  "codex-cli",
  "pi-cli",
  "acp",
  "demo",
  "scripted",
] as const;
export type ProviderId = (typeof providerIds)[number];

/** Programs that are agents themselves: they call tools of their own, and need a `WorkPlace`. */
export const programIds = ["claude-cli", "codex-cli", "pi-cli", "acp"] as const;
export type ProgramId = (typeof programIds)[number];

export function isProgram(provider: string): provider is ProgramId {
  return programIds.some((id) => id === provider);
}

/** The model of a program that is left to choose one itself. */
export const OWN_MODEL = "default";

export interface GenerateOptions {
  readonly signal?: AbortSignal | undefined;
  /** Nothing leaves before this has resolved; where it fails, that is thrown. The request is written meanwhile. */
  readonly after?: Promise<unknown> | undefined;
}

export interface GenerateRequest {
  readonly model: string;
  readonly messages: readonly PromptMessage[];
  readonly tools?: readonly ToolSpec[] | undefined;
  readonly params?: ModelParams | undefined;
  /** The same for requests that share a prefix: it helps a server to find its prompt cache. */
  readonly cacheKey?: string | undefined;
  /** For programs; model APIs do not look at it. */
  readonly work?: WorkPlace | undefined;
}

/** Where a program works, with what, and who is asked what it may do. */
export interface WorkPlace {
  /** Whose it is. A process may be kept under it for the next turn, until `release`. */
  readonly key: string;
  /** Absolute. */
  readonly directory: string;
  /** A session whose last turn ended well. Without it, or when the program has lost it, all of `messages` is told anew. */
  readonly session?: WorkSession | undefined;
  /** The tools of the request, over MCP, while the turn lasts. */
  readonly bridge?: Bridge | undefined;
  /** False: the program's own tools are switched off; where that can't be done the turn is refused. */
  readonly ownTools: boolean;
  /** Asks somebody whether the program may do something. It resolves with "deny" when the turn is aborted. */
  ask(asked: AskedPermission): Promise<PermissionAnswer>;
  /** Whether the program waits for something here, such as a tool of the bridge: then its silence says nothing. */
  isAwaited?(): boolean;
}

export interface WorkSession {
  /** As the program named it in a `session` event. */
  readonly id: string;
  /** How many of `messages`, those of the system not counted, it has been told or has said itself. */
  readonly told: number;
  /** `sha256` of the instructions it was begun with, as the `request` event of that turn said. */
  readonly instructions: string;
}

/** How a program reaches the tools: by the address with the token, or by a command that speaks MCP on its standard streams. */
export interface Bridge {
  readonly url: string;
  readonly token: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface AskedPermission {
  /** The call's id where the program names one; the same as in its `tool_call`. */
  readonly id?: string | undefined;
  /** The program's own name for the tool. */
  readonly name: string;
  /** Its arguments, as JSON. */
  readonly arguments: string;
  /** Fires when the program does not want to know any more. */
  readonly signal?: AbortSignal | undefined;
}

export type PermissionAnswer = "allow" | "always" | "deny";

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export const reasoningEfforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ReasoningEffort = (typeof reasoningEfforts)[number];

export interface ModelParams {
  readonly max_tokens?: number | undefined;
  readonly reasoning_effort?: ReasoningEffort | undefined;
  readonly temperature?: number | undefined;
}

export interface SentRequest {
  readonly url: string;
  /** Exactly the text handed to the socket. It never holds a key. */
  readonly body: string;
}

export interface FileDiff {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
}

/** How what Heddle has to say reached a program. */
export interface Delivery {
  /**
   * `system_prompt`, `developer_instructions`: in the program's own place for them. `message`: as a marked block at the head
   * of the message. `already_there`: the session has them, unchanged, from its beginning. `not_sent`: not at all, as to an
   * agent elsewhere.
   */
  readonly way: "system_prompt" | "developer_instructions" | "message" | "already_there" | "not_sent";
  /** `kept`: the process of the turn before went on. `resumed`: by another process. `new`: `replayed` says what it was told. */
  readonly session: "new" | "resumed" | "kept";
  /** Messages of the past that a new session was told. */
  readonly replayed: number;
  /** `sha256` of the instructions. */
  readonly instructions: string;
  /** What the program adds by itself, in words for people. */
  readonly adds: readonly string[];
}

export const finishReasons = ["stop", "length", "tool_calls", "content_filter", "other"] as const;
export type FinishReason = (typeof finishReasons)[number];

export type ProviderEvent =
  /**
   * Once, before anything is awaited from the server, however often the request is repeated. A program that turns out to
   * have lost its session is handed over everything anew, with another one. Nothing is sent before the next event is asked
   * for, so whoever reads can make it durable first.
   */
  | {
      readonly type: "request";
      readonly delivery?: Delivery;
      readonly url: string;
      /** As `SentRequest.body`, or the same in UTF-8 where it was written in bytes. */
      readonly body: string | Uint8Array;
    }
  | { readonly type: "text"; readonly text: string }
  /** A fragment of the block `id`. The last `providerData` of a block belongs into the part that is sent back. */
  | {
      readonly type: "thinking";
      readonly id: string;
      readonly text: string;
      readonly providerData?: ProviderData;
    }
  /** A fragment of a call's arguments, for showing; `tool_call` holds them whole. */
  | { readonly type: "tool_input"; readonly id: string; readonly name: string; readonly text: string }
  /** The arguments are the model's text: they may be no JSON, and the name may be that of no tool. */
  | {
      readonly type: "tool_call";
      readonly id: string;
      readonly name: string;
      readonly arguments: string;
      readonly providerData?: ProviderData;
    }
  /** Programs only: what a tool writes while it runs, for showing. */
  | { readonly type: "tool_output"; readonly id: string; readonly text: string }
  /** Programs only, who call tools themselves: what came of the `tool_call` with this id. */
  | {
      readonly type: "tool_result";
      readonly id: string;
      readonly output: string;
      readonly failed: boolean;
      readonly duration_ms?: number;
      readonly diffs?: readonly FileDiff[];
    }
  /** Programs only: under which name the session can be resumed, once the turn has ended with `finish`. */
  | { readonly type: "session"; readonly id: string }
  /** Programs only: something it said that is no part of its answer. */
  | { readonly type: "diagnostic"; readonly text: string }
  /** Absent when the server does not tell. `cached_input` is a part of `input`, `reasoning` a part of `output`. */
  | {
      readonly type: "usage";
      readonly input: number;
      readonly output: number;
      readonly cached_input?: number;
      readonly reasoning?: number;
    }
  | {
      readonly type: "retrying";
      /** The attempt that failed, from 1. */
      readonly attempt: number;
      readonly after_ms: number;
      readonly code: FailureCode;
      readonly reason: string;
    }
  | { readonly type: "finish"; readonly reason: FinishReason; readonly raw?: string }
  | FailedEvent
  | { readonly type: "aborted" };
