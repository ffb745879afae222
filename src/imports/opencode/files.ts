import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isObject, type Json, listOf, objectOf, textOf } from "../values.js";
import { type KeptMessage, type KeptSession, parsed } from "./parts.js";

/** What `opencode export` wrote. */
export async function exportedSession(path: string): Promise<KeptSession> {
  const whole = await jsonIn(path);
  const info = objectOf(whole.info);
  if (textOf(info.id) === undefined || !Array.isArray(whole.messages)) {
    throw new Error("it is no session that opencode exported");
  }
  const messages = async function* (): AsyncGenerator<KeptMessage> {
    for (const each of listOf(whole.messages).filter(isObject)) {
      const inner = objectOf(each.info);
      yield { id: textOf(inner.id) ?? "message", info: inner, parts: listOf(each.parts).filter(isObject) };
    }
  };
  return { info, messages, close: () => {} };
}

/**
 * A session that stands in files of its own, as versions before 2026 kept it. Which message and which session a file belongs
 * to, its path says.
 */
export async function sessionInFiles(path: string): Promise<KeptSession> {
  const info = await jsonIn(path);
  const id = basename(path, ".json");
  const old = basename(dirname(path)) === "info";
  const storage = dirname(dirname(dirname(path)));
  const at = old ? join(dirname(dirname(path))) : storage;
  const messages = async function* (): AsyncGenerator<KeptMessage> {
    for (const name of await jsonFilesIn(join(at, "message", id))) {
      const message = basename(name, ".json");
      const folder = old ? join(at, "part", id, message) : join(at, "part", message);
      const parts: Json[] = [];
      for (const part of await jsonFilesIn(folder)) parts.push(await jsonIn(join(folder, part)));
      yield { id: message, info: await jsonIn(join(at, "message", id, name)), parts };
    }
  };
  return { info: { ...info, id }, messages, close: () => {} };
}

/** Whether a path is that of such a session. */
export function isSessionFile(name: string): boolean {
  return /(?:^|\/)session\/(?:info|[^/]+)\/ses_[^/]+\.json$/.test(name) && !name.includes("/message/");
}

async function jsonFilesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".json"))
    .map(({ name }) => name)
    .sort();
}

async function jsonIn(path: string): Promise<Json> {
  const value = parsed(await readFile(path, "utf8"));
  if (!value) throw new Error("it is no JSON object");
  return value;
}
