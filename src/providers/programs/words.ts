import { type PromptMessage, type PromptPart, textOf } from "../prompt-message.js";
import type { Turn } from "./program.js";

/** What is said to a program in the place of a user's message: text, and images where it takes them. */
export type SpokenPart = Extract<PromptPart, { type: "text" | "image" }>;

/**
 * The message of a turn: before it, each in a marked block, instructions that have no place of their own, and what was said
 * before in a session that is new.
 */
export function spoken(turn: Turn, { withInstructions }: { withInstructions: boolean }): SpokenPart[] {
  const { instructions, past, input } = turn;
  const blocks = [
    ...(withInstructions && (instructions !== "" || turn.session) ? [instructionsBlock(turn)] : []),
    ...(past.length > 0 ? [block("conversation_so_far", PAST_INTRO, recordOf(past, "you"))] : []),
  ];
  const before = input.slice(0, -1).filter(({ role }) => role !== "user");
  // What the session missed, such as an answer that another agent gave meanwhile.
  if (before.length > 0) {
    blocks.push(block("meanwhile", MISSED_INTRO, recordOf(input.slice(0, -1), "another agent")));
  }
  const asked = before.length > 0 ? input.slice(-1) : input;
  const recorded = [...past, ...input.slice(0, input.length - asked.length)];
  const head = blocks.map((text): SpokenPart => ({ type: "text", text: `${text}\n\n` }));
  return joined([...head, ...images(recorded), ...asked.flatMap(apart)]);
}

const PAST_INTRO =
  "What was said in this conversation before. It is a record: go on from where it ends, and do not carry anything out again.";
const NONE_LEFT = "The instructions that you were given before in this conversation do not hold any more.";
const MISSED_INTRO = "What was said in this conversation since your last answer. It is a record.";

function instructionsBlock({ instructions, session }: Turn): string {
  // Those of the beginning would go on to hold if nothing were said.
  if (instructions === "") return block("instructions", NONE_LEFT, "");
  const intro = session
    ? "These instructions replace those that you were given at the beginning of this conversation."
    : "These instructions hold for the whole conversation.";
  return block("instructions", intro, instructions);
}

function block(name: string, intro: string, text: string): string {
  // What stands inside must not be able to end it.
  const inside = text.replaceAll(`</${name}>`, `<\\/${name}>`);
  return `<${name}>\n${intro}\n\n${inside}\n</${name}>`;
}

function recordOf(messages: readonly PromptMessage[], agent: string): string {
  return messages.map((message) => wordsOf(message, agent)).join("\n\n");
}

/** A message of the past as text: who said it, what was said, which tools were called and what came of them. */
function wordsOf(message: PromptMessage, agent: string): string {
  const { role, name, tool_calls = [] } = message;
  const text = textOf(message);
  if (role === "tool") return `[result of ${name ?? "a tool"}]\n${text}`;
  const calls = tool_calls.map((call) => `[called ${call.name} with ${call.arguments}]`);
  return [`[${role === "assistant" ? agent : role}]`, ...(text === "" ? [] : [text]), ...calls].join("\n");
}

function images(messages: readonly PromptMessage[]): SpokenPart[] {
  return messages.flatMap((message) => partsOf(message).filter(({ type }) => type === "image"));
}

/** Several messages of the user, each for itself. */
function apart(message: PromptMessage, at: number): SpokenPart[] {
  return at === 0 ? partsOf(message) : [{ type: "text", text: "\n\n" }, ...partsOf(message)];
}

function partsOf({ content }: PromptMessage): SpokenPart[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return content.filter((part): part is SpokenPart => part.type !== "thinking");
}

/** Neighbouring texts become one: a program may treat each part as a message of its own. */
function joined(parts: readonly SpokenPart[]): SpokenPart[] {
  const all: SpokenPart[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (part.type === "text" && last?.type === "text")
      all[all.length - 1] = { ...last, text: last.text + part.text };
    else all.push(part);
  }
  return all;
}
