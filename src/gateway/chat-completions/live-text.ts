import type { LiveNote, ThreadsDeps } from "../../threads/index.js";
import { BETWEEN } from "./recorded.js";

type Kind = "text" | "thinking";
export type HearText = (kind: Kind, text: string) => void;

interface Delta {
  readonly run_id: string;
  readonly step: number;
  readonly kind: string;
  readonly id: string;
  readonly text: string;
}

/** What a run says while it says it, as one text. It listens before the run begins: nothing of it is missed. */
export class LiveText {
  readonly #thread_id: string;
  readonly #stop: () => void;
  #held: Delta[] = [];
  #hear: ((delta: Delta) => void) | undefined;
  /** The piece that came last of each kind. */
  readonly #last = new Map<Kind, string>();
  /** All of the text so far. */
  said = "";

  constructor(live: ThreadsDeps["live"], thread_id: string) {
    this.#thread_id = thread_id;
    this.#stop = live.on((note) => this.#note(note));
  }

  follow(run_id: string, hear: HearText): void {
    this.#hear = (delta) => {
      if (delta.run_id === run_id && (delta.kind === "text" || delta.kind === "thinking"))
        hear(delta.kind, this.#joined(delta.kind, delta));
    };
    for (const delta of this.#held.splice(0)) this.#hear(delta);
  }

  stop(): void {
    this.#stop();
    this.#held = [];
    this.#hear = undefined;
  }

  #note({ thread_id, method, params }: LiveNote): void {
    if (thread_id !== this.#thread_id || method !== "run/delta") return;
    const delta = params as Delta;
    if (this.#hear) this.#hear(delta);
    else this.#held.push(delta);
  }

  #joined(kind: Kind, { step, id, text }: Delta): string {
    const piece = `${step} ${id}`;
    const isNew = this.#last.has(kind) && this.#last.get(kind) !== piece;
    this.#last.set(kind, piece);
    const joined = isNew ? BETWEEN + text : text;
    if (kind === "text") this.said += joined;
    return joined;
  }
}
