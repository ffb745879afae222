import { z } from "zod";
import { failed } from "../outcome.js";
import { defineTool, type ToolOutcome } from "../tool.js";
import { changeFile, countLines, diffOf, textOf } from "./change.js";
import { fileText, MOST_FILE_BYTES, pathTo } from "./path.js";
import type { Place } from "./place.js";
import { readBefore, save } from "./save.js";

export const filesWrite = defineTool({
  name: "files_write",
  title: "Write a file",
  description:
    "Writes a text file of the workspace, whole: a new one, with the directories it needs, or in the place of what it said before. To change a part of a file use files_edit.",
  parameters: z.strictObject({
    path: pathTo("the file"),
    content: fileText("all that the file is to say"),
  }),
  capabilities: ["files.write"],
  // The same text twice is harmless; what somebody wrote in between would be lost.
  safeToRepeat: false,
  asks: true,
  async run({ path, content }, context) {
    const length = Buffer.byteLength(content);
    if (length > MOST_FILE_BYTES) return failed(tooLarge(length));
    return changeFile(path, context, (place) => write(place, content, context.signal));
  },
});

function tooLarge(bytes: number): string {
  return `The content has ${bytes} bytes; at most ${MOST_FILE_BYTES} are written at once. Nothing was changed.`;
}

async function write(place: Place, content: string, signal: AbortSignal): Promise<ToolOutcome> {
  const bytes = Buffer.from(content);
  const before = await readBefore(place);
  if (before && "refusal" in before) return failed(before.refusal);
  if (before?.bytes?.equals(bytes)) {
    return { status: "completed", output: `${place.shown} says that already. Nothing was changed.` };
  }
  const refused = await save(place, bytes, { before, signal });
  if (refused) return failed(refused.refusal);
  const { diff, note } = diffOf(place.below, before ? textOf(before.bytes) : "", content);
  const done = before ? "Replaced" : "Created";
  return {
    status: "completed",
    output: `${done} ${place.shown} (${countLines(content)}, ${bytes.length} bytes).${note}`,
    ...(diff && { diff }),
  };
}
