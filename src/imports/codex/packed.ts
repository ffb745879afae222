import { constants, createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import zlib from "node:zlib";

export function isPacked(path: string): boolean {
  return path.endsWith(".zst");
}

type Unpack = () => Transform;
const unpack = (zlib as unknown as { createZstdDecompress?: Unpack }).createZstdDecompress;

/** Node.js can since 22.15. */
export function canUnpack(): boolean {
  return unpack !== undefined;
}

/** A file unpacks to this at most: a small one could fill a disk. */
const LARGEST = 4 * 1024 * 1024 * 1024;

export interface PlainFile {
  readonly path: string;
  remove(): Promise<void>;
}

/** The same file unpacked, readable by this user only, until it is removed; a file that is not packed is itself. */
export async function plainFile(path: string): Promise<PlainFile> {
  if (!isPacked(path) || !unpack) return { path, remove: async () => {} };
  const dir = await mkdtemp(join(tmpdir(), "heddle-"));
  const remove = () => rm(dir, { recursive: true, force: true });
  const plain = join(dir, "session.jsonl");
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    async (error) => {
      await remove();
      throw error;
    },
  );
  try {
    let left = LARGEST;
    const bounded = async function* (source: AsyncIterable<Buffer>) {
      for await (const chunk of source) {
        left -= chunk.length;
        if (left < 0) throw new Error("it unpacks to more than 4 GB");
        yield chunk;
      }
    };
    const packed = createReadStream(path, { fd: file, autoClose: false });
    await pipeline(packed, unpack(), bounded, createWriteStream(plain, { flags: "wx", mode: 0o600 }));
    return { path: plain, remove };
  } catch (error) {
    await remove();
    throw error;
  } finally {
    await file.close();
  }
}

export async function withPlainFile<T>(path: string, work: (plain: string) => Promise<T>): Promise<T> {
  const { path: plain, remove } = await plainFile(path);
  try {
    return await work(plain);
  } finally {
    await remove();
  }
}
