import { z } from "zod";
import { finishReasons } from "./provider.js";

/** An answer written down beforehand, in no API's words: what the scripted provider and the tests' model server play. */
const textStep = z.strictObject({ text: z.union([z.string(), z.array(z.string())]) });
const thinkingStep = z.strictObject({
  thinking: z.union([z.string(), z.array(z.string())]),
  /** What the server wants back with this thought. */
  signature: z.string().optional(),
});
const toolCallStep = z.strictObject({
  tool_call: z.strictObject({
    id: z.string(),
    name: z.string(),
    /** Fragments of a text that may or may not be JSON. */
    arguments: z.union([z.string(), z.array(z.string())]),
    signature: z.string().optional(),
  }),
});
const usageStep = z.strictObject({
  usage: z.strictObject({
    input: z.number(),
    output: z.number(),
    cached_input: z.number().optional(),
    reasoning: z.number().optional(),
  }),
});
const delayStep = z.strictObject({ delay_ms: z.number() });
/** Says nothing more, until somebody gives up. */
const hangStep = z.strictObject({ hang: z.literal(true) });
const finishStep = z.strictObject({ finish: z.enum(finishReasons) });

export const answerStepSchema = z.union([
  textStep,
  thinkingStep,
  toolCallStep,
  usageStep,
  delayStep,
  hangStep,
  finishStep,
]);

/** One answer. The first turn that has not been played and whose `when` stands in the request is taken. */
export function turnSchema<S extends z.ZodType>(step: S) {
  return z.strictObject({
    when: z.string().optional(),
    /** Played any number of times. */
    repeat: z.boolean().optional(),
    steps: z.array(step),
  });
}

interface Turn {
  readonly when?: string | undefined;
  readonly repeat?: boolean | undefined;
}

/** Deals out turns in order. */
export class Script<T extends Turn> {
  readonly #left: T[];

  constructor(turns: readonly T[]) {
    this.#left = [...turns];
  }

  next(request: string): T | undefined {
    const index = this.#left.findIndex(({ when }) => when === undefined || request.includes(when));
    const turn = this.#left[index];
    if (turn && !turn.repeat) this.#left.splice(index, 1);
    return turn;
  }
}

export function fragments(text: string | readonly string[]): readonly string[] {
  return typeof text === "string" ? [text] : text;
}
