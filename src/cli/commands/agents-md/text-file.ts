import { readFile } from "node:fs/promises";
import { cliError } from "../../errors.js";

/** Text files on this side of the wire. */

export async function readTextFile(path: string): Promise<string> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw cliError({ kind: "file.unreadable", path }, `${path} can't be read: ${reason(error)}.`, error);
  });
  return decode(bytes, path);
}

export async function readTextInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return decode(Buffer.concat(chunks), "Standard input");
}

/** Other encodings are refused: decoded as UTF-8 they would be saved as garbage. */
function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw cliError({ kind: "file.not_text", path }, `${path} is not UTF-8 text.`, error);
  }
}

export function reason(error: NodeJS.ErrnoException): string {
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "there is no such file or directory",
    EACCES: "permission denied",
    EPERM: "permission denied",
    EISDIR: "it is a directory",
    ENOTDIR: "a part of its path is not a directory",
    EEXIST: "something else is there",
    ENAMETOOLONG: "its name is too long for a file system",
    ENOSPC: "the disk is full",
    EROFS: "the file system is read-only",
  };
  return reasons[error.code ?? ""] ?? error.message;
}
