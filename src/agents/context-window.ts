import { isProgram } from "../providers/index.js";
import type { AgentChat } from "./definition.js";

/**
 * The tokens a model takes in all. What the configuration says is about its own model; of another one that was chosen
 * instead, it is a better guess than none.
 */
export function contextWindow(model: string, chat: AgentChat): number {
  if (model === chat.model && chat.contextWindow !== undefined) return chat.contextWindow;
  return (
    knownWindow(model) ?? chat.contextWindow ?? (isProgram(chat.provider) ? PROGRAM_WINDOW : UNKNOWN_WINDOW)
  );
}

const UNKNOWN_WINDOW = 128_000;
/** A program shortens its history itself: what counts here is only what a new session is told. */
const PROGRAM_WINDOW = 200_000;

/** Tokens a model takes in all, by the beginning of its name. Too small a figure costs history, too large a one the run. */
const windows: Readonly<Record<string, number>> = {
  "gpt-3.5": 16_385,
  "gpt-4": 8_192,
  "gpt-4-turbo": 128_000,
  "gpt-4o": 128_000,
  "gpt-4.1": 1_047_576,
  "gpt-5": 400_000,
  "gpt-5-chat": 128_000,
  "gpt-5.1-chat": 128_000,
  "gpt-5.2-chat": 128_000,
  "gpt-5.3-chat": 128_000,
  "gpt-5.4": 1_050_000,
  "gpt-5.4-mini": 400_000,
  "gpt-5.4-nano": 400_000,
  "gpt-5.5": 1_050_000,
  "gpt-5.6": 1_050_000,
  "gpt-6": 1_050_000,
  o1: 200_000,
  "o1-mini": 128_000,
  "o1-preview": 128_000,
  o3: 200_000,
  o4: 200_000,
  claude: 200_000,
  "claude-fable": 1_000_000,
  "claude-opus-5": 1_000_000,
  "claude-sonnet-5": 1_000_000,
  "claude-haiku-5-5": 1_000_000,
  gemini: 1_048_576,
};

const longestFirst = Object.keys(windows).sort((one, other) => other.length - one.length);

/** Gateways put a vendor before the name: `openai/gpt-4o`. */
function knownWindow(model: string): number | undefined {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  const start = longestFirst.find((known) => name === known || /^[-.:]/.test(startsAfter(name, known)));
  return start === undefined ? undefined : windows[start];
}

function startsAfter(name: string, start: string): string {
  return name.startsWith(start) ? name.slice(start.length) : "";
}
