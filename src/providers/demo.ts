import { z } from "zod";
import { readConfig } from "./config.js";
import { inProcess } from "./in-process.js";
import { type PromptMessage, textOf } from "./prompt-message.js";
import type { GenerateRequest, Provider, ProviderEvent, ToolSpec } from "./provider.js";

/**
 * A model that needs nothing: no key, no network, no luck. It is asked like any other, answers the same to the same
 * words, and shows what a real one would get: the instructions, the tools, their results.
 */
export function demo(given: unknown): Provider {
  const { delayMs } = readConfig("demo", configSchema, given);
  return inProcess("demo", (request) => perform(request, delayMs));
}

const configSchema = z.looseObject({
  /** Between two words. */
  delayMs: z.number().min(0).max(1_000).default(15),
});

function* perform(request: GenerateRequest, delayMs: number): Iterable<ProviderEvent | number> {
  const effort = request.params?.reasoning_effort ?? "none";
  if (effort !== "none") {
    for (const text of words(thought(request)))
      yield* [delayMs, { type: "thinking", id: "thought", text } as const];
  }
  const call = wantedCall(request);
  let left = request.params?.max_tokens ?? Number.POSITIVE_INFINITY;
  let output = 0;
  for (const text of words(call ? `I call ${call.name}.` : reply(request))) {
    if (left <= 0) break;
    left -= 1;
    output += 1;
    yield* [delayMs, { type: "text", text } as const];
  }
  if (left <= 0) return yield* end("length", request, output);
  if (!call) return yield* end("stop", request, output);
  yield { type: "tool_input", id: call.id, name: call.name, text: call.arguments };
  yield { type: "tool_call", ...call };
  yield* end("tool_calls", request, output);
}

function* end(reason: "stop" | "length" | "tool_calls", { messages }: GenerateRequest, output: number) {
  const input = messages.reduce((sum, message) => sum + words(textOf(message)).length, 0);
  yield { type: "usage", input, output } as const;
  yield { type: "finish", reason } as const;
}

/** Words with the space before them, so that they join to the same text. */
function words(text: string): string[] {
  return text.match(/\s*\S+/g) ?? [];
}

function thought({ messages, tools = [] }: GenerateRequest): string {
  return `There are ${messages.length} messages and ${tools.length} tools. The last message decides.`;
}

type Call = Omit<Extract<ProviderEvent, { type: "tool_call" }>, "type">;

/** A call is made once: its result is the last message of the next request. */
function wantedCall({ messages, tools = [] }: GenerateRequest): Call | undefined {
  const last = messages.at(-1);
  if (last?.role !== "user") return undefined;
  const wish = wishIn(textOf(last));
  const tool = tools.find(({ name }) => name === wish?.tool);
  if (!wish || !tool) return undefined;
  const calls = messages.reduce((sum, { tool_calls = [] }) => sum + tool_calls.length, 0);
  return { id: `call_${calls + 1}`, name: tool.name, arguments: wish.arguments(tool) };
}

interface Wish {
  readonly tool: string;
  arguments(tool: ToolSpec): string;
}

/** A wish may stand below lines that others put before it. */
function wishIn(text: string): Wish | undefined {
  const direct = /\bcall (\w+)(?: with (\{.*\}))?/is.exec(text);
  if (direct?.[1]) return { tool: direct[1], arguments: () => direct[2] ?? "{}" };
  const file = /^\W*(?:(?:please|can you|could you) )*read (?:the file )?["'`]?([^\s"'`]*[\w/])/im.exec(
    text,
  )?.[1];
  if (file) return { tool: "files_read", arguments: (tool) => JSON.stringify({ [firstField(tool)]: file }) };
  return /\bwhat(?:'s| is)? ?(?:the )?time\b/i.test(text)
    ? { tool: "system_time", arguments: () => "{}" }
    : undefined;
}

function firstField({ parameters }: ToolSpec): string {
  const { properties } = parameters as { properties?: Record<string, unknown> };
  return Object.keys(properties ?? {})[0] ?? "path";
}

function reply(request: GenerateRequest): string {
  const last = request.messages.at(-1);
  if (!last) return "Nobody has said anything yet.";
  if (last.role === "tool") return `${last.name ?? "The tool"} answered: ${brief(textOf(last))}`;
  return [greeting(textOf(last)), echo(last), instructions(request), offer(request)]
    .filter(Boolean)
    .join(" ");
}

function greeting(text: string): string {
  const greeted = /^\W*(?:hello|hi|hey|good (?:morning|day|afternoon|evening))\b/im.test(text);
  return greeted ? "Hello! I am the demo agent of Heddle, and need no key." : "";
}

function echo(message: PromptMessage): string {
  const text = textOf(message);
  const images =
    typeof message.content === "string" ? [] : message.content.filter(({ type }) => type === "image");
  const seen = images.length === 0 ? "" : ` With it came ${count(images.length, "image")}.`;
  return `${greeting(text) ? "" : `You said: ${brief(text)}`}${seen}`.trim();
}

function instructions({ messages }: GenerateRequest): string {
  const given = messages.filter(({ role }) => role === "system" || role === "developer");
  const length = given.reduce((sum, message) => sum + [...textOf(message)].length, 0);
  return `I was given ${count(given.length, "instruction")} (${count(length, "character")}).`;
}

function offer({ tools = [] }: GenerateRequest): string {
  if (tools.length === 0) return "I have no tools.";
  const names = tools.map(({ name }) => name).join(", ");
  return `My tools are ${names}: ask me what time it is, to read a file, or to call one of them.`;
}

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? "" : "s"}`;
}

function brief(text: string): string {
  const points = [...text];
  return points.length <= 500 ? text : `${points.slice(0, 500).join("")}…`;
}
