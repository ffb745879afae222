import { join } from "node:path";
import { readHead } from "../line-file.js";
import type { Found } from "../session.js";
import { directoryOf, textOf } from "../values.js";
import { filesBelow, isDirectory, whyNot } from "../walk.js";

/** Sessions of pi: files whose first line says so. */
export async function* findPi(place: string): AsyncGenerator<Found> {
  const sessions = join(place, "sessions");
  for await (const file of filesBelow((await isDirectory(sessions)) ? sessions : place)) {
    if ("reason" in file) yield file;
    else if (file.name.endsWith(".jsonl")) yield* sessionIn(file.path);
  }
}

async function* sessionIn(path: string): AsyncGenerator<Found> {
  try {
    const { found, modifiedAt } = await readHead(path, (line) => ({ line }));
    const { type, id, cwd } = found?.line ?? {};
    const session = type === "session" ? textOf(id) : undefined;
    if (session === undefined) yield { path, reason: "it does not begin as a session of pi does" };
    else yield { tool: "pi", path, id: session, cwd: directoryOf(cwd), modifiedAt };
  } catch (error) {
    yield { path, reason: whyNot(error) };
  }
}
