import { z } from "zod";
import { readConfig } from "./config.js";
import { failedEvent, failureCodes } from "./failure.js";
import { inProcess } from "./in-process.js";
import type { FinishReason, Provider, ProviderEvent } from "./provider.js";
import { answerStepSchema, fragments, Script, turnSchema } from "./script.js";

/** For tests: plays a script, one turn a request. */
export function scripted(given: unknown): Provider {
  const script = new Script(readConfig("scripted", configSchema, given).turns);
  return inProcess("scripted", (request) => {
    const turn = script.next(JSON.stringify(request.messages));
    return turn ? perform(turn.steps) : [outOfTurns];
  });
}

const failStep = z.strictObject({
  fail: z.strictObject({ code: z.enum(failureCodes), message: z.string() }),
});
const stepSchema = z.union([answerStepSchema, failStep]);
const configSchema = z.looseObject({ turns: z.array(turnSchema(stepSchema)) });
type Step = z.infer<typeof stepSchema>;

const outOfTurns = failedEvent({
  code: "provider.bad_request",
  words: "The script has no turn for this request",
  again: false,
});

function* perform(steps: readonly Step[]): Iterable<ProviderEvent | number> {
  let thoughts = 0;
  for (const step of steps) {
    if ("thinking" in step) thoughts += 1;
    yield* eventsOf(step, `thought_${thoughts}`);
  }
  const called = steps.some((step) => "tool_call" in step);
  const reason: FinishReason = called ? "tool_calls" : "stop";
  yield { type: "finish", reason };
}

function* eventsOf(step: Step, thought: string): Iterable<ProviderEvent | number> {
  if ("text" in step) {
    for (const text of fragments(step.text)) yield { type: "text", text };
  } else if ("thinking" in step) yield* thinkingOf(step, thought);
  else if ("tool_call" in step) yield* callOf(step.tool_call);
  else if ("usage" in step) yield { type: "usage", ...(step.usage as Usage) };
  else if ("delay_ms" in step) yield step.delay_ms;
  else if ("hang" in step) yield Number.POSITIVE_INFINITY;
  else if ("finish" in step) yield { type: "finish", reason: step.finish };
  else yield failedEvent({ code: step.fail.code, words: step.fail.message, again: false });
}

type Usage = Omit<Extract<ProviderEvent, { type: "usage" }>, "type">;
type ThinkingStep = Extract<Step, { thinking: unknown }>;
type ToolCall = Extract<Step, { tool_call: unknown }>["tool_call"];

function* thinkingOf({ thinking, signature }: ThinkingStep, id: string): Iterable<ProviderEvent> {
  for (const text of fragments(thinking)) yield { type: "thinking", id, text };
  if (signature) yield { type: "thinking", id, text: "", providerData: { scripted: { signature } } };
}

function* callOf({ id, name, arguments: given }: ToolCall): Iterable<ProviderEvent> {
  for (const text of fragments(given)) yield { type: "tool_input", id, name, text };
  yield { type: "tool_call", id, name, arguments: fragments(given).join("") };
}
