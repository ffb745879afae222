import { readFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { PageFile, PageFiles } from "../gateway/index.js";

const HERE = dirname(fileURLToPath(import.meta.url));
/** From the bundle (`dist/bin`), from what was built (`dist/app`), and from the sources (`src/app`). */
const PLACES = ["../web", "../../dist/web"];
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};
const NAME = /^\/(?:assets\/)?[\w-]+(?:\.[\w-]+)*$/;
const zip = promisify(gzip);

/** The files of the built page, each read and compressed once. */
export function pageFiles(places: readonly string[] = PLACES.map((place) => join(HERE, place))): PageFiles {
  const known = new Map<string, Promise<PageFile | undefined>>();
  return (path) => {
    // Names as the build makes them and nothing else: no way leads out of the directory.
    const type = NAME.test(path) ? TYPES[extname(path)] : undefined;
    if (type === undefined) return Promise.resolve(undefined);
    const found = known.get(path) ?? read(places, path, type);
    known.set(path, found);
    // What was not there may be built later, and unknown names must not pile up.
    void found.then((file) => file ?? known.delete(path));
    return found;
  };
}

async function read(places: readonly string[], path: string, type: string): Promise<PageFile | undefined> {
  for (const place of places) {
    const bytes = await readFile(join(place, path)).catch(() => undefined);
    if (!bytes) continue;
    const zipped = await zip(bytes, { level: 9 });
    return {
      type,
      bytes: new Uint8Array(bytes),
      gzip: zipped.length < bytes.length ? new Uint8Array(zipped) : undefined,
    };
  }
  return undefined;
}
