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
  const found = wishIn(textOf(last), tools);
  if (!found) return undefined;
  const { wish, tool } = found;
  const calls = messages.reduce((sum, { tool_calls = [] }) => sum + tool_calls.length, 0);
  return { id: `call_${calls + 1}`, name: tool.name, arguments: wish.arguments(tool) };
}

interface Wish {
  readonly tool: string;
  arguments(tool: ToolSpec): string;
}

/** A wish may stand below lines that others put before it. The first that is meant, and that there is a tool for, counts. */
function wishIn(text: string, tools: readonly ToolSpec[]): { wish: Wish; tool: ToolSpec } | undefined {
  // What came back from another agent repeats what it was asked.
  if (text.startsWith("[agents_message]")) return undefined;
  for (const look of WISHES) {
    const wish = look(text);
    const tool = wish && tools.find(({ name }) => name === wish.tool);
    if (wish && tool) return { wish, tool };
  }
  return undefined;
}

const WISHES: readonly ((text: string) => Wish | undefined)[] = [
  wishFrom(/\bcall (\w+)(?: with (\{.*\}))?/is, (tool = "", given = "{}") => ({
    tool,
    arguments: () => given,
  })),
  wishFrom(/\b(?:ask|tell) (?:the )?([a-z][\w-]*)(?: agent)? (?:to|that|about) (.+)/is, (agentId, content) =>
    wishFor("agents_message", { agentId, content }),
  ),
  wishFrom(/^\W*(?:(?:please|can you|could you) )*run `([^`]+)`/im, (command) =>
    wishFor("bash", { command }),
  ),
  wishFrom(/\b(?:write down|note down|take a note|remember)\b(?: that)?[:,]?\s+(.+)/is, (content = "") =>
    wishFor("notes_create", { title: brief(content.split("\n")[0] ?? "", 60), content }),
  ),
  wishFrom(
    /^\W*(?:(?:please|can you|could you) )*read (?:the file )?["'`]?([^\s"'`]*[\w/])/im,
    (file): Wish => ({
      tool: "files_read",
      arguments: (tool) => JSON.stringify({ [firstField(tool)]: file }),
    }),
  ),
  wishFrom(/\bwhat(?:'s| is)? ?(?:the )?time\b/i, () => wishFor("system_time", {})),
];

function wishFrom(
  pattern: RegExp,
  make: (...groups: (string | undefined)[]) => Wish,
): (text: string) => Wish | undefined {
  return (text) => {
    const found = pattern.exec(text);
    return found ? make(...found.slice(1).map((group) => group?.trim())) : undefined;
  };
}

function wishFor(tool: string, given: object): Wish {
  return { tool, arguments: () => JSON.stringify(given) };
}

function firstField({ parameters }: ToolSpec): string {
  const { properties } = parameters as { properties?: Record<string, unknown> };
  return Object.keys(properties ?? {})[0] ?? "path";
}

function reply(request: GenerateRequest): string {
  const last = request.messages.at(-1);
  if (!last) return "Nobody has said anything yet.";
  if (last.role === "tool") return told(last);
  return [greeting(textOf(last)), echo(last), instructions(request), offer(request)]
    .filter(Boolean)
    .join(" ");
}

/** What a tool answered; of another agent its words. */
function told(message: PromptMessage): string {
  const text = textOf(message);
  const answer = /^\{.*\}$/s.test(text) ? readJson(text) : undefined;
  if (typeof answer?.response === "string") return `${answer.agentId} answered: ${brief(answer.response)}`;
  if (message.name === "notes_create" && typeof answer?.title === "string")
    return `I wrote it down: ${answer.title}`;
  return `${message.name ?? "The tool"} answered: ${brief(text)}`;
}

function readJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
  const names = tools.map(({ name }) => name);
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  const wishes = OFFERS.filter(({ tool }) => names.includes(tool)).map(({ words }) => words);
  return `My tools are ${names.slice(0, MOST_NAMES).join(", ")}${more}. Ask me ${[...wishes, "to call one of them"].join(", or ")}.`;
}

const MOST_NAMES = 8;

const OFFERS = [
  { tool: "system_time", words: "what time it is" },
  { tool: "files_read", words: "to read README.md" },
  { tool: "bash", words: "to run `ls`" },
  { tool: "notes_create", words: "to write down something" },
  { tool: "agents_message", words: "to ask demo-notes to write down something" },
] as const;

function count(number: number, thing: string): string {
  return `${number} ${thing}${number === 1 ? "" : "s"}`;
}

function brief(text: string, most = 500): string {
  const points = [...text];
  return points.length <= most ? text : `${points.slice(0, most).join("")}…`;
}
