import { sha256 } from "../base/index.js";
import type { ThreadsDeps } from "./deps.js";
import { locateThread, openFiles, type ThreadRef } from "./locate.js";

export interface Asset {
  readonly bytes: Buffer;
  readonly mimeType: string;
  /** Names its content, whatever its file is called. */
  readonly hash: string;
}

const SHOWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"]);

/** A file beside a thread. What it is says the block that shows it, or else its first bytes; never its name. */
export async function readThreadAsset(
  deps: ThreadsDeps,
  ref: ThreadRef,
  assetRef: string,
  claimed: string | undefined,
): Promise<Asset> {
  const bytes = await (await openFiles(deps, await locateThread(deps, ref))).readAsset(assetRef);
  const mimeType = claimed !== undefined && SHOWN.has(claimed) ? claimed : sniff(bytes);
  return { bytes, mimeType, hash: sha256(bytes) };
}

function sniff(bytes: Buffer): string {
  const head = bytes.subarray(0, 12).toString("latin1");
  if (head.startsWith("\x89PNG\r\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("GIF8")) return "image/gif";
  if (head.startsWith("RIFF") && head.endsWith("WEBP")) return "image/webp";
  return "application/octet-stream";
}
