import type { Handover, Turn } from "../program.js";
import { type SpokenPart, spoken } from "../words.js";
import { startArguments } from "./arguments.js";
import { offerOf } from "./offer.js";

/** The command that carries the message. */
interface Prompt {
  readonly type: "prompt";
  readonly message: string;
  readonly images?: readonly Image[];
  readonly [key: string]: unknown;
}

interface Image {
  readonly type: "image";
  readonly data: string;
  readonly mimeType: string;
}

export function promptOf(turn: Turn): Prompt {
  const parts = spoken(turn, { withInstructions: false });
  const message = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const images = parts
    .filter(isImage)
    .map(({ data, mimeType }): Image => ({ type: "image", data, mimeType }));
  return { type: "prompt", message, ...(images.length > 0 && { images }) };
}

function isImage(part: SpokenPart): part is Extract<SpokenPart, { type: "image" }> {
  return part.type === "image";
}

/** The texts of a turn as they go to pi; the token of the bridge is left out. */
export function handoverOf(turn: Turn, command: string, kept: boolean): Handover {
  const args = startArguments(turn);
  const { bridge, ...offer } = offerOf(turn);
  const told = { ...offer, ...(bridge && { bridge: bridge.url }) };
  return {
    url: `process:${command} --mode rpc`,
    body: [...(kept ? [] : [args]), told, promptOf(turn)].map((one) => JSON.stringify(one)).join("\n"),
    delivery: {
      way: "system_prompt",
      session: kept ? "kept" : turn.session ? "resumed" : "new",
      replayed: turn.past.length,
      adds: additions(turn),
    },
  };
}

function additions({ work }: Turn): string[] {
  return [
    "pi's own system prompt, before the instructions",
    "the date and the directory",
    ...(work.ownTools ? ["pi's own tools: read, bash, edit, write"] : []),
  ];
}
