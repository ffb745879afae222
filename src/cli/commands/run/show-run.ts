import type { Run } from "../../../protocol/index.js";
import { oneLine } from "../../message-text.js";
import { paintErr } from "../../output.js";
import { Answer } from "./answer.js";
import type { Delta, RunWatcher, ToolTold } from "./follow.js";
import type { Screen } from "./screen.js";

interface ShowOptions {
  readonly thinking?: boolean;
  readonly json?: boolean;
}

/** More of what a tool was given does not fit on its line. */
const SHOWN_INPUT = 200;

/** Shows a run while it goes on. With `--json` nothing is shown, and only what came is kept. */
export class ShowRun implements RunWatcher {
  readonly answer = new Answer();
  /** Whether words may have been said that nobody heard here. */
  missed = false;
  readonly #screen: Screen;
  readonly #options: ShowOptions;
  readonly #inputs = new Map<string, string>();
  readonly #thoughts = new Map<string, number>();
  readonly #begun = new Set<string>();
  #status: Run["status"] | undefined;

  constructor(screen: Screen, options: ShowOptions) {
    this.#screen = screen;
    this.#options = options;
  }

  delta({ kind, step, id, offset, text }: Delta): void {
    if (kind === "text") this.#said({ step, offset, text });
    else if (kind === "thinking") this.#thought(`${step} ${id}`, offset, text);
    else if (kind === "tool_input" && offset < SHOWN_INPUT)
      this.#inputs.set(id, (this.#inputs.get(id) ?? "").slice(0, offset) + text);
  }

  tool({ tool_call_id, name, status, output = "" }: ToolTold): void {
    // A program is at a call before and after somebody was asked about it.
    const isNews = !this.#begun.has(tool_call_id);
    if (status === "running") this.#begun.add(tool_call_id);
    if (status === "running" && isNews)
      this.aside(`[tool] ${oneLine(`${name} ${this.#inputs.get(tool_call_id) ?? ""}`)}`);
    else if (status === "failed") this.aside(`[tool] ${oneLine(name)} failed: ${oneLine(output)}`);
  }

  changed({ status }: Run): void {
    if (status === this.#status) return;
    this.#status = status;
    if (status === "queued")
      this.aside("Another run is under way in this thread; this one waits for its turn.");
  }

  connection(state: "lost" | "back"): void {
    this.missed = true;
    const what = state === "lost" ? "was lost; waiting for it to come back" : "is back";
    this.aside(`The connection to the gateway ${what}.`);
  }

  /** A line about the run, set apart from its words. */
  aside(line: string): void {
    if (!this.#options.json) this.#screen.aside(paintErr.dim(line));
  }

  #said(piece: { step: number; offset: number; text: string }): void {
    const added = this.answer.add(piece);
    if (!added || this.#options.json) return;
    if (added.anew) {
      this.#screen.end();
      this.aside("The gateway was started anew and asked the model again: the answer begins again.");
    }
    this.#screen.say(added.text);
  }

  #thought(id: string, offset: number, text: string): void {
    const shown = this.#thoughts.get(id) ?? 0;
    if (!this.#options.thinking || this.#options.json || offset > shown) return;
    const added = text.slice(shown - offset);
    if (added === "") return;
    this.#thoughts.set(id, shown + added.length);
    this.#screen.think(added);
  }
}
