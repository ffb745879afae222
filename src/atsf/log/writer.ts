import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { writing } from "../disk.js";
import { isMissing, syncDirectory } from "../files.js";
import { type LogMark, markBehind } from "./mark.js";
import { readTail, setTornAside, type Tail } from "./torn.js";

const flush = promisify(fdatasync);
const NEWLINE = 0x0a;

/** Where lines were written, and where the log goes since. */
export interface Written {
  readonly from: number;
  readonly mark: LogMark;
}

/**
 * Appends lines to one log, durably. It keeps the file open between calls; the caller holds the thread's lock during each.
 * In between anyone may write, so how the file ends is looked at every time. Only the flush leaves the thread: looking
 * and writing take microseconds, a way through the pool takes longer.
 */
export class LogWriter {
  readonly #path: string;
  readonly #now: () => number;
  #file: number | undefined;
  #inode = 0;
  /** Its name in the directory may not be on disk yet. */
  #isNew = false;
  #users = 0;
  #retired = false;

  constructor(path: string, now: () => number) {
    this.#path = path;
    this.#now = now;
  }

  /** On disk when it resolves. `ahead` is called before that, when they stand in the file: a power cut may take them back. */
  append(lines: string, ahead: (written: Written) => void = () => {}): Promise<Written> {
    return writing(this.#path, async () => {
      this.#users++;
      try {
        return await this.#append(lines, ahead);
      } finally {
        this.#users--;
        if (this.#retired) this.close();
      }
    });
  }

  /** Lets go of the file; while it is being written to, as soon as that is done. The next append opens it again. */
  close(): void {
    this.#retired = this.#users > 0;
    if (this.#retired || this.#file === undefined) return;
    closeSync(this.#file);
    this.#file = undefined;
  }

  async #append(lines: string, ahead: (written: Written) => void): Promise<Written> {
    const file = await this.#open();
    const { end, lead } = await this.#findEnd(file);
    const bytes = Buffer.from(lead + lines);
    const written = { from: end, mark: markBehind(this.#inode, end + bytes.length, bytes) };
    try {
      writeAll(file, bytes, end);
      ahead(written);
      await Promise.all([flush(file), this.#isNew ? syncDirectory(dirname(this.#path)) : undefined]);
      this.#isNew = false;
    } catch (error) {
      // A full disk may have taken half a line. What was acknowledged before stands above it.
      cutBack(file, end);
      throw error;
    }
    return written;
  }

  /** Where the next line goes, and what must come before it. A piece of a line is put aside first. */
  async #findEnd(file: number): Promise<Pick<Tail, "end" | "lead">> {
    const { size } = fstatSync(file);
    if (size === 0 || lastByte(file, size) === NEWLINE) return { end: size, lead: "" };
    const handle = await open(this.#path, "r+");
    try {
      const tail = await readTail(handle, size);
      if (tail.torn) await setTornAside(this.#path, handle, tail, this.#now());
      return tail;
    } finally {
      await handle.close();
    }
  }

  /** A log that was replaced or removed under its name is opened anew. */
  async #open(): Promise<number> {
    const inode = inodeAt(this.#path);
    if (this.#file !== undefined && inode === this.#inode) return this.#file;
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    const file = openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o666);
    this.#file = file;
    this.#inode = fstatSync(file).ino;
    this.#isNew ||= inode === undefined;
    return file;
  }
}

function lastByte(file: number, size: number): number | undefined {
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, size - 1);
  return byte[0];
}

function writeAll(file: number, bytes: Buffer, position: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
}

function cutBack(file: number, size: number): void {
  try {
    ftruncateSync(file, size);
  } catch {
    // Then the half line stays, and the next writer finds it torn and puts it aside.
  }
}

function inodeAt(path: string): number | undefined {
  try {
    return statSync(path).ino;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
