import type { LiveNote } from "../threads/index.js";
import type { SessionKey } from "./session/parts.js";

type Kind = "text" | "thinking" | "tool_input" | "tool_output";

interface Piece {
  readonly step: number;
  readonly kind: Kind;
  readonly id: string;
  text: string;
}

/** What a run says while it says it. Nobody can ask for it later; who comes in the middle gets what came so far. */
export class Live {
  readonly #key: SessionKey;
  readonly #run_id: string;
  readonly #tell: (note: LiveNote) => void;
  #pieces: Piece[] = [];
  /** How each call stands. */
  readonly #tools = new Map<string, object>();
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
    if (text === "") return;
    let piece = this.#pieces.findLast((one) => one.step === this.step && one.kind === kind && one.id === id);
    if (!piece) {
      piece = { step: this.step, kind, id, text: "" };
      this.#pieces.push(piece);
    }
    this.#delta(piece, piece.text.length, text);
    piece.text += text;
  }

  tool(facts: {
    tool_call_id: string;
    name: string;
    status: string;
    output?: string;
    duration_ms?: number;
  }): void {
    const told = { step: this.step, ...facts };
    this.#tools.set(`${this.step} ${facts.tool_call_id}`, told);
    this.#send("run/tool", told);
  }

  /** A message was closed and stands in the log: it need not be told again. */
  forget(): void {
    this.#pieces = [];
    this.#tools.clear();
  }

  /** What came so far, one delta a piece, and how each call stands. */
  soFar(): LiveNote[] {
    const deltas = this.#pieces.map(({ step, kind, id, text }) =>
      this.#note("run/delta", { step, kind, id, offset: 0, text }),
    );
    return [...deltas, ...[...this.#tools.values()].map((told) => this.#note("run/tool", told))];
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
