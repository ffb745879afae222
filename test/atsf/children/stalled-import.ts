/** Begins to import an archive of which only the first part ever comes, and waits until it is killed. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { openProject, unpackThreads } from "../../../src/atsf/index.js";
import { soundThread, tar } from "../archive-support.js";

const project = await openProject(process.argv[2] as string);
const beginning = tar(soundThread("t"), Buffer.alloc(0));

async function* forEver() {
  yield beginning;
  await new Promise(() => setInterval(() => {}, 1_000));
}

void unpackThreads(Readable.from(forEver()), project);
const threads = join(project.root, ".agent/threads");
const written = () => {
  try {
    return readdirSync(threads, { recursive: true }).some((path) => String(path).endsWith("messages.jsonl"));
  } catch {
    return false;
  }
};
while (!written()) await new Promise((next) => setTimeout(next, 5));
process.stdout.write("begun\n");
