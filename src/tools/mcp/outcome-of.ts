import type { CallToolResult } from "@modelcontextprotocol/client";
import { onOneLine } from "../../base/index.js";
import { clipped } from "../quoted.js";
import type { ToolOutcome } from "../tool.js";

type Block = CallToolResult["content"][number];

const MOST_SHOWN = 300;

/** What a model is told of an answer: its texts, and words for what is no text. */
export function outcomeOf(result: CallToolResult): ToolOutcome {
  const { content, structuredContent, isError } = result;
  const hasText = content.some(({ type }) => type === "text");
  const parts = content.map(wordsFor);
  if (!hasText && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent));
  const output = parts.filter((part) => part !== "").join("\n");
  return { status: isError ? "failed" : "completed", output: output || "(no output)" };
}

function wordsFor(block: Block): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.type === "image" ? "an image" : "a sound"}, ${shown(block.mimeType)}, ${sizeOf(block.data)}: it can't be shown here]`;
    case "resource_link":
      return `[a resource: ${[block.name, block.uri, block.mimeType, block.description]
        .filter(Boolean)
        .map((word) => shown(word as string))
        .join(", ")}]`;
    case "resource": {
      const { resource } = block;
      const heading = [resource.uri, resource.mimeType].filter(Boolean).map((word) => shown(word as string));
      if ("text" in resource) return `[a resource: ${heading.join(", ")}]\n${resource.text}`;
      return `[a resource: ${[...heading, sizeOf(resource.blob)].join(", ")}: it can't be shown here]`;
    }
    default:
      return `[something that can't be shown here: ${shown(String((block as { type?: unknown }).type))}]`;
  }
}

function shown(word: string): string {
  return onOneLine(clipped(word, MOST_SHOWN));
}

/** Of base64. */
function sizeOf(data: string): string {
  return `${Math.floor((data.length * 3) / 4)} bytes`;
}
