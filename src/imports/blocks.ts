import type { Message } from "../atsf/index.js";
import { imageAt, imageBlock } from "./image.js";
import type { Lossy, SourceMessage } from "./session.js";
import { isObject, type Json, kindOf, listOf, numberOf, objectOf, textOf, wordOf } from "./values.js";

export type Block = Message["content"][number];
export type ToolCall = NonNullable<Message["toolCalls"]>[number];

/** A message whose id is still to be given. */
export interface Made {
  readonly message: {
    readonly role: Message["role"];
    readonly timestamp: string;
    readonly content: Block[];
    readonly toolCalls?: ToolCall[];
    readonly stopReason?: string;
    readonly model?: string;
    readonly tokens?: Tokens;
  };
  readonly open: boolean;
}

/** The same with the id that it always gets; undefined when it says nothing. */
export function identified(id: string, { message, open }: Made): SourceMessage | undefined {
  return message.content.length === 0 ? undefined : { message: { id, ...message }, open };
}

/** A time for what has none: the beginning of all times, so that nobody takes it for a real one. */
export const NO_TIME = "1970-01-01T00:00:00.000Z";

const TEXTS = new Set(["text", "input_text", "output_text", "Text"]);
const IMAGES = new Set(["image", "input_image"]);

/** What somebody said: a text, or a list of texts and images in any of the tools' forms. What tools answered is elsewhere. */
export function blocksOf(content: unknown, lossy: Lossy): Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return listOf(content)
    .filter(isObject)
    .flatMap((block): Block[] => {
      const type = wordOf(block.type);
      if (TEXTS.has(type)) return textOf(block.text) ? [{ type: "text", text: wordOf(block.text) }] : [];
      if (IMAGES.has(type)) return imageIn(block, lossy);
      if (type !== "tool_result") lossy.addNamed(otherBlock(type));
      return [];
    });
}

export function otherBlock(type: unknown): string {
  return type === "document" ? "documents" : `blocks of the type ${kindOf(type)}`;
}

function imageIn({ source, data, mimeType, image_url }: Json, lossy: Lossy): Block[] {
  const inner = objectOf(source);
  const image =
    image_url === undefined
      ? imageBlock(data ?? inner.data, mimeType ?? inner.media_type, lossy)
      : imageAt(image_url, lossy);
  return image ? [image as Block] : [];
}

/** What a tool answered: its text, and its images apart, since a call has no place for them. */
export function outputOf(
  content: unknown,
  lossy: Lossy,
): { readonly output: string; readonly images: Block[] } {
  const blocks = blocksOf(content, lossy);
  const texts = blocks.flatMap((block) => (block.type === "text" ? [wordOf(block.text)] : []));
  return { output: texts.join("\n"), images: blocks.filter(({ type }) => type === "image") };
}

/** How much of one answer is taken: in bytes of its source, and in letters of what is made of it. */
export const MOST_OF_ANSWER = 64 * 1024 * 1024;
export const PAST_MOST = "parts of answers past their first 64 MB";

/** An answer as it grows: what was thought, said and asked, in this order. A result that many calls name is no way to more. */
export class Answer {
  readonly content: Block[] = [];
  readonly toolCalls: ToolCall[] = [];
  readonly #lossy: Lossy;
  #size = 0;

  constructor(lossy: Lossy) {
    this.#lossy = lossy;
  }

  say(type: "text" | "thinking", text: unknown): void {
    if (typeof text === "string" && text !== "" && this.#hasRoom(text.length))
      this.content.push({ type, text });
  }

  show(images: readonly Block[]): void {
    for (const image of images) if (this.#hasRoom(sizeOf(image))) this.content.push(image);
  }

  call(call: ToolCall, images: readonly Block[] = []): void {
    if (!this.#hasRoom(sizeOf(call) + sizeOf(call.diff ?? {}))) return;
    this.content.push({ type: "tool_call_ref", toolCallId: call.toolCallId });
    this.toolCalls.push(call);
    this.show(images);
  }

  #hasRoom(size: number): boolean {
    const has = this.#size + size <= MOST_OF_ANSWER;
    if (has) this.#size += size;
    else this.#lossy.add(PAST_MOST);
    return has;
  }

  /** With what else is known of it; what is undefined is left out. */
  message(
    timestamp: string,
    more: { stopReason?: string | undefined; model?: string | undefined; tokens?: Tokens | undefined },
  ): Made["message"] {
    const { content, toolCalls } = this;
    const known = Object.entries(more).filter(([, value]) => value !== undefined);
    return {
      role: "agent",
      timestamp,
      content,
      ...(toolCalls.length > 0 && { toolCalls }),
      ...Object.fromEntries(known),
    };
  }
}

function sizeOf(value: object): number {
  const texts = Object.values(value).filter((each) => typeof each === "string");
  return texts.reduce((size, text) => size + text.length, 0);
}

/** `cachedInput` is a part of `input`. */
export type Tokens = { readonly input: number; readonly output: number; readonly cachedInput?: number };

/** Undefined when nobody counted. */
export function tokensOf(counts: {
  readonly input: number | undefined;
  readonly output: number | undefined;
  /** What is not in `input` yet. */
  readonly besides?: number;
  readonly cached?: number | undefined;
}): Tokens | undefined {
  const { input, output, besides = 0, cached = 0 } = counts;
  if (input === undefined && output === undefined) return undefined;
  // Sums of the largest numbers are none that can be written.
  const whole = numberOf((input ?? 0) + besides) ?? 0;
  return {
    input: whole,
    output: numberOf(output) ?? 0,
    ...(cached > 0 && { cachedInput: numberOf(cached) ?? 0 }),
  };
}
