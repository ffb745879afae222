import { pipeline, type Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { createTarDecoder, type TarHeader } from "modern-tar";
import { HeddleError } from "../../base/index.js";
import { atsfError } from "../errors.js";

export interface ArchiveLimits {
  readonly maxBytes: number;
  readonly maxEntries: number;
}

export interface ArchiveEntry {
  readonly header: TarHeader;
  /** Only until the next entry is asked for. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * The entries of a tar.gz (or of a tar that somebody's browser has unzipped already), each in its turn. An archive that is
 * damaged, cut short or past a limit ends in an error; only when this ends without one was the archive whole.
 */
export async function* archiveEntries(
  archive: Readable,
  limits: ArchiveLimits,
): AsyncGenerator<ArchiveEntry> {
  const { readable, writable } = createTarDecoder({ strict: true });
  void feed(tarBytes(archive, limits), writable);
  const reader = readable.getReader();
  let bytes = 0;
  let entries = 0;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const { header, body } = next.value;
      bytes += header.size;
      entries++;
      if (entries > limits.maxEntries) throw tooLarge("entries", limits.maxEntries);
      if (bytes > limits.maxBytes) throw tooLarge("bytes", limits.maxBytes);
      yield { header, body: translated(body, archive) };
      // What nobody wanted still stands before the next entry.
      await body.cancel();
    }
  } catch (error) {
    throw asArchiveError(error, archive);
  } finally {
    // Feeding ends by itself when there is nobody to feed; waiting for it would wait for a source that has stalled.
    await reader.cancel().catch(() => {});
    archive.destroy();
  }
}

export function tooLarge(unit: "bytes" | "entries", limit: number) {
  const told = unit === "bytes" ? `${limit} bytes` : `${limit} files and directories`;
  return atsfError(
    { kind: "atsf.archive_too_large", unit, limit },
    `This archive unpacks to more than ${told}. Nothing was imported.`,
  );
}

export function invalidArchive(problem: string, why: string, cause?: unknown) {
  return atsfError(
    { kind: "atsf.archive_invalid", problem },
    `This archive can't be imported: ${why}. Nothing was imported.`,
    cause,
  );
}

async function* translated(body: AsyncIterable<Uint8Array>, archive: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw asArchiveError(error, archive);
  }
}

/** A failure of the stream we were given (a lost connection, an unreadable disk) is no fault of the archive. */
function asArchiveError(error: unknown, archive: Readable): unknown {
  if (error instanceof HeddleError || error === archive.errored) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const truncated = code === "Z_BUF_ERROR" || message.includes("truncated");
  const why = truncated ? "it ends too early" : "it is no tar.gz, or it is damaged";
  return invalidArchive(truncated ? "truncated" : "not_an_archive", why, error);
}

async function feed(bytes: AsyncIterable<Uint8Array>, writable: WritableStream<Uint8Array>): Promise<void> {
  const writer = writable.getWriter();
  try {
    for await (const chunk of bytes) await writer.write(chunk);
    await writer.close();
  } catch (error) {
    // Whoever reads the entries is told.
    await writer.abort(error).catch(() => {});
  }
}

/** Headers and padding are not in an entry's size; a bomb may be made of nothing else. */
const ENTRY_BYTES = 2_048;
const SPARE_BYTES = 64 * 1_024;

async function* tarBytes(archive: Readable, { maxBytes, maxEntries }: ArchiveLimits) {
  const most = maxBytes + maxEntries * ENTRY_BYTES + SPARE_BYTES;
  let bytes = 0;
  for await (const chunk of await unzipped(archive)) {
    bytes += chunk.length;
    if (bytes > most) throw tooLarge("bytes", maxBytes);
    yield chunk;
  }
  if (bytes === 0) throw invalidArchive("empty", "it is empty");
}

async function unzipped(archive: Readable): Promise<AsyncIterable<Buffer>> {
  const chunks: AsyncIterator<Buffer> = archive[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < 2) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  async function* whole() {
    yield head;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  return isGzip ? pipeline(whole, createGunzip(), () => {}) : whole();
}
