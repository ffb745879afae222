import { paintErr, visible } from "../../output.js";

/** The part of a stream that is written to. */
export interface Out {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

interface ScreenOptions {
  readonly out?: Out;
  readonly err?: Out;
}

/**
 * Shows an answer while it comes: its words on standard output, everything about it on standard error. In a pipe the words
 * go out to the letter; on a terminal nothing in them steers it, and what is said about them stands on lines of its own.
 */
export class Screen {
  readonly #out: Out;
  readonly #err: Out;
  /** Whether both go to a terminal, where one stands below the other. */
  readonly #shared: boolean;
  /** The end of what came, when what follows decides how it is shown. */
  #held = "";
  /** Whether the words, or the thoughts, stopped in the middle of a line. */
  #open: "words" | "thoughts" | undefined;
  #ended = true;
  /** After a line about the answer no empty line is needed to set its words apart. */
  #fresh = false;

  constructor({ out = process.stdout, err = process.stderr }: ScreenOptions = {}) {
    this.#out = out;
    this.#err = err;
    this.#shared = out.isTTY === true && err.isTTY === true;
  }

  /** Words of the answer. */
  say(text: string): void {
    const whole = this.#held + text;
    this.#held = /(?:\r|[\ud800-\udbff])$/.exec(whole)?.[0] ?? "";
    this.#write(whole.slice(0, whole.length - this.#held.length));
  }

  /** What the model thinks, for a person who wants to see it. */
  think(text: string): void {
    if (this.#err.isTTY !== true) return;
    if (this.#open === "words") this.#closeLine();
    this.#err.write(paintErr.dim(harmless(text)));
    this.#open = text.endsWith("\n") ? undefined : "thoughts";
    this.#fresh = this.#shared;
  }

  /** A line about the answer. */
  aside(line: string): void {
    this.#closeLine();
    this.#err.write(`${line}\n`);
    this.#fresh = this.#shared;
  }

  /** The answer is over: its last line ends. */
  end(): void {
    this.#write(this.#held);
    this.#held = "";
    if (this.#open === "thoughts") this.#closeLine();
    if (!this.#ended) this.#out.write("\n");
    this.#ended = true;
    this.#open = undefined;
  }

  #write(text: string): void {
    if (this.#open === "thoughts" && text !== "") this.#closeLine();
    const shown = this.#out.isTTY === true ? harmless(this.#fresh ? text.replace(/^\n+/, "") : text) : text;
    if (shown === "") return;
    this.#out.write(shown);
    this.#ended = shown.endsWith("\n");
    this.#open = this.#ended ? undefined : "words";
    this.#fresh = false;
  }

  /** Where both streams share a terminal, a new line is begun on the one that left the old one open. */
  #closeLine(): void {
    if (this.#open === "thoughts") this.#err.write("\n");
    if (this.#open === "words" && this.#shared) {
      this.#out.write("\n");
      this.#ended = true;
    }
    this.#open = undefined;
  }
}

/** Line ends and tabs are obeyed, everything else that could steer a terminal is shown instead. */
function harmless(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(/[^\n\t]+/g, visible);
}
