import type { Message } from "../../../protocol/index.js";

/** A piece of an answer as it comes in, and how much of its step came before it. */
export interface Piece {
  readonly step: number;
  readonly offset: number;
  readonly text: string;
}

/** What a piece adds to what was shown so far. */
export interface Added {
  readonly text: string;
  /** The step was asked again, in other words: what was shown of it does not count. */
  readonly anew?: boolean;
}

interface Step {
  readonly step: number;
  text: string;
}

/**
 * An answer put together from pieces that may come twice. What was missed is not made up: it waits for the thread's log.
 */
export class Answer {
  #steps: Step[] = [];

  /** What is new; undefined when nothing can be shown of it. */
  add({ step, offset, text }: Piece): Added | undefined {
    const last = this.#steps.at(-1);
    if (!last || step > last.step) {
      if (offset > 0 || text === "") return undefined;
      const between = last ? gapAfter(this.text) : "";
      this.#steps.push({ step, text });
      return { text: between + text };
    }
    if (step < last.step || offset > last.text.length) return undefined;
    return extend(last, offset, text);
  }

  get text(): string {
    return joined(this.#steps.map(({ text }) => text));
  }

  /** What the log has beyond what was shown; undefined when the two do not fit. */
  rest(whole: string): string | undefined {
    const shown = this.text;
    if (whole.startsWith(shown)) return whole.slice(shown.length);
    // A gateway that was killed has lost the last moments of what it sent.
    return shown.startsWith(whole) ? "" : undefined;
  }
}

function extend(last: Step, offset: number, text: string): Added | undefined {
  // Looking into a text that grows by a few letters at a time would take the square of its length.
  if (offset === last.text.length) {
    last.text += text;
    return { text };
  }
  const known = last.text.slice(offset, offset + text.length);
  if (!text.startsWith(known)) {
    if (offset > 0) return undefined;
    last.text = text;
    return { text, anew: true };
  }
  const added = text.slice(known.length);
  if (added === "") return undefined;
  last.text += added;
  return { text: added };
}

/** The words of a run's messages, as they would have been shown. Steps of a message end with their tool calls. */
export function answerIn(messages: readonly Pick<Message, "content">[]): string {
  const texts: string[] = [];
  for (const { content } of messages) {
    let text = "";
    for (const block of content) {
      if (block.type === "text" && typeof block.text === "string") text += block.text;
      if (block.type !== "tool_call_ref") continue;
      texts.push(text);
      text = "";
    }
    texts.push(text);
  }
  return joined(texts.filter((text) => text !== ""));
}

function joined(texts: readonly string[]): string {
  let all = "";
  for (const text of texts) all += all === "" ? text : gapAfter(all) + text;
  return all;
}

/** What is said in one step stands apart from the next by an empty line. */
function gapAfter(text: string): string {
  if (text.endsWith("\n\n")) return "";
  return text.endsWith("\n") ? "\n" : "\n\n";
}
