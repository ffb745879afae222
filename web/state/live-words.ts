import type { NotificationParams } from "../../src/protocol/index.js";

export interface LiveSaid {
  readonly kind: "text" | "thinking";
  readonly step: number;
  readonly text: string;
  /** When it began and, once something else came, ended: milliseconds. */
  readonly from: number;
  readonly to?: number | undefined;
}

export interface LiveCall {
  readonly kind: "call";
  readonly step: number;
  readonly id: string;
  /** Empty while only its arguments are being written. */
  readonly name: string;
  readonly input: string;
  readonly output: string;
  readonly status: "preparing" | "waiting" | "running" | "completed" | "failed";
  readonly duration_ms?: number | undefined;
  readonly diffs?: Tool["diffs"];
  readonly from: number;
}

export type LivePart = LiveSaid | LiveCall;

type Delta = NotificationParams<"run/delta">;
type Tool = NotificationParams<"run/tool">;

/** As much of a tool's output as is kept to be shown while it works. */
const KEPT_OUTPUT = 64 * 1024;

/** Where a part stands: by step, and within it by stretch. */
interface Spot {
  readonly step: number;
  readonly stretch: number;
}

/**
 * One run's words in the order its message will have them: of each stretch what is said, then what is called. A stretch
 * ends with its step, or when every call of it has its answer and something more is said.
 */
export class LiveWords {
  #parts: LivePart[] = [];
  /** Of each part. */
  #spots: Spot[] = [];
  /** The last stretch of each step. */
  readonly #stretches = new Map<number, number>();
  /** Units heard of each block. */
  readonly #lengths = new Map<string, number>();

  parts(): readonly LivePart[] {
    return [...this.#parts];
  }

  /** False when a piece before this one is missing. */
  delta({ step, kind, id, offset, text, took_ms = 0 }: Delta): boolean {
    const block = `${step} ${kind} ${id}`;
    const known = this.#lengths.get(block) ?? 0;
    if (offset > known && kind !== "tool_output") return false;
    const fresh = offset > known ? text : text.slice(known - offset);
    if (fresh === "") return true;
    this.#lengths.set(block, offset + text.length);
    if (kind === "text" || kind === "thinking")
      this.#say(kind, { step, text: fresh, from: Date.now() - took_ms });
    else this.#write(kind, step, id, fresh);
    return true;
  }

  tool({ step, tool_call_id, name, status, output, duration_ms, diffs }: Tool): void {
    const at = this.#callAt(step, tool_call_id, name);
    const before = this.#parts[at] as LiveCall;
    // What was heard last may be told again to who follows anew.
    if (isOver(before) && !isOver({ status })) return;
    const now = { name, id: tool_call_id, status, duration_ms, diffs: diffs ?? before.diffs };
    this.#parts[at] = { ...before, ...now, output: output ?? before.output };
    this.#endSaying();
  }

  /** Whether a call has a name but no arguments: who came later was not told them. */
  lacksInput(step: number, id: string): boolean {
    return this.#find(step, id)?.input === "";
  }

  /** All of a call's arguments, read elsewhere. */
  setInput(step: number, id: string, input: string): void {
    const call = this.#find(step, id);
    if (call?.input === "") this.#parts[this.#parts.indexOf(call)] = { ...call, input };
  }

  #find(step: number, id: string): LiveCall | undefined {
    return this.#parts.findLast(
      (part): part is LiveCall => part.kind === "call" && part.step === step && part.id === id,
    );
  }

  #say(kind: LiveSaid["kind"], { step, text, from }: Omit<LiveSaid, "kind">): void {
    const spot = this.#spotFor(step);
    const last = this.#lastSaid(spot);
    const before = this.#parts[last];
    if (before?.kind === kind) {
      this.#parts[last] = { ...before, text: before.text + text };
      return;
    }
    this.#endSaying();
    // A program's text goes on as one after its calls, with a gap between that its message does not have.
    const said = spot.stretch > 0 && last < 0 ? text.replace(/^\n+/, "") : text;
    const firstCall = this.#spots.findIndex((each) => !isBefore(each, spot));
    const place = last >= 0 ? last + 1 : firstCall >= 0 ? firstCall : this.#parts.length;
    this.#insert(place, { kind, step, text: said, from }, spot);
  }

  #write(kind: "tool_input" | "tool_output", step: number, id: string, text: string): void {
    const at = this.#callAt(step, id, "");
    const call = this.#parts[at] as LiveCall;
    if (isOver(call)) return;
    this.#parts[at] =
      kind === "tool_input"
        ? { ...call, input: call.input + text }
        : { ...call, output: (call.output + text).slice(-KEPT_OUTPUT) };
    this.#endSaying();
  }

  /** Where what is said now belongs: to a new stretch, if all calls of the last one have their answers. */
  #spotFor(step: number): Spot {
    const stretch = this.#stretches.get(step) ?? 0;
    const calls = this.#parts.filter(
      (part, at): part is LiveCall =>
        part.kind === "call" && part.step === step && this.#spots[at]?.stretch === stretch,
    );
    const next = calls.length > 0 && calls.every(isOver) ? stretch + 1 : stretch;
    this.#stretches.set(step, next);
    return { step, stretch: next };
  }

  /** Where this call stands; it is added if nobody has heard of it. */
  #callAt(step: number, id: string, name: string): number {
    const isIt = (part: LivePart) => part.kind === "call" && part.step === step && part.id === id;
    const known = this.#parts.findLastIndex(isIt);
    if (known >= 0) return known;
    // The gateway gives a call another id where the model has used that one before.
    const renamed = this.#parts.findLastIndex(
      (part) =>
        part.kind === "call" && part.step === step && part.name === "" && id.startsWith(`${part.id}_`),
    );
    if (renamed >= 0 && name !== "") return renamed;
    const spot = { step, stretch: this.#stretches.get(step) ?? 0 };
    const place = this.#spots.findLastIndex((each) => !isBefore(spot, each)) + 1;
    const call = { kind: "call", step, id, name, input: "", output: "", status: "preparing" } as const;
    this.#insert(place, { ...call, from: Date.now() }, spot);
    return place;
  }

  #insert(place: number, part: LivePart, spot: Spot): void {
    this.#parts.splice(place, 0, part);
    this.#spots.splice(place, 0, spot);
  }

  #lastSaid({ step, stretch }: Spot): number {
    return this.#parts.findLastIndex((part, at) => {
      const spot = this.#spots[at];
      return part.kind !== "call" && spot?.step === step && spot.stretch === stretch;
    });
  }

  #endSaying(): void {
    for (const [at, part] of this.#parts.entries()) {
      if (part.kind !== "call" && part.to === undefined) this.#parts[at] = { ...part, to: Date.now() };
    }
  }
}

function isBefore(a: Spot, b: Spot): boolean {
  return a.step < b.step || (a.step === b.step && a.stretch < b.stretch);
}

function isOver({ status }: { readonly status: string }): boolean {
  return status === "completed" || status === "failed";
}
