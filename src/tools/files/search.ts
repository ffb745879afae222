import type { FileHandle } from "node:fs/promises";
import { z } from "zod";
import { failed, MOST_OUTPUT_BYTES } from "../outcome.js";
import { defineTool, type ToolContext, type ToolDefinition, type ToolOutcome } from "../tool.js";
import { type Found, find, type Kind } from "./find.js";
import { type Glob, named, parseGlob } from "./glob.js";
import { type FileMatches, Matcher, MatchFailure, type Pattern, parsePattern } from "./match.js";
import { openFound } from "./open.js";
import { pathTo, printed } from "./path.js";
import { type Gaps, walk } from "./walk.js";

const MOST_MATCHES = 200;
const MOST_DEPTH = 64;
const MOST_FILE_BYTES = 2 * 1024 * 1024;
const MOST_BYTES = 512 * 1024 * 1024;
const SEARCH_MS = 10_000;
/** Files that are read side by side and compared together. */
const BATCH = 16;
/** Kept free for the notes below the matches. */
const NOTE_BYTES = 1_024;

const parameters = z.strictObject({
  pattern: z.string().min(1).max(1_000).describe("the text to look for, within one line"),
  regex: z.boolean().optional().describe("the pattern is a regular expression (JavaScript); default false"),
  ignore_case: z.boolean().optional().describe("default false"),
  path: pathTo("the directory or file to look in; default the workspace's own").optional(),
  include: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe("only files that this glob names: *.ts, src/**/*.{js,ts}; without a slash, at any level"),
});

export const filesSearch = searchTool(SEARCH_MS);

export function searchTool(withinMs: number): ToolDefinition {
  return defineTool({
    name: "files_search",
    title: "Search files",
    description: `Looks for a text, or a regular expression, in the lines of the workspace's text files; answers path:line: text. At most ${MOST_MATCHES} lines and ${withinMs / 1000} seconds. Links are not followed; node_modules, .venv and __pycache__ are passed over unless the path names them.`,
    parameters,
    capabilities: ["files.read"],
    safeToRepeat: true,
    async run(args, context) {
      const pattern = parsePattern(args.pattern, {
        regex: args.regex === true,
        ignoreCase: args.ignore_case === true,
      });
      if ("problem" in pattern) return failed(`files_search was not called: ${pattern.problem}`);
      const glob = args.include === undefined ? undefined : parseGlob(args.include);
      if (glob && "problem" in glob) return failed(`files_search was not called: ${glob.problem}`);
      const found = await find(context, args.path ?? ".", "either");
      if ("refusal" in found) return failed(found.refusal);
      return search({ found, pattern, glob, withinMs }, context);
    },
  });
}

interface Asked {
  readonly found: Found & { readonly kind: Kind };
  readonly pattern: Pattern;
  readonly glob: Glob | undefined;
  readonly withinMs: number;
}

/** What came of it so far: it is told also when the time is up. */
interface Harvest extends Gaps {
  readonly lines: string[];
  room: number;
  bytes: number;
  large: number;
  unread: number;
}

async function search(asked: Asked, { signal }: ToolContext): Promise<ToolOutcome> {
  const harvest: Harvest = {
    lines: [],
    room: MOST_OUTPUT_BYTES - NOTE_BYTES,
    bytes: 0,
    large: 0,
    unread: 0,
    more: false,
    closed: 0,
  };
  const late = AbortSignal.timeout(asked.withinMs);
  const stop = AbortSignal.any([signal, late]);
  const matcher = new Matcher(asked.pattern, stop);
  let why: string | undefined;
  try {
    for await (const batch of batches(asked, stop, harvest)) {
      await compare(batch, matcher, harvest);
      if (harvest.more) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (!late.aborted && !(error instanceof MatchFailure)) throw error;
    why = late.aborted
      ? `The time of ${asked.withinMs / 1000} seconds was up`
      : "The pattern takes too much memory";
  } finally {
    await matcher.close();
  }
  return outcomeOf(harvest, why, asked.found.shown);
}

type Named = { readonly path: string; readonly found: Found };

async function* batches(
  { found, glob }: Asked,
  signal: AbortSignal,
  gaps: Gaps,
): AsyncGenerator<readonly Named[]> {
  if (found.kind === "file") {
    yield [{ path: found.below, found }];
    return;
  }
  let batch: Named[] = [];
  for await (const entry of walk(found, { depth: MOST_DEPTH, signal }, gaps)) {
    if (entry.kind !== "file" || (glob && !named(entry, glob))) continue;
    batch.push(entry);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function compare(batch: readonly Named[], matcher: Matcher, harvest: Harvest): Promise<void> {
  const read = await Promise.all(batch.map(({ found }) => readSmall(found)));
  const files: { path: string; bytes: Uint8Array<ArrayBuffer> }[] = [];
  for (const [index, { path }] of batch.entries()) {
    const bytes = read[index];
    if (bytes === "large") harvest.large++;
    else if (bytes === undefined) harvest.unread++;
    else files.push({ path, bytes });
  }
  harvest.bytes += files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const most = MOST_MATCHES - harvest.lines.length;
  const answers = await matcher.match(
    files.map(({ bytes }) => bytes),
    most,
  );
  for (const [index, { path }] of files.entries()) gather(path, answers[index], harvest);
  if (harvest.bytes > MOST_BYTES) harvest.more = true;
}

function gather(path: string, answer: FileMatches | undefined, harvest: Harvest): void {
  for (const { number, text } of answer?.found ?? []) {
    const line = `${printed(path)}:${number}: ${text}`;
    harvest.room -= Buffer.byteLength(line) + 1;
    if (harvest.lines.length === MOST_MATCHES || harvest.room < 0) {
      harvest.more = true;
      return;
    }
    harvest.lines.push(line);
  }
}

/** Undefined when it can't be read, or is not what it was when it was listed. */
async function readSmall(found: Found): Promise<Uint8Array<ArrayBuffer> | "large" | undefined> {
  const file = await openFound(found);
  if ("refusal" in file) return undefined;
  try {
    const { size } = await file.stat();
    return size > MOST_FILE_BYTES ? "large" : await readInto(new Uint8Array(size), file);
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

async function readInto(bytes: Uint8Array<ArrayBuffer>, file: FileHandle): Promise<Uint8Array<ArrayBuffer>> {
  let at = 0;
  while (at < bytes.length) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return bytes.subarray(0, at);
}

function outcomeOf(harvest: Harvest, why: string | undefined, shown: string): ToolOutcome {
  const { lines, more, large, unread, closed } = harvest;
  const notes: string[] = [];
  if (why !== undefined) {
    const advice = "The search was stopped: look in a directory further down, or for something simpler.";
    if (lines.length === 0) return failed(`${why}, and nothing was found until then. ${advice}`);
    notes.push(`[${why}. ${advice}]`);
  } else if (more) {
    notes.push(
      `[${lines.length} matches are shown, and not everything was looked at: give a longer pattern, a path or an include.]`,
    );
  }
  if (large > 0)
    notes.push(`[Files over ${MOST_FILE_BYTES / (1024 * 1024)} MiB that were passed over: ${large}.]`);
  if (unread + closed > 0) notes.push(`[Files and directories that could not be read: ${unread + closed}.]`);
  if (lines.length === 0 && !more) notes.unshift(`(no match in ${shown})`);
  return {
    status: "completed",
    output: [...lines, ...notes].join("\n"),
    ...((more || why !== undefined) && { truncated: true }),
  };
}
