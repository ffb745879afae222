import { sha256 } from "../../base/index.js";
import { blobs, type Unit } from "../../store/index.js";
import { promptsError } from "../errors.js";

const MAX_BLOB_BYTES = 16 * 1024 * 1024;

export interface WrittenBlob {
  /** The number other rows name it by. */
  readonly id: number;
  readonly ref: string;
}

/** Keeps exactly these bytes, or the UTF-8 bytes of a text, under their hash. What is there already is not kept twice. */
export function* writeBlob(content: Uint8Array | string, at: number): Unit<WrittenBlob> {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  assertFits(bytes.length);
  const hash = sha256(bytes);
  return { id: yield* blobs.putBlob({ hash, content: bytes }, at), ref: `sha256:${hash}` };
}

function assertFits(size: number): void {
  if (size <= MAX_BLOB_BYTES) return;
  throw promptsError(
    { kind: "blob.too_large", size, limit: MAX_BLOB_BYTES },
    `A blob may have ${MAX_BLOB_BYTES} bytes; this one has ${size}.`,
  );
}
