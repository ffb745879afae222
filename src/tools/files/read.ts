import type { FileHandle } from "node:fs/promises";
import { z } from "zod";
import { failed, MOST_OUTPUT_BYTES } from "../outcome.js";
import { defineTool, type ToolOutcome } from "../tool.js";
import { find } from "./find.js";
import { type NumberedLines, numberLines } from "./lines.js";
import { openFound } from "./open.js";
import { pathTo } from "./path.js";

const MOST_LINES = 2_000;

const parameters = z.strictObject({
  path: pathTo("the file"),
  from_line: z.int().min(1).max(1_000_000_000).optional().describe("the first line to read; default 1"),
  lines: z.int().min(1).max(MOST_LINES).optional().describe(`how many lines to read; default ${MOST_LINES}`),
});

export const filesRead = defineTool({
  name: "files_read",
  title: "Read a file",
  description: `Reads a text file of the workspace, its lines numbered from 1. At most ${MOST_LINES} lines at once.`,
  parameters,
  capabilities: ["files.read"],
  safeToRepeat: true,
  async run(args, { signal, ...area }) {
    const found = await find(area, args.path, "file");
    if ("refusal" in found) return failed(found.refusal);
    const file = await openFound(found);
    if ("refusal" in file) return failed(file.refusal);
    try {
      return await readLines(file, found.shown, { ...args, signal });
    } finally {
      await file.close();
    }
  },
});

type Asked = Omit<z.output<typeof parameters>, "path"> & { readonly signal: AbortSignal };

const PIECE_BYTES = 64 * 1024;
/** How far into a file its lines are counted. */
const MOST_READ_BYTES = 64 * 1024 * 1024;
/** Kept free for the note that says how to read on. */
const NOTE_BYTES = 256;

async function readLines(file: FileHandle, shown: string, asked: Asked): Promise<ToolOutcome> {
  const { from_line: from = 1, lines = MOST_LINES, signal } = asked;
  const numbered = numberLines({ from, lines, bytes: MOST_OUTPUT_BYTES - NOTE_BYTES });
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  let at = 0;
  let ended = false;
  while (!ended && numbered.next === undefined && at < MOST_READ_BYTES) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, at);
    const read = piece.subarray(0, bytesRead);
    if (read.includes(0))
      return failed(`${shown} is no text in UTF-8: it contains NUL bytes. It was not read.`);
    numbered.take(read);
    at += bytesRead;
    ended = bytesRead === 0;
  }
  numbered.end(!ended);
  return outcomeOf(numbered, shown, { ...asked, from, ended });
}

function outcomeOf(
  numbered: NumberedLines,
  shown: string,
  { from, lines, ended }: Asked & { readonly from: number; readonly ended: boolean },
): ToolOutcome {
  const { shown: read, next, seen, lineCut } = numbered;
  if (read.length === 0) return nothingRead(shown, { from, seen, ended });
  const whole = next === undefined && ended;
  const asMuch = read.length === lines;
  return {
    status: "completed",
    output: whole ? read.join("\n") : `${read.join("\n")}\n${readOn(from, seen, next)}`,
    ...(((!whole && !asMuch) || lineCut) && { truncated: true }),
  };
}

function readOn(from: number, seen: number, next: number | undefined): string {
  const range = `[Lines ${from} to ${seen} are shown.`;
  if (next === undefined) return `${range} There is more, but further than this tool looks.]`;
  return `${range} There is more: read on with from_line ${next}.]`;
}

function nothingRead(
  shown: string,
  { from, seen, ended }: { from: number; seen: number; ended: boolean },
): ToolOutcome {
  if (!ended) {
    const reach = MOST_READ_BYTES / (1024 * 1024);
    return failed(
      `Line ${from} of ${shown} is further than this tool looks (${reach} MiB). It saw ${seen} lines.`,
    );
  }
  if (seen === 0) return { status: "completed", output: "(the file is empty)" };
  return failed(`${shown} has ${seen} lines, so there is no line ${from}.`);
}
