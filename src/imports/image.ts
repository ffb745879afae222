import type { Lossy } from "./session.js";
import { wordOf } from "./values.js";

type ImageBlock = { type: "image"; data: string; mimeType: string };

const TYPE = /^image\/[a-z0-9][a-z0-9.+-]{0,63}$/;
const LARGEST = 32 * 1024 * 1024;

/** An image with its bytes; what is none is only counted. */
export function imageBlock(data: unknown, mimeType: unknown, lossy: Lossy): ImageBlock | undefined {
  const isImage =
    typeof data === "string" && typeof mimeType === "string" && TYPE.test(mimeType) && data.length > 0;
  if (!isImage || data.length > LARGEST || !isBase64(data)) {
    lossy.add("images that are damaged, too large or not in the session");
    return undefined;
  }
  return { type: "image", data, mimeType };
}

/** Looks for what does not belong there: a pattern for the whole runs out of stack with an image of some megabytes. */
function isBase64(data: string): boolean {
  return data.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(data.replace(/={1,2}$/, ""));
}

/** The same out of a `data:` address. One that leads elsewhere is never followed. */
export function imageAt(address: unknown, lossy: Lossy): ImageBlock | undefined {
  const [, mimeType, data] = /^data:(image\/[^;,]+);base64,(.*)$/s.exec(wordOf(address)) ?? [];
  return imageBlock(data, mimeType, lossy);
}
