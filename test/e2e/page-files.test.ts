import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { http } from "../support/http.js";
import { sqliteStore, temporaryDirectory } from "../support/stores.js";

const SCRIPT = `console.log(${JSON.stringify("x".repeat(2_000))});`;
let gateway: TestGateway;

beforeAll(async () => {
  const root = temporaryDirectory();
  const pageDir = join(root, "web");
  mkdirSync(join(pageDir, "assets"), { recursive: true });
  writeFileSync(
    join(pageDir, "index.html"),
    '<html><meta name="heddle-nonce" content="" /><p>page</p></html>',
  );
  writeFileSync(join(pageDir, "assets", "index-abc.js"), SCRIPT);
  writeFileSync(join(pageDir, "assets", "secret.env"), "SECRET");
  writeFileSync(join(root, "outside.js"), "outside");
  gateway = await startGateway(sqliteStore, { pageDir });
});
afterAll(() => gateway?.stop());

test("[WIRE160] the page's policy allows its own files and nothing else, with a nonce of its own each time", async () => {
  const first = await http(`${gateway.url}/`);
  const second = await http(`${gateway.url}/`);
  const nonceOf = ({ text }: { text: string }) => /content="([^"]{22,})"/.exec(text)?.[1] as string;
  expect(first.headers["content-security-policy"]).toBe(
    "default-src 'none'; script-src 'self'; " +
      `style-src 'self' 'nonce-${nonceOf(first)}'; img-src 'self' blob:; connect-src 'self'; manifest-src 'self'; ` +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  expect(nonceOf(second)).not.toBe(nonceOf(first));
  expect(first.headers["cache-control"]).toBe("no-store");
  expect(first.text).toContain("<p>page</p>");
});

test("[WIRE161] a file is kept for a year, and compressed for whoever takes that", async () => {
  const address = `${gateway.url}/assets/index-abc.js`;
  const plain = await http(address);
  expect(plain).toMatchObject({
    status: 200,
    text: SCRIPT,
    headers: {
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
      "x-content-type-options": "nosniff",
    },
  });
  const answer = await fetch(address, { headers: { "accept-encoding": "gzip" } });
  expect(answer.headers.get("content-encoding")).toBe("gzip");
  expect(await answer.text()).toBe(SCRIPT);
  expect(gunzipSync(await rawBody(address)).toString()).toBe(SCRIPT);
});

async function rawBody(address: string): Promise<Buffer> {
  const { request } = await import("node:http");
  return new Promise((resolve, reject) => {
    const asked = request(address, { headers: { "accept-encoding": "br, gzip" } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => resolve(Buffer.concat(chunks)));
    });
    asked.on("error", reject);
    asked.end();
  });
}

test("[WIRE161] no address of a file leads out of the page's directory, or to what is no file of a page", async () => {
  for (const path of [
    "/assets/../../outside.js",
    "/assets/..%2f..%2foutside.js",
    "/assets/%2e%2e/%2e%2e/outside.js",
    "/assets/..\\..\\outside.js",
    "/assets/secret.env",
    "/assets/",
    "/assets/none.js",
    "/assets/index-abc.js%00.css",
    "/assets//index-abc.js",
  ]) {
    const answer = await http(gateway.url + path);
    expect([401, 404], path).toContain(answer.status);
    expect(answer.text, path).not.toMatch(/outside|SECRET|console/);
  }
});

test("[WIRE162] every address below /w/ is the page's, and a code leaves the address", async () => {
  const answer = await http(`${gateway.url}/w/ws_1/thread/thr_1/context/run_1?full=1`);
  expect(answer.status).toBe(200);
  expect(answer.text).toContain("<p>page</p>");
  const code = new URL(gateway.pageUrl()).searchParams.get("code");
  const visit = await http(`${gateway.url}/w/ws_1?full=1&code=${code}`);
  expect(visit).toMatchObject({ status: 303, headers: { location: "/w/ws_1?full=1" } });
  expect(visit.headers["set-cookie"]).toHaveLength(1);
  const elsewhere = await http(`${gateway.url}//evil.example/?code=x`);
  expect(elsewhere.headers.location ?? "").not.toMatch(/^\/\//);
});

test("[WIRE163] whoever has the token gets an address that lets a browser in", async () => {
  const visit = (headers: Record<string, string>) =>
    http(`${gateway.url}/visits`, { method: "POST", headers });
  expect((await visit({})).status).toBe(401);
  expect((await visit({ authorization: "Bearer wrong" })).status).toBe(401);
  const { path } = JSON.parse((await visit({ authorization: `Bearer ${gateway.token}` })).text);
  expect((await http(gateway.url + path)).headers["set-cookie"]).toHaveLength(1);
});
