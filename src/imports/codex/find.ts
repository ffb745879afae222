import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { readHead } from "../line-file.js";
import type { Found } from "../session.js";
import { directoryOf, objectOf, textOf } from "../values.js";
import { filesBelow, isDirectory, whyNot } from "../walk.js";
import { canUnpack, isPacked, withPlainFile } from "./packed.js";

/** Sessions of Codex, archived ones included. */
export async function* findCodex(place: string): AsyncGenerator<Found> {
  const own = [join(place, "sessions"), join(place, "archived_sessions")];
  const there = await Promise.all(own.map(isDirectory));
  const places = there.some(Boolean) ? own.filter((_, at) => there[at]) : [place];
  for (const each of places) {
    for await (const file of filesBelow(each)) {
      if ("reason" in file) yield file;
      else if (/\.jsonl(\.zst)?$/.test(file.name)) yield* sessionIn(file.path);
    }
  }
}

async function* sessionIn(path: string): AsyncGenerator<Found> {
  if (isPacked(path) && !canUnpack()) {
    const reason =
      "it is packed with zstd, which this Node.js can't unpack: unpack it with `zstd -d`, or use Node.js 22.15 or later";
    yield { path, reason };
    return;
  }
  try {
    const { mtimeMs: modifiedAt } = await lstat(path);
    const { found } = await withPlainFile(path, (plain) =>
      readHead(plain, ({ type, payload }) => (type === "session_meta" ? objectOf(payload) : undefined)),
    );
    const id = textOf(found?.id) ?? textOf(found?.session_id);
    if (id === undefined) yield { path, reason: "it does not begin as a session of Codex does" };
    else yield { tool: "codex", path, id, cwd: directoryOf(found?.cwd), modifiedAt };
  } catch (error) {
    yield { path, reason: whyNot(error) };
  }
}
