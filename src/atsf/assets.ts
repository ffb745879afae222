import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { assertInside } from "./confined.js";
import { atsfError } from "./errors.js";
import { isMissing, syncDirectory, writeAtomic } from "./files.js";
import { ASSETS } from "./layout.js";

const REF = /^sha256-[0-9a-f]{16,64}\.[a-z0-9]{1,8}$/;
const SHORT = 16;

const EXTENSIONS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
};

/** Keeps bytes beside a thread under the name of their content. The same bytes are kept once. */
export async function saveAsset(threadDir: string, bytes: Uint8Array, mimeType: string): Promise<string> {
  const dir = join(threadDir, ASSETS);
  if (await mkdir(dir, { recursive: true })) await syncDirectory(threadDir);
  await assertInside(threadDir, dir);
  const hash = createHash("sha256").update(bytes).digest("hex");
  const extension = EXTENSIONS[mimeType] ?? "bin";
  for (const length of [SHORT, hash.length]) {
    const name = `sha256-${hash.slice(0, length)}.${extension}`;
    const there = await readIfThere(join(dir, name));
    if (there && !there.equals(bytes)) continue;
    if (!there) await writeAtomic(join(dir, name), bytes);
    return name;
  }
  throw invalid(hash);
}

export async function readAsset(threadDir: string, assetRef: string): Promise<Buffer> {
  if (!REF.test(assetRef)) throw invalid(assetRef);
  const path = join(threadDir, ASSETS, assetRef);
  await assertInside(join(threadDir), path);
  const bytes = await readIfThere(path);
  if (bytes) return bytes;
  throw atsfError({ kind: "atsf.asset_not_found", asset_ref: assetRef }, `There is no asset ${assetRef}.`);
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function invalid(asset_ref: string) {
  return atsfError(
    { kind: "atsf.asset_invalid", asset_ref },
    `${JSON.stringify(asset_ref)} can't be an asset's name.`,
  );
}
