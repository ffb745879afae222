import type { Tell } from "../program.js";
import type { Block, LineOf } from "./lines.js";
import { toldName } from "./tool-calls.js";

type StreamEvent = LineOf<"stream_event">["event"];

/**
 * Text and thinking, in fragments as they come. Every block comes whole afterwards too: what was told of it is not told again,
 * and what was not (a block that no stream brought, or whose stream broke) is told then.
 */
export class Streamed {
  readonly #tell: Tell;
  #told: { readonly type: string; text: string }[] = [];
  #call: { readonly id: string; readonly name: string } | undefined;
  #thoughts = 0;

  constructor(tell: Tell) {
    this.#tell = tell;
  }

  hear({ type, content_block, delta }: StreamEvent): void {
    if (type === "message_start") this.#told = [];
    else if (type === "content_block_start" && content_block) this.#begin(content_block);
    else if (type === "content_block_delta" && delta) this.#fragment(delta);
  }

  #begin({ type, id, name }: NonNullable<StreamEvent["content_block"]>): void {
    this.#call = type === "tool_use" && id !== undefined && name !== undefined ? { id, name } : undefined;
    if (type === "thinking") this.#thoughts += 1;
    this.#told.push({ type, text: "" });
  }

  #fragment({ text, thinking, partial_json }: NonNullable<StreamEvent["delta"]>): void {
    const block = this.#told.at(-1);
    if (text) this.#text(text);
    else if (thinking) this.#thought(thinking);
    else if (partial_json && this.#call)
      this.#tell({ type: "tool_input", ...this.#call, name: toldName(this.#call.name), text: partial_json });
    if (block) block.text += text ?? thinking ?? "";
  }

  whole({ type, text, thinking }: Block): void {
    const all = type === "text" ? text : type === "thinking" ? thinking : undefined;
    if (!all) return;
    const told = this.#told.findIndex(
      (one) => one.type === type && one.text !== "" && all.startsWith(one.text),
    );
    const [{ text: already } = { text: "" }] = told === -1 ? [] : this.#told.splice(told, 1);
    const rest = all.slice(already.length);
    if (type === "thinking" && already === "") this.#thoughts += 1;
    if (rest !== "" && type === "text") this.#text(rest);
    else if (rest !== "") this.#thought(rest);
  }

  #text(text: string): void {
    this.#tell({ type: "text", text });
  }

  #thought(text: string): void {
    this.#tell({ type: "thinking", id: `thinking-${this.#thoughts}`, text });
  }
}
