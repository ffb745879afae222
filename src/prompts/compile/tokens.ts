import type { PromptMessage } from "../../providers/index.js";

/** Characters of plain text to a token: a little fewer than models need, so that an estimate is rather too high. */
const CHARS_PER_TOKEN = 3.5;
const MESSAGE_TOKENS = 4;
const IMAGE_TOKENS = 1_500;

export interface Size {
  /** Code points. */
  readonly chars: number;
  /** An estimate, the same for the same text. */
  readonly tokens: number;
}

/** What messages weigh. No model's own counting: it is near for all of them and exact for none. */
export function sizeOf(messages: readonly PromptMessage[]): Size {
  let chars = 0;
  let tokens = 0;
  for (const message of messages) {
    tokens += MESSAGE_TOKENS;
    for (const text of textsOf(message)) {
      const size = sizeOfText(text);
      chars += size.chars;
      tokens += size.tokens;
    }
    if (typeof message.content !== "string") {
      tokens += IMAGE_TOKENS * message.content.filter(({ type }) => type === "image").length;
    }
  }
  return { chars, tokens };
}

function textsOf({ content, tool_calls = [] }: PromptMessage): string[] {
  const said =
    typeof content === "string"
      ? [content]
      : content.flatMap((part) => (part.type === "image" ? [] : [part.text]));
  return [...said, ...tool_calls.flatMap(({ name, arguments: given }) => [name, given])];
}

/** Outside ASCII a character is about a token. */
export function sizeOfText(text: string): Size {
  let plain = 0;
  let other = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) plain++;
    // The second half of a pair belongs to the character before it.
    else if (unit < 0xdc00 || unit > 0xdfff) other++;
  }
  return { chars: plain + other, tokens: Math.ceil(plain / CHARS_PER_TOKEN + other) };
}
