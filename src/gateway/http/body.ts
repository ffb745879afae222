import { gatewayError } from "../rpc/errors.js";

type Body = { readonly text: string } | { readonly error: ReturnType<typeof gatewayError> };

/** Reads a request's body as UTF-8, but never more than the limit. */
export async function readBody(request: Request, limit: number): Promise<Body> {
  if (Number(request.headers.get("content-length") ?? 0) > limit) return tooLarge(limit);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > limit) return tooLarge(limit);
    chunks.push(chunk);
  }
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)) };
  } catch {
    return { error: gatewayError({ kind: "parse_error" }, "The message is not valid UTF-8.") };
  }
}

function tooLarge(limit: number): Body {
  return { error: gatewayError({ kind: "request.too_large", limit }, `A message may have ${limit} bytes.`) };
}
