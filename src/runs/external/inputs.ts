import type { PromptMessage } from "../../providers/index.js";
import type { RunsDeps } from "../deps.js";
import type { RunEvent, RunRequested, RunSteered } from "../fold/events.js";

/** A message as an agent elsewhere is posted it. */
export interface PostedMessage {
  readonly type: "user";
  readonly text: string;
  readonly createdAt: string;
}

/** What people have said since the step before: what one step posts. */
export function inputsOfStep(
  events: readonly RunEvent[],
  step: number,
): readonly (RunRequested | RunSteered)[] {
  let inputs: (RunRequested | RunSteered)[] = [];
  for (const event of events) {
    // One that was edited while it waited takes the place of what it was.
    if (event.type === "run.requested") inputs = [event];
    else if (event.type === "run.steered") inputs.push(event);
    else if (event.type === "prompt.compiled") {
      if (event.step === step) return inputs;
      inputs = [];
    }
  }
  return inputs;
}

export async function messageOf(
  deps: RunsDeps,
  inputs: readonly (RunRequested | RunSteered)[],
): Promise<PostedMessage> {
  const loaded = await deps.texts.load(inputs.map(({ input }) => input));
  const texts = inputs.flatMap(({ input }) => (loaded.get(input)?.messages ?? []).map(textOf));
  return postedMessage(texts.join("\n\n"), inputs.at(-1)?.at ?? 0);
}

export function postedMessage(text: string, at: number): PostedMessage {
  return { type: "user", text, createdAt: new Date(at).toISOString() };
}

/** The connector carries text alone: an image is named where it stood. */
export function textOf({ content }: PromptMessage): string {
  if (typeof content === "string") return content;
  return content
    .flatMap((part) => (part.type === "text" ? [part.text] : part.type === "image" ? ["[image]"] : []))
    .join("\n");
}
