import type { Stats } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { packThread, threadDirectories } from "../../../atsf/index.js";
import { cliError } from "../../errors.js";
import { reason } from "../agents-md/text-file.js";

/** As base64 with what is around it, it has to fit into one message of 16 MB. */
const LARGEST = 11 * 1024 * 1024;

/** A file, or each thread of a directory, as an archive that a gateway elsewhere can be sent. */
export async function* archivesOf(given: string): AsyncGenerator<string> {
  const path = resolve(given);
  const found = await assertThere(path);
  if (!found.isDirectory()) {
    if (found.size > LARGEST) throw tooLarge(given);
    yield (await readFile(path).catch((error) => Promise.reject(unreadable(given, error)))).toString(
      "base64",
    );
    return;
  }
  for (const dir of await threadDirectories(path)) yield packed(dir);
}

/** Links are followed: whoever names one means what it leads to. */
export function assertThere(path: string): Promise<Stats> {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    throw unreadable(path, error);
  });
}

async function packed(dir: string): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of packThread(dir)) {
    size += part.length;
    if (size > LARGEST) throw tooLarge(dir);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("base64");
}

function unreadable(path: string, error: NodeJS.ErrnoException) {
  return cliError({ kind: "file.unreadable", path }, `${path} can't be read: ${reason(error)}.`, error);
}

function tooLarge(path: string) {
  return cliError(
    { kind: "file.too_large", path, limit: LARGEST },
    `${path} comes to more than ${LARGEST} bytes, too many to send. Import it on the gateway's own machine, without --url.`,
  );
}
