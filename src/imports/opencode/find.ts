import { lstat } from "node:fs/promises";
import type { Found } from "../session.js";
import { directoryOf, numberOf, textOf, wordOf } from "../values.js";
import { filesBelow, isDirectory, type WalkedFile, whyNot } from "../walk.js";
import { sessionsIn } from "./database.js";
import { exportedSession, isSessionFile, sessionInFiles } from "./files.js";

/** Where no session begins; of these there may be very many. */
const ELSEWHERE = new Set(["message", "part", "snapshot", "log", "repos", "bin", "todo", "tool-output"]);

/** Sessions of opencode. One that stands in a database and in files of an older version is the one of the database. */
export async function* findOpencode(place: string): AsyncGenerator<Found> {
  const known = new Set<string>();
  const whole = await isDirectory(place);
  const files: WalkedFile[] = [];
  for await (const file of filesBelow(place, (name) => !ELSEWHERE.has(name))) {
    if ("reason" in file) yield file;
    else if (/^[^/]*\.db$/.test(file.name)) yield* rememberIds(known, inDatabase(file.path));
    else if (file.name.endsWith(".json") && (!whole || wanted(file.name))) files.push(file);
  }
  for (const file of files) {
    const found = await inFile(file);
    if (!("id" in found) || !known.has(found.id)) yield found;
  }
}

/** In a directory of its own data only sessions are looked at; elsewhere, whatever may be an export. */
function wanted(name: string): boolean {
  return isSessionFile(name) || !name.includes("/");
}

async function* rememberIds(known: Set<string>, sessions: AsyncIterable<Found>): AsyncGenerator<Found> {
  for await (const found of sessions) {
    if ("id" in found) known.add(found.id);
    yield found;
  }
}

async function* inDatabase(path: string): AsyncGenerator<Found> {
  try {
    for (const { id, directory, time_updated } of sessionsIn(path)) {
      const modifiedAt = numberOf(time_updated) ?? 0;
      yield { tool: "opencode", path, id: wordOf(id), cwd: directoryOf(directory), modifiedAt };
    }
  } catch (error) {
    yield { path, reason: `its sessions can't be read: ${whyNot(error)}` };
  }
}

async function inFile({ path, name }: WalkedFile): Promise<Found> {
  try {
    const isOwn = isSessionFile(name) || isSessionFile(path);
    const { info } = isOwn ? await sessionInFiles(path) : await exportedSession(path);
    const { mtimeMs } = await lstat(path);
    const id = textOf(info.id);
    if (id === undefined) return { path, reason: "it names no session" };
    return { tool: "opencode", path, id, cwd: directoryOf(info.directory), modifiedAt: mtimeMs };
  } catch (error) {
    return { path, reason: whyNot(error) };
  }
}
