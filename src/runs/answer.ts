import type { RunUsage } from "../protocol/index.js";
import type { PromptMessage, ProviderEvent } from "../providers/index.js";
import type { EffectProgress, ReceiptStatus, RunError } from "./fold/events.js";
import type { Live } from "./live.js";
import type { KeptBlob } from "./session/parts.js";

type Part = Exclude<PromptMessage["content"], string>[number];
type Call = NonNullable<PromptMessage["tool_calls"]>[number];

/** What has come and is not in the journal yet. */
export interface Progress {
  readonly came: Pick<EffectProgress, "text" | "thinking" | "begun" | "ended">;
  readonly blobs?: readonly KeptBlob[];
  /** It could not be kept: it comes before what came since. */
  giveBack(): void;
}

interface Said {
  readonly id: string;
  readonly part: Part & { text: string };
  /** When it began, and how long it took. */
  readonly from: number;
  ms: number;
}

/** What a model says in one step, as it comes. */
export class Answer {
  readonly #live: Live;
  readonly #used: Set<string>;
  readonly #now: () => number;
  readonly #parts: Said[] = [];
  readonly #calls: Call[] = [];
  /** The one that goes on. */
  #thought: Said | undefined;
  #text = "";
  #thinking = "";
  status: ReceiptStatus = "interrupted";
  finish: string | undefined;
  usage: RunUsage | undefined;
  error: RunError | undefined;
  sent: { readonly url: string; readonly body: string | Uint8Array } | undefined;

  /** `used`: the ids of calls so far in this run, which no other call may have. */
  constructor(live: Live, used: Set<string>, now: () => number) {
    this.#live = live;
    this.#used = used;
    this.#now = now;
  }

  take(event: ProviderEvent): void {
    if (event.type !== "thinking") this.endThought();
    switch (event.type) {
      case "request":
        this.sent = { url: event.url, body: event.body };
        return;
      case "text":
        this.#text += event.text;
        this.#add("text", "text", event.text);
        return;
      case "thinking":
        this.#thinking += event.text;
        this.#add("thinking", event.id, event.text, event.providerData);
        return;
      case "tool_input":
        this.#live.add("tool_input", event.id, event.text);
        return;
      case "tool_call":
        this.#call(event);
        return;
      case "usage": {
        const { type: _, ...usage } = event;
        this.usage = usage;
        return;
      }
      case "finish":
        this.status = "ok";
        this.finish = event.reason;
        return;
      case "failed":
        this.status = "failed";
        this.error = { code: event.code, message: event.message };
        return;
      case "aborted":
        this.status = "cancelled";
        return;
      default:
    }
  }

  /** What has come since the last time this was asked. */
  takeProgress(): Progress | undefined {
    const text = this.#text;
    const thinking = this.#thinking;
    if (text === "" && thinking === "") return undefined;
    this.#text = "";
    this.#thinking = "";
    return {
      came: { ...(text !== "" && { text }), ...(thinking !== "" && { thinking }) },
      giveBack: () => {
        this.#text = text + this.#text;
        this.#thinking = thinking + this.#thinking;
      },
    };
  }

  /** How long each thought took, until something else came; in their order in what it said. */
  thoughts(): { thoughts_ms?: readonly number[] } {
    const thoughts = this.#parts.filter(({ part }) => part.type === "thinking" && part.text !== "");
    return thoughts.length === 0 ? {} : { thoughts_ms: thoughts.map(({ ms }) => ms) };
  }

  /** It took until now: something else has come. */
  endThought(): void {
    if (this.#thought) this.#thought.ms = this.#now() - this.#thought.from;
    this.#thought = undefined;
  }

  /** What it has said up to now, without calls. */
  soFar(): PromptMessage | undefined {
    return this.#message([]);
  }

  /** What it said, whole or not; calls count only when the answer came to its end. */
  message(): PromptMessage | undefined {
    return this.#message(this.status === "ok" ? this.#calls : []);
  }

  #message(calls: readonly Call[]): PromptMessage | undefined {
    const said = this.#parts
      .map(({ part }) => part)
      .filter((part) => part.text !== "" || "providerData" in part);
    const parts = calls.length > 0 ? said : withoutLooseEnd(said);
    if (parts.length === 0 && calls.length === 0) return undefined;
    const plain = parts.every(({ type }) => type === "text");
    return {
      role: "assistant",
      content: plain ? parts.map(({ text }) => text).join("") : parts,
      ...(calls.length > 0 && { tool_calls: [...calls] }),
    };
  }

  #add(kind: "text" | "thinking", id: string, text: string, providerData?: unknown): void {
    this.#live.add(kind, id, text);
    const last = this.#parts.findLast((one) => one.id === id && one.part.type === kind);
    const open = kind === "text" ? this.#parts.at(-1) : last;
    const before = open?.part.type === kind ? open : undefined;
    const entry = before ?? { id, part: { type: kind, text: "" } as Said["part"], from: this.#now(), ms: 0 };
    if (!before) this.#parts.push(entry);
    entry.part.text += text;
    if (providerData !== undefined) Object.assign(entry.part, { providerData });
    if (kind === "text" || entry === this.#thought) return;
    this.endThought();
    this.#thought = entry;
  }

  #call({ id, name, arguments: given, providerData }: Extract<ProviderEvent, { type: "tool_call" }>): void {
    this.#calls.push({
      id: this.#ownId(id),
      name: name || "unnamed",
      arguments: given,
      ...(providerData && { providerData }),
    });
  }

  /** Some servers number calls anew in each answer: what somebody says of one must not be taken for another's. */
  #ownId(given: string): string {
    const base = given || "call";
    let id = given === "" ? `${base}_1` : base;
    for (let next = 2; this.#used.has(id); next += 1) id = `${base}_${next}`;
    this.#used.add(id);
    return id;
  }
}

/** Servers refuse a thought that comes back with nothing behind it. It stays as words, without what makes it go back. */
function withoutLooseEnd<P extends Part & { text: string }>(parts: readonly P[]): P[] {
  const last = parts.findLastIndex(({ type }) => type !== "thinking");
  return parts.flatMap((part, at) => {
    if (at <= last) return [part];
    const { providerData: _, ...words } = part;
    return words.text === "" ? [] : [words as P];
  });
}
