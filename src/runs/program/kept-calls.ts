import { encodeMessage, encodeValue } from "../../prompts/index.js";
import type { PromptMessage } from "../../providers/index.js";
import type { Progress } from "../answer.js";
import type { EndedCall } from "../fold/events.js";
import type { KeptBlob } from "../session/parts.js";
import { type Call, type Result, resultOf, type WorkedResult } from "./stretch.js";

/** Which calls of a stretch that is not over stand in the journal: a gateway that is killed meanwhile has not lost them. */
export class KeptCalls {
  readonly #begun = new Set<string>();
  readonly #ended = new Set<string>();

  /** What is not kept yet, each once. */
  take(calls: readonly Call[], results: ReadonlyMap<string, Result>): Progress | undefined {
    const begun = calls.filter(({ id }) => !this.#begun.has(id));
    const ended = calls.filter(({ id }) => results.has(id) && !this.#ended.has(id));
    if (begun.length === 0 && ended.length === 0) return undefined;
    for (const { id } of begun) this.#begun.add(id);
    for (const { id } of ended) this.#ended.add(id);
    const asked = begun.map(askedIn).map(encodeMessage);
    const answered = ended.map((call) => encodeEnded(resultOf(call, results.get(call.id))));
    return {
      came: {
        ...(asked.length > 0 && { begun: asked.map(({ ref }) => ref) }),
        ...(answered.length > 0 && { ended: answered.map(({ event }) => event) }),
      },
      blobs: [...asked, ...answered.flatMap(({ blobs }) => blobs)],
      giveBack: () => {
        for (const { id } of begun) this.#begun.delete(id);
        for (const { id } of ended) this.#ended.delete(id);
      },
    };
  }
}

function askedIn(call: Call): PromptMessage {
  return { role: "assistant", content: "", tool_calls: [call] };
}

function encodeEnded({ message, call, diffs }: WorkedResult): { event: EndedCall; blobs: KeptBlob[] } {
  const encoded = encodeMessage(message);
  return {
    event: { ...call, message: encoded.ref },
    blobs: [encoded, ...(diffs ? [encodeValue(diffs)] : [])],
  };
}

export function joined(one: Progress, other: Progress): Progress {
  return {
    came: { ...one.came, ...other.came },
    blobs: [...(one.blobs ?? []), ...(other.blobs ?? [])],
    giveBack: () => {
      one.giveBack();
      other.giveBack();
    },
  };
}
