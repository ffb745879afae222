import { z } from "zod";
import { failed, MOST_OUTPUT_BYTES } from "../outcome.js";
import { defineTool, type ToolOutcome } from "../tool.js";
import { find } from "./find.js";
import { type Glob, named, parseGlob } from "./glob.js";
import { pathTo, printed } from "./path.js";
import { type Entry, type Gaps, walk } from "./walk.js";

const MOST_SHOWN = 1_000;
const MOST_DEPTH = 20;
/** Kept free for the notes below the list. */
const NOTE_BYTES = 1_024;

export const filesList = defineTool({
  name: "files_list",
  title: "List files",
  description: `Lists what is in a directory of the workspace, sorted, directories with a slash at the end. At most ${MOST_SHOWN} entries, those nearest first. What is in node_modules, .venv and __pycache__ is left out unless the path names it.`,
  parameters: z.strictObject({
    path: pathTo("the directory; default the workspace's own").optional(),
    depth: z
      .int()
      .min(1)
      .max(MOST_DEPTH)
      .optional()
      .describe(`how many levels; default 1, or ${MOST_DEPTH} with a glob`),
    glob: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe("only files that it names: *.ts, src/**/*.{js,ts}; without a slash, at any level"),
  }),
  capabilities: ["files.read"],
  safeToRepeat: true,
  async run({ path = ".", depth, glob: wanted }, { signal, ...area }) {
    const glob = wanted === undefined ? undefined : parseGlob(wanted);
    if (glob && "problem" in glob) return failed(`files_list was not called: ${glob.problem}`);
    const found = await find(area, path, "directory");
    if ("refusal" in found) return failed(found.refusal);
    const gaps: Gaps = { more: false, closed: 0 };
    const entries = walk(found, { depth: depth ?? (glob ? MOST_DEPTH : 1), signal }, gaps);
    return outcomeOf(await nearest(entries, gaps, glob), gaps, found.shown);
  },
});

/** As many as are shown, whole levels before deeper ones. */
async function nearest(entries: AsyncIterable<Entry>, gaps: Gaps, glob: Glob | undefined): Promise<string[]> {
  const lines: string[] = [];
  let room = MOST_OUTPUT_BYTES - NOTE_BYTES;
  for await (const entry of entries) {
    if (glob && (entry.kind === "directory" || !named(entry, glob))) continue;
    const line = printed(entry.path) + MARKS[entry.kind];
    room -= Buffer.byteLength(line) + 1;
    if (lines.length === MOST_SHOWN || room < 0) {
      gaps.more = true;
      break;
    }
    lines.push(line);
  }
  return lines.sort((a, b) => (a < b ? -1 : 1));
}

const MARKS = { file: "", directory: "/", link: " (a link)", other: " (no regular file)" } as const;

function outcomeOf(lines: readonly string[], { more, closed }: Gaps, shown: string): ToolOutcome {
  const notes: string[] = [];
  if (more) {
    notes.push(
      `[${lines.length} entries are shown. There is more: name a directory further down, fewer levels or a glob.]`,
    );
  }
  if (closed > 0) notes.push(`[Directories that could not be opened: ${closed}.]`);
  if (lines.length === 0 && notes.length === 0) notes.push(`(nothing of that kind in ${shown})`);
  return {
    status: "completed",
    output: [...lines, ...notes].join("\n"),
    ...(more && { truncated: true }),
  };
}
