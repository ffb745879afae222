import { sha256 } from "../../base/index.js";
import type { PromptMessage } from "../../providers/index.js";
import type { HistoryRow } from "../../store/index.js";
import type { EncodedMessage } from "../compile/inputs.js";

/** A message as a thread's agent was told it. */
export interface Told {
  readonly hash: string;
  readonly list_hash: string;
  readonly role: string;
  /** Sums up to and with this one. */
  readonly chars: number;
  readonly tokens: number;
  readonly message_id: string;
  readonly message: PromptMessage;
  /** Of its blob. */
  readonly bytes: number;
}

/** A message that is to be told next. */
export interface ToTell {
  readonly encoded: EncodedMessage;
  readonly message_id: string;
}

/** Where a list ends: what the next message adds to. */
export interface ListEnd {
  readonly length: number;
  readonly list_hash: string;
  readonly chars: number;
  readonly tokens: number;
}

export const EMPTY_LIST: ListEnd = { length: 0, list_hash: "", chars: 0, tokens: 0 };

/** Adds messages behind the end of a list. A list is never built or hashed again: only what is new is. */
export function tell(end: ListEnd, messages: readonly ToTell[]): Told[] {
  let { list_hash, chars, tokens } = end;
  return messages.map(({ encoded, message_id }) => {
    list_hash = listHash(list_hash, encoded.hash);
    chars += encoded.chars;
    tokens += encoded.tokens;
    const { hash, message } = encoded;
    return {
      hash,
      list_hash,
      role: message.role,
      chars,
      tokens,
      message_id,
      message,
      bytes: encoded.text.length,
    };
  });
}

function listHash(before: string, hash: string): string {
  return sha256(`${before}${hash}`);
}

export function endOf(told: Pick<HistoryRow, "pos" | "list_hash" | "chars" | "tokens"> | undefined): ListEnd {
  if (!told) return EMPTY_LIST;
  const { pos, list_hash, chars, tokens } = told;
  return { length: pos + 1, list_hash, chars, tokens };
}
