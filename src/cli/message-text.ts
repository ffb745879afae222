import { formatTime, paint, visible } from "./output.js";

/** As much of a message as is shown. Other programs may have written anything into the rest. */
export interface ShownMessage {
  readonly role: string;
  readonly content: readonly unknown[];
  readonly [field: string]: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

const INDENT = "  ";
const ONE_LINE = 100;

/** A message for people: when, who, what was said; tool calls and images each on a line, in their order. */
export function messageLines(message: ShownMessage): string[] {
  const { model, stopReason, truncated } = message;
  const calls = new Map(
    fieldsIn(message.toolCalls).map((call, index) => [textIn(call.toolCallId) ?? `#${index}`, call]),
  );
  const body = fieldsIn(message.content).flatMap((block) => blockLines(block, calls));
  const rest = [...calls.values()].map(toolLine);
  const about = [model, stopReason === "end_turn" ? undefined : stopReason]
    .filter((text) => typeof text === "string")
    .map((text) => paint.dim(oneLine(text)));
  const heading = [
    paint.dim(messageTime(message.timestamp)),
    PAINT[message.role]?.(message.role) ?? visible(message.role),
  ];
  return [
    [...heading, ...about].join("  "),
    ...[...body, ...rest].map((line) => `${INDENT}${line}`),
    ...(truncated === true ? [`${INDENT}${paint.yellow("(cut here; its file has it whole)")}`] : []),
  ];
}

const PAINT: Readonly<Record<string, (text: string) => string>> = {
  user: paint.green,
  agent: paint.blue,
  system: paint.magenta,
};

/** When a message was written, or that nobody knows. */
export function messageTime(timestamp: unknown): string {
  const at = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  return Number.isNaN(at) ? "no time         " : formatTime(at / 1000);
}

/** Text on one line, cut where it gets long. */
export function oneLine(text: string, length = ONE_LINE): string {
  const line = visible(text.replaceAll(/\s+/g, " ").trim());
  return [...line].length > length ? `${[...line].slice(0, length - 1).join("")}…` : line;
}

function blockLines(block: Fields, calls: Map<string, Fields>): string[] {
  const text = textIn(block.text);
  if (block.type === "text" && text !== undefined) {
    return text
      .replace(/\n+$/, "")
      .split("\n")
      .map((line) => line.replace(/[^\t]+/g, visible));
  }
  if (block.type === "thinking" && text !== undefined) return [paint.dim(`[thinking] ${oneLine(text)}`)];
  if (block.type === "image") {
    return [
      `${paint.magenta("[image]")} ${oneLine(textIn(block.assetRef) ?? textIn(block.mimeType) ?? "?")}`,
    ];
  }
  if (block.type === "tool_call_ref") {
    const id = textIn(block.toolCallId) ?? "";
    const call = calls.get(id);
    calls.delete(id);
    return call ? [toolLine(call)] : [];
  }
  return [paint.dim(`[${oneLine(textIn(block.type) ?? "unknown")}]`)];
}

function toolLine({ name, title, input, status }: Fields): string {
  const what = textIn(title) ?? textIn(input) ?? "";
  const state = textIn(status) ?? "unknown";
  const mark = state === "failed" ? paint.red(state) : paint.dim(oneLine(state));
  const parts = [oneLine(textIn(name) ?? "?"), ...(what === "" ? [] : [oneLine(what)]), mark];
  return `${paint.yellow("[tool]")} ${parts.join("  ")}`;
}

function fieldsIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "object" && each !== null) : [];
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
