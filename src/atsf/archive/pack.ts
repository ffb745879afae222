import { basename, resolve } from "node:path";
import { pipeline, Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { createGzip } from "node:zlib";
import { createTarPacker, type TarPackController } from "modern-tar";
import { atsfError } from "../errors.js";
import { isThreadId } from "../layout.js";
import { isPassing, isSetAside } from "./leftovers.js";
import { type ThreadFile, threadFiles } from "./thread-files.js";

/**
 * A thread as a tar.gz, written while it is read: the same files give the same bytes, and however large they are only a
 * few chunks are in memory. What goes wrong comes as the stream's error; whoever stops early destroys it.
 */
export function packThread(dir: string): Readable {
  const { readable, controller } = createTarPacker();
  void packInto(controller, dir).catch((error) => controller.error(error));
  return pipeline(Readable.fromWeb(readable as ReadableStream), createGzip(), () => {});
}

async function packInto(controller: TarPackController, dir: string): Promise<void> {
  const threadId = basename(resolve(dir));
  if (!isThreadId(threadId)) {
    throw atsfError(
      { kind: "atsf.invalid_thread_id", thread_id: threadId },
      `${dir} is no thread's directory: ${JSON.stringify(threadId)} can't be a thread's id.`,
    );
  }
  for await (const file of threadFiles(dir, (path) => isPassing(path) || isSetAside(path))) {
    await packFile(controller, `${threadId}/${file.path}`, file);
  }
  controller.finalize();
}

async function packFile(controller: TarPackController, name: string, file: ThreadFile): Promise<void> {
  const { size, mtime } = file;
  // A time before 1970 has no place in a tar header.
  const time = new Date(Math.max(0, mtime.getTime()));
  const writer = controller.add({ name, size, type: "file", mode: 0o644, mtime: time }).getWriter();
  for await (const chunk of file.body) await writer.write(chunk);
  await writer.close();
}
