import type { Context } from "hono";
import { HeddleError } from "../../base/index.js";
import { RPC_CODES } from "../../protocol/index.js";
import type { Asset } from "../../threads/index.js";
import { knownError } from "../rpc/errors.js";

export type ReadAsset = (
  ref: { thread_id: string; workspace_id?: string | undefined },
  assetRef: string,
  mimeType: string | undefined,
) => Promise<Asset>;

/** An image came from a model or a user: even one that is a document with scripts can do nothing. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** Answers `GET /threads/<thread_id>/assets/<assetRef>?type=<the block's mimeType>`. */
export async function answerAsset(c: Context, read: ReadAsset): Promise<Response> {
  const { thread_id = "", asset_ref = "" } = c.req.param() as Record<string, string>;
  const workspace_id = c.req.query("workspace_id");
  let asset: Asset;
  try {
    asset = await read({ thread_id, workspace_id }, asset_ref, c.req.query("type"));
  } catch (error) {
    const known = error instanceof HeddleError ? knownError(error) : undefined;
    if (!known) throw error;
    const status = known.code === RPC_CODES.invalid_params ? 404 : 409;
    return c.json({ error: known.message, kind: known.data.kind }, status);
  }
  const etag = `"${asset.hash}"`;
  const headers = {
    "Content-Type": asset.mimeType,
    "Content-Security-Policy": POLICY,
    "Cache-Control": "private, max-age=31536000, immutable",
    ETag: etag,
  };
  if (c.req.header("if-none-match") === etag) return c.body(null, 304, headers);
  return c.body(new Uint8Array(asset.bytes), 200, headers);
}
