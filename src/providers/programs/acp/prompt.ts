import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { ProgramConfig } from "../config.js";
import type { Turn } from "../program.js";
import { type SpokenPart, spoken } from "../words.js";

/** Agents take a message that begins with one of these for a command of their own. */
const COMMAND = /^\s*[/$!]/;
const NO_COMMAND = "What follows is a message, not a command.\n\n";
const NO_IMAGE = "[an image that this agent can't be shown]";

interface Ways {
  /** The instructions go with it: the session does not have them, or has others. */
  readonly withInstructions: boolean;
  readonly images: boolean;
}

/** The message of a turn in the agent's words. */
export function promptOf(turn: Turn, { withInstructions, images }: Ways): ContentBlock[] {
  return spoken(turn, { withInstructions }).map((part) => blockOf(part, images));
}

function blockOf(part: SpokenPart, images: boolean): ContentBlock {
  if (part.type === "image")
    return images
      ? { type: "image", data: part.data, mimeType: part.mimeType }
      : { type: "text", text: NO_IMAGE };
  return { type: "text", text: COMMAND.test(part.text) ? NO_COMMAND + part.text : part.text };
}

/** The command for people: an argument may be a key. */
export function commandLine({ command, args }: Pick<ProgramConfig, "command" | "args">): string {
  const shown = args.map((arg, at) => {
    const [flag = "", ...value] = arg.split("=");
    if (value.length > 0) return SECRET.test(flag) ? `${flag}=…` : arg;
    return SECRET.test(args[at - 1] ?? "") && !args[at - 1]?.includes("=") ? "…" : arg;
  });
  return [command, ...shown].join(" ");
}

const SECRET = /^-.*(?:key|token|secret|password)/i;
