import { canonicalJson, contentRef } from "../../base/index.js";
import type { PromptSnapshot } from "../../protocol/index.js";
import type { PromptMessage } from "../../providers/index.js";
import { type Size, sizeOf } from "./tokens.js";

/** Where a base prompt came from. */
export type BaseSource = "run_refs" | "thread_refs" | "prompt_pack" | "agent" | "agent_default" | "default";

export interface Shadowed {
  readonly source: string;
  readonly by: string;
  readonly name?: string;
}

/** Everything that is decided when a run is admitted and never again. Kept as a blob; it holds no secret. */
export interface FrozenConfig {
  readonly agent_id: string;
  readonly agent_name: string;
  readonly provider: string;
  readonly model: string;
  /** Of the provider, without secrets: with them a request can be built again byte for byte. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly params: { readonly max_tokens?: number; readonly reasoning_effort?: string };
  /** Tokens the model takes in all. */
  readonly window: number;
  readonly prompt: {
    readonly source: BaseSource;
    readonly refs: readonly string[];
    readonly pack?: PromptSnapshot;
    readonly shadowed?: readonly Shadowed[];
  };
}

/** A section as a hook contributed it; its text is the blob `ref`. */
export interface SectionInput extends Size {
  readonly section_id: string;
  readonly title: string;
  readonly ref: string;
  readonly truncation: "none" | "hook";
  /** The blob with what was cut: it is for people to read, and told to nobody. */
  readonly cut_ref?: string;
  readonly hook_id: string;
  readonly package_id: string;
  readonly subscription_id: string;
  readonly contribution_id: string;
  readonly priority: number;
  readonly visibility: string;
  readonly source_refs: readonly {
    readonly kind: string;
    readonly id: string;
    readonly version?: number | string;
  }[];
}

export interface ToolInput {
  readonly name: string;
  readonly offered: boolean;
  readonly reason?: string;
  /** Somebody is asked before it is called. */
  readonly approval?: "ask";
}

/** What a run's prompts are compiled from, apart from its history. Kept as a blob: most runs of a thread share one. */
export interface CompileInputs {
  readonly compiler_version: string;
  /** The blob with the `FrozenConfig`. */
  readonly config: string;
  /** The blobs of the base prompt, in order. */
  readonly base: readonly ({ readonly ref: string } & Size)[];
  readonly sections: readonly SectionInput[];
  readonly tools: readonly ToolInput[];
  /** The blob with the tools as they are offered; absent when none is. */
  readonly tools_ref?: string;
  readonly tools_tokens: number;
}

/** A message as a blob holds it. */
export interface EncodedMessage extends Size {
  readonly ref: string;
  readonly hash: string;
  readonly text: string;
  readonly message: PromptMessage;
}

export function encodeMessage(message: PromptMessage): EncodedMessage {
  const text = canonicalJson(message);
  const ref = contentRef(text);
  return { ref, hash: ref.slice("sha256:".length), text, message, ...sizeOf([message]) };
}

/** Something that is kept as JSON under its hash. */
export interface EncodedValue {
  readonly ref: string;
  readonly text: string;
}

export function encodeValue(value: unknown): EncodedValue {
  const text = canonicalJson(value);
  return { ref: contentRef(text), text };
}
