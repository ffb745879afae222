import { randomBytes } from "node:crypto";
import type { Context, Env, Hono } from "hono";
import type { Auth } from "./auth.js";
import { LANDING_POLICY, landing } from "./landing.js";

export interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzip: Uint8Array<ArrayBuffer> | undefined;
}

/** The built page, by path (`/index.html`). Undefined where it was not built: the gateway works without it. */
export type PageFiles = (path: string) => Promise<PageFile | undefined>;

const NONCE_PLACE = '<meta name="heddle-nonce" content="" />';

/** Everything of the page comes from here, and nothing of it is written into the document. */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    // The editor makes its own style sheet, which carries the nonce of this one answer.
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' blob:",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** The page and its files: open to everyone, because they hold nothing of anybody. */
export function addPage<E extends Env>(app: Hono<E>, files: PageFiles | undefined, auth: Auth): void {
  const document = (c: Context) => answerDocument(c, files, auth);
  app.get("/", document);
  app.get("/w/*", document);
  app.get("/assets/*", (c) => answerFile(c, files, "public, max-age=31536000, immutable"));
  app.get("/mark.svg", (c) => answerFile(c, files, "public, max-age=86400"));
}

/** An address that lets one browser in, once: for whoever is let in already. */
export function addVisits<E extends Env>(app: Hono<E>, auth: Auth): void {
  app.post("/visits", (c) => c.json({ path: `/?code=${auth.newCode()}` }));
}

async function answerDocument(c: Context, files: PageFiles | undefined, auth: Auth): Promise<Response> {
  const code = c.req.query("code");
  if (code !== undefined) {
    const cookie = auth.redeem(code, c.req.header("host"));
    if (cookie) c.header("Set-Cookie", cookie);
    return c.redirect(withoutCode(c.req.url), 303);
  }
  const index = await files?.("/index.html");
  if (!index) {
    c.header("Content-Security-Policy", LANDING_POLICY);
    return c.html(landing);
  }
  const nonce = randomBytes(16).toString("base64");
  c.header("Content-Security-Policy", policy(nonce));
  c.header("Cache-Control", "no-store");
  const text = Buffer.from(index.bytes).toString("utf8");
  return c.html(text.replace(NONCE_PLACE, NONCE_PLACE.replace('""', `"${nonce}"`)));
}

/** The same address without the code. Two slashes at its beginning would name another host. */
function withoutCode(address: string): string {
  const { pathname, searchParams } = new URL(address);
  searchParams.delete("code");
  const query = searchParams.size > 0 ? `?${searchParams}` : "";
  return pathname.replace(/^\/+/, "/") + query;
}

async function answerFile(c: Context, files: PageFiles | undefined, caching: string): Promise<Response> {
  const file = await files?.(c.req.path);
  if (!file) return c.json({ error: "There is nothing at this address." }, 404);
  const zipped = file.gzip && /\bgzip\b/.test(c.req.header("accept-encoding") ?? "") ? file.gzip : undefined;
  return c.body(zipped ?? file.bytes, 200, {
    "Content-Type": file.type,
    "Cache-Control": caching,
    Vary: "Accept-Encoding",
    ...(zipped && { "Content-Encoding": "gzip" }),
  });
}
