import { existsSync, lstatSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { type KernelLock, Lru, openLock, sqliteErrorCode, Turns } from "../base/index.js";
import { assertFile, diskFull, notWritable } from "./disk.js";
import { LOCK, threadNotFound } from "./layout.js";
import { endWish, giveWay, wish } from "./lock-wish.js";

const OPEN_LOCKS = 128;
const FIRST_WAIT_MS = 1;
const LONGEST_WAIT_MS = 25;
const TELL_AFTER_MS = 2_000;
const WISH_AFTER_MS = 10;
/** Who had it until just now lets others go first. */
const RECENT_MS = 50;

/** Told once when a writer has waited two seconds for another program to let go of a thread. */
export type OnWaiting = (dir: string) => void;

interface Opened {
  readonly lock: KernelLock;
  readonly inode: number;
  releasedAt: number;
  users: number;
  retired: boolean;
}

/** One writer per thread, across processes. A waiting one waits; a stopped holder is never robbed. */
export class ThreadLocks {
  readonly #turns = new Turns();
  readonly #opened = new Lru<string, Opened>(OPEN_LOCKS, retire);
  readonly #onWaiting: OnWaiting;

  constructor(onWaiting: OnWaiting = () => {}) {
    this.#onWaiting = onWaiting;
  }

  /** Runs work while nobody else can write to the thread in a directory. */
  run<T>(dir: string, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(dir, async () => {
      const opened = await this.#hold(dir);
      try {
        return await work();
      } finally {
        letGo(opened);
      }
    });
  }

  /** Lets go of a directory that is about to move or go. */
  forget(dir: string): void {
    this.#opened.delete(dir);
  }

  close(): void {
    this.#opened.clear();
  }

  /** What was waited for may be the lock of a thread that was moved away meanwhile: it guards nothing here. */
  async #hold(dir: string): Promise<Opened> {
    for (;;) {
      const opened = this.#open(dir);
      opened.users++;
      const failed = await this.#take(opened, dir).then(
        () => undefined,
        (error) => lockError(error, dir),
      );
      const isHere = inodeOf(join(dir, LOCK)) === opened.inode;
      if (isHere && failed === undefined) return opened;
      letGo(opened);
      if (isHere) throw failed;
      this.forget(dir);
    }
  }

  async #take(opened: Opened, dir: string): Promise<void> {
    const started = performance.now();
    if (started - opened.releasedAt < RECENT_MS) await giveWay(dir);
    let told = false;
    let wished = false;
    for (let wait = FIRST_WAIT_MS; !opened.lock.tryTake(); wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      const waited = performance.now() - started;
      if (!told && waited > TELL_AFTER_MS) {
        told = true;
        this.#onWaiting(dir);
      }
      if (waited > WISH_AFTER_MS) {
        wished = true;
        wish(dir);
      }
      await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())));
    }
    if (wished) endWish(dir);
  }

  /** A lock on a file that was replaced (the thread was moved away and made again) guards nothing. */
  #open(dir: string): Opened {
    const path = join(dir, LOCK);
    const known = this.#opened.get(dir);
    if (known && inodeOf(path) === known.inode) return known;
    const opened: Opened = {
      ...openFile(dir),
      releasedAt: Number.NEGATIVE_INFINITY,
      users: 0,
      retired: false,
    };
    this.#opened.set(dir, opened);
    return opened;
  }
}

function openFile(dir: string): Pick<Opened, "lock" | "inode"> {
  const path = join(dir, LOCK);
  // A link would have the lock made where it leads, and only a file can guard anything.
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found) assertFile(path, found);
  let lock: KernelLock | undefined;
  try {
    lock = openLock(path);
    // The driver makes the file with the first lock taken.
    if (lock.tryTake()) lock.release();
    return { lock, inode: inodeOf(path) ?? 0 };
  } catch (error) {
    lock?.close();
    throw lockError(error, dir);
  }
}

function letGo(opened: Opened): void {
  opened.lock.release();
  opened.releasedAt = performance.now();
  opened.users--;
  if (opened.retired) retire(opened);
}

/** Closing a lock that is held would free it under its holder: that waits until it is released. */
function retire(opened: Opened): void {
  opened.retired = true;
  if (opened.users === 0) opened.lock.close();
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

const SQLITE_FULL = 13;
const SQLITE_REFUSED = new Set([3, 8, 14, 23]);

/** The lock is a file of the thread: without the directory there is no thread, without the right to write no writer. */
function lockError(error: unknown, dir: string): unknown {
  const path = join(dir, LOCK);
  if (!existsSync(dir)) return threadNotFound(basename(dir));
  const code = sqliteErrorCode(error);
  if (code === SQLITE_FULL) return diskFull(path, error);
  return code !== undefined && SQLITE_REFUSED.has(code) ? notWritable(path, error) : error;
}
