import { canonicalJson, sha256 } from "../../base/index.js";
import type { PromptMessage } from "../../providers/index.js";
import { promptsError } from "../errors.js";
import { type EncodedMessage, encodeMessage } from "./inputs.js";
import type { Prefix } from "./prefix.js";

/** Raised when the same request would be written in other words. */
const SERIALISER_VERSION = "1";

/** A message of the history, with the sums up to and with it. */
export interface HistoryEntry {
  readonly role: string;
  readonly chars: number;
  readonly tokens: number;
}

/** The history as the compiler sees it: positions from 0, `at` for those from `start` on. */
export interface HistoryView {
  /** What came before has left in an earlier step. */
  readonly start: number;
  readonly to: number;
  /** Over all messages up to `to`. */
  readonly list_hash: string;
  /** Where the turn of the new message begins. */
  readonly turn: number;
  /** The entry at a position; that before `start` too, for its sums. */
  at(position: number): HistoryEntry;
}

/** What one step sends, by reference. */
export interface CompiledStep {
  /** The first message of the history that is sent. */
  readonly from: number;
  readonly to: number;
  readonly list_hash: string;
  readonly chars: number;
  readonly tokens: number;
  /** Stands for what has left. */
  readonly marker?: EncodedMessage;
  /** Of everything that is sent. */
  readonly tokens_estimate: number;
  readonly request_hash: string;
}

/** Once something has to leave, so much leaves that the next turns fit too: the prefix stays the same for a while. */
const FILL_AFTER_CUT = 0.7;

/** Pure: the same prefix and history give the same step, byte for byte. */
export function compileStep(prefix: Prefix, history: HistoryView): CompiledStep {
  const from = windowStart(prefix, history);
  const marker = from > 0 ? encodeMessage(leftOut(from)) : undefined;
  const { to, list_hash } = history;
  const size = between(history, from, to);
  const { provider, model, params, tools_ref, refs } = prefix;
  const messages = { refs, marker: marker?.ref, from, to, list_hash };
  const request = { serialiser: SERIALISER_VERSION, provider, model, params, tools: tools_ref, messages };
  return {
    from,
    to,
    list_hash,
    ...size,
    ...(marker && { marker }),
    tokens_estimate: prefix.tokens + size.tokens + (marker?.tokens ?? 0),
    request_hash: sha256(canonicalJson(request)),
  };
}

/** Where the history begins so that all of it fits: the oldest whole turns leave, the new message's turn never does. */
function windowStart(prefix: Prefix, history: HistoryView): number {
  const room = prefix.context - prefix.reserved - prefix.tokens;
  const weigh = (from: number) => between(history, from, history.to).tokens + (from > 0 ? MARKER_TOKENS : 0);
  if (weigh(history.start) <= room) return history.start;
  const wanted = Math.floor((prefix.context - prefix.reserved) * FILL_AFTER_CUT) - prefix.tokens;
  let from = history.start;
  for (let at = from + 1; at <= history.turn && weigh(from) > wanted; at++) {
    // Where nothing new is asked, no message stands at the turn.
    if (at === history.turn || history.at(at).role === "user") from = at;
  }
  if (weigh(from) <= room) return from;
  throw promptsError(
    {
      kind: "prompt.too_large",
      tokens: prefix.tokens + weigh(from),
      limit: prefix.context - prefix.reserved,
    },
    `The prompt does not fit the model: about ${prefix.tokens + weigh(from)} tokens, where ${prefix.context - prefix.reserved} are free, and nothing more can be left out. Shorten the message or the instructions, or use a model with a larger window.`,
  );
}

const MARKER_TOKENS = 40;

function between(history: HistoryView, from: number, to: number): { chars: number; tokens: number } {
  const upTo = (position: number) => (position === 0 ? { chars: 0, tokens: 0 } : history.at(position - 1));
  const begin = upTo(from);
  const end = upTo(to);
  return { chars: end.chars - begin.chars, tokens: end.tokens - begin.tokens };
}

function leftOut(count: number): PromptMessage {
  const messages = count === 1 ? "1 earlier message" : `${count} earlier messages`;
  return {
    role: "system",
    content: `[${messages} of this conversation left out to fit the model's context window]`,
  };
}
