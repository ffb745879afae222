import type { FileDiff } from "../providers/index.js";
import type { LiveNote } from "../threads/index.js";
import type { SessionKey } from "./session/parts.js";

type Kind = "text" | "thinking" | "tool_input" | "tool_output";

interface Piece {
  readonly step: number;
  readonly kind: Kind;
  readonly id: string;
  /** UTF-16 units that came before `text` and are not kept. */
  start: number;
  text: string;
  readonly from: number;
  /** Milliseconds until something else came. */
  took?: number;
}

interface ToolFacts {
  readonly tool_call_id: string;
  readonly name: string;
  readonly status: string;
  readonly output?: string;
  readonly duration_ms?: number;
  readonly diffs?: readonly FileDiff[];
}

type Told = Omit<ToolFacts, "diffs"> & { readonly step: number };

/** As much of a tool's output as is kept for who comes later: what it prints has no end. */
const KEPT_OUTPUT = 64 * 1024;
/** As much of a tool's answer as is told to who watches: the message has all of it. */
const SHOWN_OUTPUT = 4_096;
/** As many units of changed files as are told to who watches: the message has all of them. */
const SHOWN_DIFFS = 64 * 1024;

/**
 * What a run says while it says it. Nobody can ask for it later; who comes in the middle gets what came so far: of a tool
 * at work the end of what it printed, of one that has answered only that.
 */
export class Live {
  readonly #key: SessionKey;
  readonly #run_id: string;
  readonly #tell: (note: LiveNote) => void;
  #pieces: Piece[] = [];
  /** How each call stands. */
  readonly #tools = new Map<string, Told>();
  /** The thought that goes on. */
  #thought: Piece | undefined;
  step = 0;

  constructor(key: SessionKey, run_id: string, tell: (note: LiveNote) => void) {
    this.#key = key;
    this.#run_id = run_id;
    this.#tell = tell;
  }

  /** What came of earlier steps is known by then to whoever reads the journal. */
  begin(step: number): void {
    this.step = step;
  }

  add(kind: Kind, id: string, text: string): void {
    if (text === "" || (kind === "tool_output" && this.#hasAnswered(id))) return;
    let piece = this.#pieces.findLast((one) => one.step === this.step && one.kind === kind && one.id === id);
    if (!piece) {
      piece = { step: this.step, kind, id, start: 0, text: "", from: performance.now() };
      this.#pieces.push(piece);
    }
    this.#goesOn(kind === "thinking" ? piece : undefined);
    this.#delta(piece, piece.start + piece.text.length, text);
    piece.text += text;
    // Not at every word: each cut copies what stays.
    if (kind === "tool_output" && piece.text.length > 2 * KEPT_OUTPUT) Object.assign(piece, endOf(piece));
  }

  tool(facts: ToolFacts): void {
    const { output, diffs = [], ...rest } = facts;
    this.#goesOn(undefined);
    const told = {
      step: this.step,
      ...rest,
      ...(output !== undefined && { output: output.slice(0, SHOWN_OUTPUT) }),
      ...shownDiffs(diffs),
    };
    this.#tools.set(`${this.step} ${facts.tool_call_id}`, told);
    this.#send("run/tool", told);
    if (isAnswer(told)) this.#pieces = this.#pieces.filter((piece) => !isOfCall(piece, told));
  }

  /** A message was closed and stands in the log: it need not be told again. */
  forget(): void {
    this.#pieces = [];
    this.#tools.clear();
  }

  /** What came so far, one delta a piece, and how each call stands. */
  soFar(): LiveNote[] {
    const deltas = this.#pieces.map((piece) => {
      const { step, kind, id } = piece;
      const { start, text } = kind === "tool_output" ? endOf(piece) : piece;
      const took = kind === "thinking" && { took_ms: Math.round(piece.took ?? sinceBegan(piece)) };
      return this.#note("run/delta", { step, kind, id, offset: start, text, ...took });
    });
    return [...deltas, ...[...this.#tools.values()].map((told) => this.#note("run/tool", told))];
  }

  /** A thought takes until something else comes. */
  #goesOn(thought: Piece | undefined): void {
    if (this.#thought && this.#thought !== thought) this.#thought.took = sinceBegan(this.#thought);
    this.#thought = thought;
  }

  #hasAnswered(id: string): boolean {
    const told = this.#tools.get(`${this.step} ${id}`);
    return told !== undefined && isAnswer(told);
  }

  #delta({ step, kind, id }: Piece, offset: number, text: string): void {
    this.#send("run/delta", { step, kind, id, offset, text });
  }

  #send(method: "run/delta" | "run/tool", facts: object): void {
    this.#tell(this.#note(method, facts));
  }

  #note(method: "run/delta" | "run/tool", facts: object): LiveNote {
    const { workspace_id, thread_id } = this.#key;
    return {
      workspace_id,
      thread_id,
      method,
      params: { workspace_id, thread_id, run_id: this.#run_id, ...facts },
    };
  }
}

function shownDiffs(diffs: readonly FileDiff[]): { diffs?: object[] } {
  const size = diffs.reduce((sum, { oldText, newText }) => sum + oldText.length + newText.length, 0);
  if (diffs.length === 0 || size > SHOWN_DIFFS) return {};
  return {
    diffs: diffs.map(({ path, oldText, newText }) => ({ path, old_text: oldText, new_text: newText })),
  };
}

function isAnswer({ status }: Pick<ToolFacts, "status">): boolean {
  return status === "completed" || status === "failed";
}

function isOfCall(piece: Piece, { step, tool_call_id }: Told): boolean {
  const { kind } = piece;
  const isCalls = kind === "tool_input" || kind === "tool_output";
  return isCalls && piece.step === step && piece.id === tool_call_id;
}

function sinceBegan({ from }: Piece): number {
  return performance.now() - from;
}

/** The last of it, at its true place; never the second half of a character. */
function endOf({ start, text }: Piece): Pick<Piece, "start" | "text"> {
  const at = Math.max(0, text.length - KEPT_OUTPUT);
  const from = at > 0 && /^[\udc00-\udfff]/.test(text.slice(at, at + 1)) ? at + 1 : at;
  return { start: start + from, text: text.slice(from) };
}
