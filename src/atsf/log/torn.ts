import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { syncDirectory } from "../files.js";
import { timeInName } from "../time.js";
import { linesBackward } from "./lines.js";
import { parseLine } from "./parse.js";

export interface Tail {
  /** Where the next line goes. */
  readonly end: number;
  /** What must come before it: a line end, when the last writer left it out. */
  readonly lead: "" | "\n";
  readonly torn: Buffer | undefined;
}

/**
 * Looks at how a log ends: with a line end, with a whole message that lacks one, or with a piece of a message. What is too
 * long to be looked at is ended and kept.
 */
export async function readTail(file: FileHandle, size: number, longest?: number): Promise<Tail> {
  for await (const line of linesBackward(file, size, longest)) {
    if (line.ended) break;
    const entry = parseLine(line);
    if (entry && "problem" in entry && entry.problem === "torn")
      return { end: line.offset, lead: "", torn: line.bytes };
    return { end: size, lead: "\n", torn: undefined };
  }
  return { end: size, lead: "", torn: undefined };
}

/** Puts a torn tail into a file beside the log, so that nothing is lost, and cuts the log to its last line end. */
export async function setTornAside(path: string, file: FileHandle, tail: Tail, now: number): Promise<string> {
  const { name, copy } = await createFree(`${path}.torn-${timeInName(now)}`);
  try {
    await copy.writeFile(tail.torn as Buffer);
    await copy.sync();
  } finally {
    await copy.close();
  }
  await syncDirectory(dirname(path));
  await file.truncate(tail.end);
  return name;
}

/** Two tails may be torn within one millisecond; neither replaces the other. */
async function createFree(base: string): Promise<{ name: string; copy: FileHandle }> {
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}-${number}`;
    try {
      return { name, copy: await open(name, "wx") };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}
