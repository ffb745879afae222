import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/stores.js";
import { linesBackward, linesForward, type RawLine } from "./lines.js";

async function collect(lines: AsyncGenerator<RawLine>): Promise<object[]> {
  const found: object[] = [];
  for await (const { offset, bytes, ended } of lines) found.push({ offset, text: bytes.toString(), ended });
  return found;
}

/** What the lines of a text are, said plainly. */
function plainLines(text: string): object[] {
  const parts = text.split("\n");
  const last = parts.pop() as string;
  let offset = 0;
  const lines = parts.map((part) => {
    const line = { offset, text: part, ended: true };
    offset += Buffer.byteLength(part) + 1;
    return line;
  });
  return last === "" ? lines : [...lines, { offset, text: last, ended: false }];
}

const piece = fc.oneof(
  fc.constantFrom("", "a", "é", "😀", "\r"),
  fc.integer({ min: 65_500, max: 65_600 }).map((length) => "x".repeat(length)),
);

test("[LOG1] lines are the same read from the front and from the back, whatever falls on a chunk's edge", async () => {
  const path = join(temporaryDirectory(), "log");
  const text = fc
    .tuple(fc.array(piece, { maxLength: 8 }), fc.constantFrom("", "\n", "\n\n"))
    .map(([parts, end]) => parts.join("\n") + end);
  await fc.assert(
    fc.asyncProperty(text, async (content) => {
      await writeFile(path, content);
      const file = await open(path, "r");
      const size = Buffer.byteLength(content);
      const forward = await collect(linesForward(file, 0, size));
      const backward = await collect(linesBackward(file, size));
      await file.close();
      expect(forward).toEqual(plainLines(content));
      expect(backward.reverse()).toEqual(forward);
    }),
    { numRuns: 200 },
  );
});
