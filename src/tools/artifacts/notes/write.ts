import { z } from "zod";
import { countChars } from "../../../protocol/index.js";
import type { artifacts, Unit } from "../../../store/index.js";
import type { ToolDefinition } from "../../tool.js";
import { createArtifact, deleteArtifact, restoreArtifact, updateArtifact } from "../change.js";
import { type Act, type Answer, type ArtifactsDeps, writingTool } from "../define.js";
import { findArtifact } from "../find.js";
import { LIMITS } from "../limits.js";
import { Refusal } from "../refusal.js";
import { lineText, longText, refText, tagsText } from "../text.js";
import { headOf } from "./read.js";

const WRITE = "notes.write";
const noteRef = refText.describe("its id or exact title");

export function notesCreate(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "notes_create",
    title: "New note",
    description: "Makes a note.",
    parameters: z.strictObject({
      title: lineText(LIMITS.name),
      content: longText(LIMITS.content).optional(),
      tags: tagsText.optional(),
    }),
    *work({ title, content = "", tags = [] }, act) {
      return { value: headOf(yield* createArtifact(act, "note", { name: title, body: content, tags })) };
    },
  });
}

export function notesUpdate(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "notes_update",
    title: "Change a note",
    description: "Changes a note. Content takes the place of the whole text; notes_append adds to it.",
    parameters: z.strictObject({
      note: noteRef,
      title: lineText(LIMITS.name).optional(),
      content: longText(LIMITS.content).optional(),
      tags: tagsText.optional(),
      expected_version: z
        .int()
        .min(1)
        .optional()
        .describe("the version you have read: if the note was changed since, nothing is written"),
    }),
    *work({ note: ref, title: name, content: body, tags, expected_version }, act) {
      const before = yield* findArtifact(act, "note", ref);
      if (name === undefined && body === undefined && tags === undefined) {
        throw new Refusal("There is nothing to change: give a title, content or tags.");
      }
      if (expected_version !== undefined && expected_version !== before.version) {
        throw new Refusal(
          `The note was changed meanwhile: it has version ${before.version}, not ${expected_version}. Read it again, then change it.`,
        );
      }
      return yield* write(act, before, { name, body, tags });
    },
  });
}

export function notesAppend(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "notes_append",
    title: "Add to a note",
    description: "Adds text at the end of a note, on a new line.",
    parameters: z.strictObject({ note: noteRef, text: longText(LIMITS.content) }),
    *work({ note: ref, text }, act) {
      const before = yield* findArtifact(act, "note", ref);
      if (text === "") throw new Refusal("There is nothing to add: text is empty.");
      const gap = before.body === "" || before.body.endsWith("\n") ? "" : "\n";
      const body = `${before.body}${gap}${text}`;
      if (countChars(body) > LIMITS.content) {
        throw new Refusal(
          `A note has at most ${LIMITS.content} characters, and with this it would have ${countChars(body)}. Begin another note.`,
        );
      }
      return yield* write(act, before, { body });
    },
  });
}

export function notesDelete(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "notes_delete",
    title: "Delete a note",
    description: "Deletes a note. notes_restore brings it back within 30 days.",
    parameters: z.strictObject({ note: noteRef }),
    work: ({ note }, act) => deleteArtifact(act, "note", note),
  });
}

export function notesRestore(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "notes_restore",
    title: "Restore a note",
    description: "Brings back a note that was deleted.",
    parameters: z.strictObject({ note: refText.describe("the id or exact title of a deleted note") }),
    work: ({ note }, act) => restoreArtifact(act, "note", note),
  });
}

/** What stood there before is told with the outcome, so that the record of the call keeps it. */
function* write(
  act: Act,
  before: artifacts.StoredArtifact,
  given: Parameters<typeof updateArtifact>[2],
): Unit<Answer> {
  const after = yield* updateArtifact(act, before, given);
  const value = headOf(after);
  if (after.body === before.body) return { value };
  return { value, diff: { path: `notes/${after.id}`, oldText: before.body, newText: after.body } };
}
