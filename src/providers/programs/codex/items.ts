import type { ProviderEvent } from "../../provider.js";
import { jsonText } from "../say.js";
import { diffsOf } from "./diffs.js";
import type { Item, ItemOf } from "./protocol.js";

/** The name under which codex knows Heddle's tools. */
export const BRIDGE = "heddle";

interface Call {
  readonly name: string;
  /** As JSON. */
  readonly arguments: string;
}

type Outcome = Omit<Extract<ProviderEvent, { type: "tool_result" }>, "type" | "id">;

export type CallItem = Exclude<Item, ItemOf<"agentMessage"> | ItemOf<"reasoning">>;

/** An item as the call of a tool. */
export function callOf(item: CallItem): Call {
  switch (item.type) {
    case "commandExecution":
      return call("exec_command", { command: item.command, cwd: item.cwd });
    case "fileChange":
      return call("apply_patch", {
        changes: item.changes.map(({ path, kind, diff }) => ({ path, kind: kind.type, diff })),
      });
    case "mcpToolCall":
      return call(mcpName(item.server, item.tool), item.arguments ?? {});
    case "collabAgentToolCall":
      return call(item.tool, { prompt: item.prompt });
    case "webSearch":
      return call("web_search", { query: item.query });
    case "imageView":
      return call("view_image", { path: item.path });
    case "imageGeneration":
      return call("image_generation", {});
  }
}

/** Heddle's own tools by their names, others as codex offers them. */
export function mcpName(server: string, tool: string): string {
  return server === BRIDGE ? tool : `mcp__${server}__${tool}`;
}

function call(name: string, given: unknown): Call {
  return { name, arguments: jsonText(given) };
}

/** What came of it. `heard` is what it wrote while it ran. */
export function outcomeOf(item: CallItem, heard: string): Outcome {
  switch (item.type) {
    case "commandExecution":
      return commandOutcome(item, heard);
    case "fileChange":
      return changeOutcome(item);
    case "mcpToolCall":
      return mcpOutcome(item);
    case "collabAgentToolCall":
    case "imageGeneration":
      return { output: item.status, failed: item.status === "failed" };
    default:
      return { output: "", failed: false };
  }
}

const DECLINED = "It was not allowed.";

function commandOutcome(item: ItemOf<"commandExecution">, heard: string): Outcome {
  const { status, exitCode, aggregatedOutput } = item;
  if (status === "declined") return { output: DECLINED, failed: true };
  const failed = status === "failed" || (exitCode ?? 0) !== 0;
  const output = aggregatedOutput ?? heard;
  const ending = exitCode ? `${output === "" || output.endsWith("\n") ? "" : "\n"}exit code ${exitCode}` : "";
  return { output: output + ending, failed, ...lasting(item) };
}

function changeOutcome({ status, changes }: ItemOf<"fileChange">): Outcome {
  if (status === "declined") return { output: DECLINED, failed: true };
  if (status === "failed") return { output: "It could not be applied.", failed: true };
  const done = changes.map(({ path, kind }) => `${kind.type} ${path}`).join("\n");
  return { output: done, failed: false, diffs: diffsOf(changes) };
}

function mcpOutcome(item: ItemOf<"mcpToolCall">): Outcome {
  const { status, result, error } = item;
  const output = error?.message ?? (result?.content ?? []).map(contentText).join("\n");
  return { output, failed: status === "failed" || Boolean(error), ...lasting(item) };
}

function contentText(part: unknown): string {
  const { type, text } = part as { type?: unknown; text?: unknown };
  return type === "text" && typeof text === "string" ? text : `[${String(type)}]`;
}

function lasting({ durationMs }: { durationMs?: number | null | undefined }): { duration_ms?: number } {
  return typeof durationMs === "number" ? { duration_ms: durationMs } : {};
}
