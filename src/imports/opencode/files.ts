import { constants } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isObject, type Json, listOf, objectOf, textOf } from "../values.js";
import { isDirectory } from "../walk.js";
import { type KeptMessage, type KeptSession, keptMessage, parsed } from "./parts.js";

/** What `opencode export` wrote. */
export async function exportedSession(path: string): Promise<KeptSession> {
  const raw = await textIn(path);
  const whole = objectIn(raw);
  const info = objectOf(whole.info);
  if (textOf(info.id) === undefined || !Array.isArray(whole.messages)) {
    throw new Error("it is no session that opencode exported");
  }
  const messages = async function* (): AsyncGenerator<KeptMessage> {
    for (const each of listOf(whole.messages)) {
      const { info: inner, parts: given } = objectOf(each);
      const parts = listOf(given).filter(isObject);
      const unread = (isObject(inner) ? 0 : 1) + listOf(given).length - parts.length;
      const info = objectOf(inner);
      yield { id: textOf(info.id) ?? "message", info, parts, unread, raw: [] };
    }
  };
  return { info, raw, messages, close: () => {} };
}

/**
 * A session that stands in files of its own, as versions before 2026 kept it. Which message and which session a file belongs
 * to, its path says.
 */
export async function sessionInFiles(path: string): Promise<KeptSession> {
  const info = objectIn(await textIn(path));
  const id = basename(path, ".json");
  const old = basename(dirname(path)) === "info";
  const storage = dirname(dirname(dirname(path)));
  const at = old ? join(dirname(dirname(path))) : storage;
  const messages = async function* (): AsyncGenerator<KeptMessage> {
    for (const file of await jsonFilesIn(at, "message", id)) {
      const message = basename(file, ".json");
      const parts: string[] = [];
      for (const part of await jsonFilesIn(at, "part", ...(old ? [id] : []), message))
        parts.push(await textOrNone(part));
      yield keptMessage(message, await textOrNone(file), parts);
    }
  };
  return { info: { ...info, id }, raw: textOf(info.title) ?? "", messages, close: () => {} };
}

/** Whether a path is that of such a session. */
export function isSessionFile(name: string): boolean {
  return /(?:^|\/)session\/(?:info|[^/]+)\/ses_[^/]+\.json$/.test(name) && !name.includes("/message/");
}

/** The paths of such files. None of the directories below the session's own place may be a link. */
async function jsonFilesIn(place: string, ...names: readonly string[]): Promise<string[]> {
  let folder = place;
  for (const name of names) {
    folder = join(folder, name);
    if (!(await isDirectory(folder))) return [];
  }
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".json"))
    .map(({ name }) => join(folder, name))
    .sort();
}

function objectIn(text: string): Json {
  const value = parsed(text);
  if (!value) throw new Error("it is no JSON object");
  return value;
}

function textIn(path: string): Promise<string> {
  // A pipe would wait for its writer, and a link lead anywhere.
  return readFile(path, {
    encoding: "utf8",
    flag: constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  });
}

/** Of a file that can't be read, nothing. Where there are too many open ones, that says nothing of this one. */
function textOrNone(path: string): Promise<string> {
  return textIn(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "EMFILE" || error.code === "ENFILE") throw error;
    return "";
  });
}
