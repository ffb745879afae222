import type { Message } from "../../../src/protocol/index.js";
import type { LivePart } from "../../state/live.js";

export interface FileChange {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
}

export interface Call {
  readonly id: string;
  /** Empty while its arguments are being written. */
  readonly name: string;
  /** As the model wrote them, JSON as a rule. */
  readonly input: string;
  readonly output: string;
  readonly status: "preparing" | "waiting" | "running" | "completed" | "failed";
  readonly duration?: number | undefined;
  /** When it began: milliseconds, while it is live. */
  readonly from?: number | undefined;
  readonly changes: readonly FileChange[];
}

/** A piece of an agent's turn, in the order it came. Keys are the same while it is said and when it stands in the log. */
export type Part =
  | { readonly kind: "text"; readonly key: string; readonly text: string; readonly open: boolean }
  | {
      readonly kind: "thinking";
      readonly key: string;
      readonly text: string;
      readonly open: boolean;
      readonly ms?: number | undefined;
    }
  | { readonly kind: "call"; readonly key: string; readonly call: Call }
  | { readonly kind: "image"; readonly key: string; readonly asset: string; readonly mime: string }
  | { readonly kind: "other"; readonly key: string; readonly text: string };

type Loose = Readonly<Record<string, unknown>>;

const number = (value: unknown) => (typeof value === "number" ? value : undefined);
const text = (value: unknown) => (typeof value === "string" ? value : "");

/** What a message of an agent consists of. A call that no block names comes last. */
export function partsOfMessage(message: Message): Part[] {
  const calls = new Map((message.toolCalls ?? []).map((call) => [text(call.toolCallId), callOf(call)]));
  const took = thinkingTimes(message);
  const parts = message.content.flatMap((block, at): Part[] => partOf(block, `${at}`, calls, took));
  return [...parts, ...[...calls.values()].map((call) => ({ kind: "call" as const, key: call.id, call }))];
}

/** How long thoughts took, by their blocks' places, where the gateway noted it. */
function thinkingTimes({ heddle }: Message): Loose {
  return ((heddle as Loose | undefined)?.thinkingMs ?? {}) as Loose;
}

function partOf(block: Loose, key: string, calls: Map<string, Call>, took: Loose): Part[] {
  switch (block.type) {
    case "text":
      return text(block.text).trim() === ""
        ? []
        : [{ kind: "text", key, text: text(block.text), open: false }];
    case "thinking":
      return text(block.text).trim() === ""
        ? []
        : [{ kind: "thinking", key, text: text(block.text), open: false, ms: number(took[key]) }];
    case "tool_call_ref": {
      const id = text(block.toolCallId);
      const call = calls.get(id);
      calls.delete(id);
      return call ? [{ kind: "call", key: id, call }] : [];
    }
    case "image":
      return [{ kind: "image", key, asset: text(block.assetRef), mime: text(block.mimeType) }];
    default:
      return [{ kind: "other", key, text: JSON.stringify(block, null, 2) }];
  }
}

function callOf(call: Loose): Call {
  const { status, duration, input, output } = call;
  const many = Array.isArray(call.diffs) ? call.diffs : call.diff ? [call.diff] : [];
  return {
    id: text(call.toolCallId),
    name: text(call.name) || "unnamed",
    input: typeof input === "string" ? input : input === undefined ? "" : JSON.stringify(input),
    output: typeof output === "string" ? output : output === undefined ? "" : JSON.stringify(output, null, 2),
    status: status === "completed" ? "completed" : "failed",
    ...(typeof duration === "number" && { duration }),
    changes: many.flatMap(changeOf),
  };
}

function changeOf(value: unknown): FileChange[] {
  const { path, oldText, newText } = (value ?? {}) as Loose;
  return [{ path: text(path), oldText: text(oldText), newText: text(newText) }];
}

const made = new WeakMap<LivePart, Part>();

/** What is being said, as its message will have it. A part that did not change is the same object as before. */
export function partsOfLive(live: readonly LivePart[], goesOn: boolean): Part[] {
  return live.map((part, at): Part => {
    const open = goesOn && at === live.length - 1;
    const before = made.get(part);
    if (before && (before.kind === "call" || ("open" in before && before.open === open))) return before;
    const now = partOfLive(part, `${at}`, open);
    made.set(part, now);
    return now;
  });
}

function partOfLive(part: LivePart, key: string, open: boolean): Part {
  if (part.kind === "call") {
    const { id, name, input, output, status, duration_ms, from, diffs = [] } = part;
    const changes = diffs.map(({ path, old_text, new_text }) => ({
      path,
      oldText: old_text,
      newText: new_text,
    }));
    const call = { id, name, input, output, status, duration: duration_ms, from, changes };
    return { kind: "call", key: id, call };
  }
  const { kind, text: said, from, to } = part;
  if (kind === "text") return { kind, key, text: said, open };
  return {
    kind,
    key,
    text: said,
    open: to === undefined && open,
    ms: to === undefined ? undefined : to - from,
  };
}

/** The words of a message, without thoughts and calls. */
export function wordsOf(message: Message): string {
  return message.content
    .flatMap((block) => (block.type === "text" && typeof block.text === "string" ? [block.text] : []))
    .join("\n\n");
}
