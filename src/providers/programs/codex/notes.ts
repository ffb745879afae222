import { isDeepStrictEqual } from "node:util";
import { ProgramProblem, type Tell } from "../program.js";
import { type CallItem, callOf, outcomeOf } from "./items.js";
import {
  deltaSchema,
  errorSchema,
  partSchema,
  planSchema,
  progressSchema,
  type TurnError,
  turnSchema,
  usageSchema,
  warningSchema,
  whoseSchema,
  withItemSchema,
} from "./protocol.js";

interface OpenCall {
  readonly name: string;
  readonly arguments: string;
  heard: string;
}

/** How much of a call's output is kept for when codex does not repeat it. */
const MOST_HEARD = 256 * 1024;

/** One turn as codex's notifications tell it. */
export class TurnNotes {
  readonly #threadId: string;
  readonly #tell: Tell;
  readonly #open = new Map<string, OpenCall>();
  /** Messages and thoughts of which something was told. */
  readonly #begun = new Set<string>();
  readonly #usage = { input: 0, output: 0, cached_input: 0, reasoning: 0 };
  #counted = 0;
  #plans = 0;
  /** The message whose words were told last, as long as no call came after them. */
  #speaking: string | undefined;
  #turnId: string | undefined;
  #hasBegun = false;
  #end: (problem?: ProgramProblem) => void = () => {};
  /** Resolves when codex says that the turn is over. */
  readonly ended: Promise<void>;

  constructor(threadId: string, tell: Tell) {
    this.#threadId = threadId;
    this.#tell = tell;
    this.ended = new Promise((resolve, reject) => {
      this.#end = (problem) => (problem ? reject(problem) : resolve());
    });
    this.ended.catch(() => {});
  }

  /** Whether codex has told anything of it. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** A call that has begun and not ended, for who is asked about it. */
  call(id: string): OpenCall | undefined {
    return this.#open.get(id);
  }

  /** The last call that began, of those with such a name; where their arguments tell them apart, the one with these. */
  callNamed(prefix: string, given: unknown): ({ readonly id: string } & OpenCall) | undefined {
    const named = [...this.#open].filter(([, { name }]) => name.startsWith(prefix));
    const same = named.findLast(([, call]) => areSame(call.arguments, given));
    const found = same ?? named.at(-1);
    return found && { id: found[0], ...found[1] };
  }

  fail(problem: ProgramProblem): void {
    this.#end(problem);
  }

  hear(method: string, params: unknown): void {
    const whose = whoseSchema.safeParse(params).data;
    // Agents that codex starts by itself have threads of their own.
    if (whose?.threadId && whose.threadId !== this.#threadId) return;
    if (whose?.turnId && this.#turnId && whose.turnId !== this.#turnId) return;
    this.#readers[method]?.(params);
  }

  readonly #readers: Readonly<Record<string, (params: unknown) => void>> = {
    "turn/started": (params) => {
      this.#turnId ??= turnSchema.parse(params).turn.id;
      this.#begin();
    },
    "turn/completed": (params) => this.#completed(params),
    "turn/plan/updated": (params) => this.#plan(params),
    "item/started": (params) => this.#started(params),
    "item/completed": (params) => this.#done(params),
    "item/agentMessage/delta": (params) => {
      const { itemId, delta } = deltaSchema.parse(params);
      this.#say(itemId, delta);
    },
    "item/reasoning/summaryPartAdded": (params) => {
      const { itemId, summaryIndex } = partSchema.parse(params);
      if (summaryIndex > 0) this.#think(itemId, "\n\n");
    },
    "item/reasoning/summaryTextDelta": (params) => this.#thought(params),
    "item/reasoning/textDelta": (params) => this.#thought(params),
    "item/commandExecution/outputDelta": (params) => this.#output(deltaSchema.parse(params)),
    "item/fileChange/outputDelta": (params) => this.#output(deltaSchema.parse(params)),
    "item/mcpToolCall/progress": (params) => {
      const { itemId, message } = progressSchema.parse(params);
      this.#output({ itemId, delta: `${message}\n` });
    },
    "thread/tokenUsage/updated": (params) => this.#count(params),
    error: (params) => {
      const { error, willRetry } = errorSchema.parse(params);
      if (willRetry) this.#tell({ type: "diagnostic", text: wordsOf(error) });
    },
    warning: (params) => this.#warn(params),
    guardianWarning: (params) => this.#warn(params),
  };

  /** Before it has begun, nothing may have been told. */
  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#tell({ type: "session", id: this.#threadId });
  }

  #started(params: unknown): void {
    const item = withItemSchema.safeParse(params).data?.item;
    if (!item || item.type === "agentMessage" || item.type === "reasoning") return;
    this.#beginCall(item);
  }

  #beginCall(item: CallItem): void {
    if (this.#open.has(item.id)) return;
    const call = callOf(item);
    this.#open.set(item.id, { ...call, heard: "" });
    this.#speaking = undefined;
    this.#tell({ type: "tool_call", id: item.id, ...call });
  }

  #done(params: unknown): void {
    const item = withItemSchema.safeParse(params).data?.item;
    if (!item) return;
    if (item.type === "agentMessage") {
      if (!this.#begun.has(item.id)) this.#say(item.id, item.text);
      return;
    }
    if (item.type === "reasoning") {
      const whole = [...item.summary, ...item.content].join("\n\n");
      if (!this.#begun.has(item.id)) this.#think(item.id, whole);
      return;
    }
    this.#beginCall(item);
    const heard = this.#open.get(item.id)?.heard ?? "";
    this.#open.delete(item.id);
    this.#tell({ type: "tool_result", id: item.id, ...outcomeOf(item, heard) });
  }

  #say(id: string, text: string): void {
    if (text === "") return;
    const apart = this.#speaking !== undefined && this.#speaking !== id ? "\n\n" : "";
    this.#speaking = id;
    this.#begun.add(id);
    this.#tell({ type: "text", text: apart + text });
  }

  #thought(params: unknown): void {
    const { itemId, delta } = deltaSchema.parse(params);
    this.#think(itemId, delta);
  }

  #think(id: string, text: string): void {
    if (text === "") return;
    this.#begun.add(id);
    this.#tell({ type: "thinking", id, text });
  }

  #output({ itemId, delta }: { itemId: string; delta: string }): void {
    const call = this.#open.get(itemId);
    if (!call) return;
    if (call.heard.length < MOST_HEARD) call.heard += delta;
    this.#tell({ type: "tool_output", id: itemId, text: delta });
  }

  #plan(params: unknown): void {
    const { explanation, plan } = planSchema.parse(params);
    this.#plans += 1;
    const id = `plan_${this.#plans}`;
    const given = JSON.stringify({ ...(explanation ? { explanation } : {}), plan });
    this.#speaking = undefined;
    this.#tell({ type: "tool_call", id, name: "plan", arguments: given });
    this.#tell({ type: "tool_result", id, output: "", failed: false });
  }

  #warn(params: unknown): void {
    const text = warningSchema.safeParse(params).data;
    if (text) this.#tell({ type: "diagnostic", text });
  }

  /** Each answer of the model is counted once, however often it is told. */
  #count(params: unknown): void {
    const { total, last } = usageSchema.parse(params).tokenUsage;
    if (total.totalTokens === this.#counted) return;
    this.#counted = total.totalTokens;
    this.#usage.input += last.inputTokens;
    this.#usage.output += last.outputTokens;
    this.#usage.cached_input += last.cachedInputTokens;
    this.#usage.reasoning += last.reasoningOutputTokens;
  }

  #completed(params: unknown): void {
    const { turn } = turnSchema.parse(params);
    if (this.#turnId !== undefined && turn.id !== this.#turnId) return;
    this.#begin();
    for (const [id, { heard }] of this.#open) {
      this.#tell({ type: "tool_result", id, output: `${heard}\n(still running)`.trimStart(), failed: false });
    }
    this.#open.clear();
    if (this.#counted > 0) this.#tell({ type: "usage", ...this.#usage });
    const error = turn.error ?? { message: `ended its turn as ${turn.status}`, codexErrorInfo: null };
    this.#end(turn.status === "completed" ? undefined : problemOf(error));
  }
}

function problemOf(error: TurnError): ProgramProblem {
  const info = JSON.stringify(error.codexErrorInfo ?? null);
  const isKey = info === '"unauthorized"' || info.includes('"httpStatusCode":401');
  return new ProgramProblem(isKey ? "program.signed_out" : "program.failed", wordsOf(error));
}

/** Some servers' answers are passed on as they stand. */
function areSame(written: string, given: unknown): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(written), given);
  } catch {
    // Nested too deep to be written, or to be compared.
    return false;
  }
}

function wordsOf({ message, additionalDetails }: TurnError): string {
  let words = message;
  try {
    const inner = (JSON.parse(message) as { error?: { message?: unknown } }).error?.message;
    if (typeof inner === "string" && inner !== "") words = inner;
  } catch {
    // Words, as they should be.
  }
  return additionalDetails ? `${words} (${additionalDetails})` : words;
}
