import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { linesForward } from "../atsf/index.js";
import { isObject, type Json } from "./values.js";

/** Where a line stands, so that it can be read again: what a session holds is never in memory as a whole. */
export interface LineRef {
  readonly offset: number;
  readonly length: number;
}

export interface ReadLine {
  readonly ref: LineRef;
  /** From 0. */
  readonly number: number;
  /** Undefined for a line that is no JSON object. */
  readonly value: Json | undefined;
}

/** A line past this is told and skipped. */
const LONGEST = 64 * 1024 * 1024;

/** A file of JSON lines that another program may be writing to. What is appended while it is read is left for the next time. */
export class LineFile {
  readonly #file: FileHandle;
  readonly #size: number;
  readonly modifiedAt: number;
  #sha256 = "";

  private constructor(file: FileHandle, size: number, modifiedAt: number) {
    this.#file = file;
    this.#size = size;
    this.modifiedAt = modifiedAt;
  }

  static async open(path: string): Promise<LineFile> {
    // A pipe would wait for its writer, and a link lead anywhere.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const found = await file.stat();
      if (!found.isFile()) throw new Error("it is no regular file");
      return new LineFile(file, found.size, found.mtimeMs);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Every line from the first on. A last line without an end that can't be read is still being written: it is no line yet. */
  async *lines(): AsyncGenerator<ReadLine> {
    const hash = createHash("sha256");
    let number = 0;
    for await (const { offset, end, bytes, ended, tooLong } of linesForward(
      this.#file,
      0,
      this.#size,
      LONGEST,
    )) {
      const value = tooLong ? undefined : parse(bytes);
      if (!ended && value === undefined) break;
      hash.update(tooLong ? `${end - offset}` : bytes).update("\n");
      if (bytes.length > 0 || tooLong) yield { ref: { offset, length: bytes.length }, number, value };
      number += 1;
    }
    this.#sha256 = hash.digest("hex");
  }

  /** Of all lines, once they were read. */
  get sha256(): string {
    return this.#sha256;
  }

  async read(ref: LineRef): Promise<Json> {
    return parse(await this.#bytes(ref)) ?? {};
  }

  /** Whether two lines are the same to the byte. */
  async isSame(one: LineRef, other: LineRef): Promise<boolean> {
    return one.length === other.length && (await this.#bytes(one)).equals(await this.#bytes(other));
  }

  async #bytes({ offset, length }: LineRef): Promise<Buffer> {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; ) {
      const { bytesRead } = await this.#file.read(bytes, at, length - at, offset + at);
      if (bytesRead === 0) throw new Error("it became shorter while it was read");
      at += bytesRead;
    }
    return bytes;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

function parse(bytes: Buffer): Json | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What the first lines say, as far as someone wants to know; a long session is not read to the end for it. */
export async function readHead<T>(
  path: string,
  take: (value: Json) => T | undefined,
): Promise<{ readonly found: T | undefined; readonly modifiedAt: number }> {
  const file = await LineFile.open(path);
  try {
    for await (const { value, ref, number } of file.lines()) {
      const found = value && take(value);
      if (found !== undefined) return { found, modifiedAt: file.modifiedAt };
      if (number > HEAD_LINES || ref.offset > HEAD_BYTES) break;
    }
    return { found: undefined, modifiedAt: file.modifiedAt };
  } finally {
    await file.close();
  }
}

const HEAD_LINES = 500;
const HEAD_BYTES = 8 * 1024 * 1024;
