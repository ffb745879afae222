import { z } from "zod";
import type { ToolDefinition, ToolOutcome } from "./tool.js";

/** Bytes of UTF-8 that an output has at most, its marker included. */
export const MOST_OUTPUT_BYTES = 64 * 1024;

/** What a tool answered, as far as it can be used. */
export function acceptOutcome(
  { name, mostOutputBytes }: Pick<ToolDefinition, "name" | "mostOutputBytes">,
  answer: unknown,
): ToolOutcome {
  const parsed = outcomeSchema.safeParse(answer);
  if (!parsed.success) {
    return failed(
      `${name} gave an answer that is not understood. That is a fault of the tool, not of its arguments: go on without it.`,
    );
  }
  const { status, truncated, diff } = parsed.data;
  const output = bounded(parsed.data.output.toWellFormed(), mostOutputBytes);
  return {
    status,
    output: output.text,
    ...((truncated || output.cut) && { truncated: true }),
    ...(diff && { diff }),
  };
}

export function failed(output: string): ToolOutcome {
  const { text, cut } = bounded(output.toWellFormed());
  return { status: "failed", output: text, ...(cut && { truncated: true }) };
}

const text = z.string().transform((given) => given.toWellFormed());

const outcomeSchema = z.object({
  status: z.enum(["completed", "failed"]),
  output: z.string(),
  truncated: z.boolean().optional(),
  diff: z.object({ path: text, oldText: text, newText: text }).optional(),
});

function bounded(given: string, most = MOST_OUTPUT_BYTES): { text: string; cut: boolean } {
  const total = Buffer.byteLength(given);
  if (total <= most) return { text: given, cut: false };
  const room = most - Buffer.byteLength(marker(total));
  // It writes whole characters only.
  const { read, written } = new TextEncoder().encodeInto(given, new Uint8Array(room));
  return { text: given.slice(0, read) + marker(total - written), cut: true };
}

function marker(missing: number): string {
  return `\n[… ${missing} bytes cut]`;
}
