import { z } from "zod";
import { artifacts } from "../../../store/index.js";
import type { ToolDefinition } from "../../tool.js";
import { tagsOf } from "../change.js";
import { type ArtifactsDeps, readingTool } from "../define.js";
import { findArtifact } from "../find.js";
import { LIMITS } from "../limits.js";
import { askedPage, pageKeys, pageOf, partOf, withNext } from "../page.js";
import { Refusal } from "../refusal.js";
import { containing, fold, longText, refText } from "../text.js";

const READ = "notes.read";

/** Which notes there are, without their text. */
export function notesList(deps: ArtifactsDeps): ToolDefinition {
  return readingTool(deps, READ, {
    name: "notes_list",
    title: "Notes",
    description: "Shows the notes of the workspace: title, tags and length, not their text.",
    parameters: z.strictObject({
      deleted: z.boolean().optional().describe("true: those that were deleted and can be restored"),
      ...pageKeys,
    }),
    *work({ deleted, ...given }, { workspace_id }) {
      const page = askedPage(given);
      const rows = yield* artifacts.listArtifactSizes({
        workspace_id,
        kind: "note",
        deleted,
        ...withNext(page),
      });
      const notes = rows.map((row) => ({ ...headOf(row), chars: row.chars }));
      const { shown, next, truncated } = pageOf(notes, page);
      return { value: { notes: shown, ...next }, truncated };
    },
  });
}

export function notesRead(deps: ArtifactsDeps): ToolDefinition {
  return readingTool(deps, READ, {
    name: "notes_read",
    title: "Read a note",
    description: "Reads a note. A long one comes in parts: read on with from_char.",
    parameters: z.strictObject({
      note: refText.describe("its id or exact title"),
      from_char: z.int().min(0).max(LIMITS.content).optional().describe("where to begin; default 0"),
    }),
    *work({ note: ref, from_char = 0 }, act) {
      const note = yield* findArtifact(act, "note", ref);
      const { part, next } = partOf(note.body, from_char);
      const more = next !== undefined;
      const value = { ...headOf(note), content: part, ...(more && { next_from_char: next }) };
      return { value, truncated: more };
    },
  });
}

/** Each of its words must stand somewhere in the note. */
export function notesSearch(deps: ArtifactsDeps): ToolDefinition {
  return readingTool(deps, READ, {
    name: "notes_search",
    title: "Search notes",
    description: "Finds notes that contain all the words, in title, tags or text, in any letter case.",
    parameters: z.strictObject({
      query: longText(LIMITS.query).describe("words, parted by spaces"),
      ...pageKeys,
      limit: z
        .int()
        .min(1)
        .max(MOST_FOUND)
        .optional()
        .describe(`how many to give at most; default ${MOST_FOUND}`),
    }),
    *work({ query, offset, limit = MOST_FOUND }, { workspace_id }) {
      const words = [...new Set(query.split(/\s+/).filter(Boolean).slice(0, MOST_WORDS))];
      const [first] = words;
      if (first === undefined) throw new Refusal("There is nothing to search for: give a word.");
      const page = askedPage({ offset, limit });
      const patterns = words.map(containing);
      const rows = yield* artifacts.listArtifacts({
        workspace_id,
        kind: "note",
        patterns,
        ...withNext(page),
      });
      const { shown, next, truncated } = pageOf(
        rows.map((row) => ({ ...headOf(row), snippet: snippetOf(row.body, first) })),
        page,
      );
      return { value: { notes: shown, ...next }, truncated };
    },
  });
}

const MOST_WORDS = 20;
/** Their texts are looked at one by one, and may be long. */
const MOST_FOUND = 20;
const SNIPPET_BEFORE = 60;
const SNIPPET_CHARS = 200;

export function headOf(note: artifacts.ArtifactSummary) {
  const tags = tagsOf(note);
  return { id: note.id, title: note.name, version: note.version, ...(tags.length > 0 && { tags }) };
}

/** Some of the text around a word, on one line. Folding may move a place a little: nothing depends on it. */
function snippetOf(body: string, word: string): string {
  const at = Math.max(0, fold(body).indexOf(fold(word)));
  const from = Math.max(0, at - SNIPPET_BEFORE);
  const part = body.slice(from, from + SNIPPET_CHARS).toWellFormed();
  return `${from > 0 ? "…" : ""}${part.replace(/\s+/g, " ").trim()}${from + SNIPPET_CHARS < body.length ? "…" : ""}`;
}
