import { z } from "zod";
import { failed } from "../outcome.js";
import { defineTool, type ToolOutcome } from "../tool.js";
import { changeFile, diffOf, textOf } from "./change.js";
import { unreadable } from "./find.js";
import { fileText, MOST_FILE_BYTES, pathTo } from "./path.js";
import type { Place } from "./place.js";
import { type Replacement, replaceText } from "./replace.js";
import { readBefore, save } from "./save.js";

export const filesEdit = defineTool({
  name: "files_edit",
  title: "Edit a file",
  description:
    "Replaces a piece of a text file of the workspace. old_text must be in the file exactly once, to the last space; give as much around it as that takes, or set replace_all. Line ends stay as the file has them.",
  parameters: z.strictObject({
    path: pathTo("the file"),
    old_text: fileText(
      "what is replaced, as it stands in the file, without the line numbers of files_read",
    ).min(1),
    new_text: fileText("what stands there afterwards; empty to remove it"),
    replace_all: z.boolean().optional().describe("replace it wherever it is; default false"),
  }),
  capabilities: ["files.write"],
  safeToRepeat: false,
  asks: true,
  run({ path, ...replacement }, context) {
    return changeFile(path, context, (place) => edit(place, replacement, context.signal));
  },
});

async function edit(place: Place, replacement: Replacement, signal: AbortSignal): Promise<ToolOutcome> {
  const before = await readBefore(place);
  if (before === undefined) return failed(unreadable(place.shown, { code: "ENOENT" }));
  if ("refusal" in before) return failed(before.refusal);
  if (before.bytes === undefined) {
    return failed(
      `${place.shown} is larger than ${MOST_FILE_BYTES} bytes, which is more than this tool changes.`,
    );
  }
  const text = textOf(before.bytes);
  if (text === undefined) return failed(`${place.shown} is no text in UTF-8. It was not changed.`);
  const made = replaceText(text, replacement);
  if ("problem" in made) return failed(`${place.shown} was not changed: ${made.problem}`);
  const bytes = Buffer.from(made.text);
  if (bytes.length > MOST_FILE_BYTES) {
    return failed(`${place.shown} was not changed: it would have more than ${MOST_FILE_BYTES} bytes.`);
  }
  const refused = await save(place, bytes, { before, signal });
  if (refused) return failed(refused.refusal);
  const { diff, note } = diffOf(place.below, text, made.text);
  return {
    status: "completed",
    output: `Edited ${place.shown}: ${made.told}.${note}`,
    ...(diff && { diff }),
  };
}
