import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { assertInside } from "./confined.js";
import { writing } from "./disk.js";
import { atsfError } from "./errors.js";
import { isMissing, readIfThere, syncDirectory, writeAtomic } from "./files.js";
import { ASSETS, threadNotFound } from "./layout.js";

const SHORT = 16;

const EXTENSIONS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
};

/** Whether a name can be an asset's: anything else could lead out of `assets/`. */
export function isAssetRef(name: string): boolean {
  return /^sha256-[0-9a-f]{16,64}\.[a-z0-9]{1,8}$/.test(name);
}

/** Keeps bytes beside a thread under the name of their content. The same bytes are kept once. */
export async function saveAsset(threadDir: string, bytes: Uint8Array, mimeType: string): Promise<string> {
  const dir = join(threadDir, ASSETS);
  await writing(dir, () => makeDirectory(threadDir, dir));
  await assertInside(threadDir, dir);
  const hash = createHash("sha256").update(bytes).digest("hex");
  const extension = EXTENSIONS[mimeType] ?? "bin";
  for (const length of [SHORT, hash.length]) {
    const name = `sha256-${hash.slice(0, length)}.${extension}`;
    await assertInside(threadDir, join(dir, name));
    const there = await readIfThere(join(dir, name));
    if (there && !there.equals(bytes)) continue;
    if (!there) await writeAtomic(join(dir, name), bytes);
    return name;
  }
  throw invalid(hash);
}

export async function readAsset(threadDir: string, assetRef: string): Promise<Buffer> {
  if (!isAssetRef(assetRef)) throw invalid(assetRef);
  const path = join(threadDir, ASSETS, assetRef);
  await assertInside(threadDir, path);
  const bytes = await readIfThere(path);
  if (bytes) return bytes;
  throw atsfError({ kind: "atsf.asset_not_found", asset_ref: assetRef }, `There is no asset ${assetRef}.`);
}

/** Never makes the thread's own directory: a thread that was removed must not come back as a shell. */
async function makeDirectory(threadDir: string, dir: string): Promise<void> {
  try {
    await mkdir(dir);
    await syncDirectory(threadDir);
  } catch (error) {
    if (isMissing(error)) throw threadNotFound(basename(threadDir));
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function invalid(asset_ref: string) {
  return atsfError(
    { kind: "atsf.asset_invalid", asset_ref },
    `${JSON.stringify(asset_ref)} can't be an asset's name.`,
  );
}
