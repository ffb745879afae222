import { afterAll, beforeAll, expect, test } from "vitest";
import { startApp } from "../../src/app/index.js";
import { http, upgrade } from "../support/http.js";
import { type StorePlace, sqliteStore } from "../support/stores.js";

// The page's session, through what `heddle serve` prints: an address with a one-time code.
let place: StorePlace;
beforeAll(async () => {
  place = await sqliteStore.fresh();
});
afterAll(() => place?.remove());

async function served<T>(
  { token, port = 0 }: { token?: string; port?: number },
  use: (page: () => string, url: string) => Promise<T>,
): Promise<T> {
  const app = await startApp({ dataDir: place.dataDir, logLevel: "silent" });
  try {
    const listening = await app.listen({ host: "127.0.0.1", port, token });
    return await use(() => listening.pageUrl(), listening.url);
  } finally {
    await app.stop();
  }
}

const cookieOf = (setCookie: string[] | undefined) => setCookie?.[0]?.split(";")[0] ?? "";

async function statuses(url: string, cookie: string): Promise<number[]> {
  const headers = { cookie };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  return [
    (await http(`${url}/rpc`, { method: "POST", headers, body })).status,
    (await http(`${url}/metrics`, { headers })).status,
    await upgrade(`${url}/rpc`, headers),
  ];
}

const IN = [200, 200, 101];
const OUT = [401, 401, 401];

test("[WIRE56] the code of the printed address is exchanged for a session cookie exactly once", async () => {
  await served({}, async (page, url) => {
    const printed = page();
    expect(printed).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?code=[\w-]{43}$/);
    const first = await http(printed);
    expect(first).toMatchObject({ status: 303, headers: { location: "/" } });
    expect(first.headers["set-cookie"]).toEqual([
      expect.stringMatching(
        /^heddle_session_\d+=\d+\.[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=2592000$/,
      ),
    ]);
    for (const again of [
      printed,
      `${url}/?code=`,
      `${url}/?code=${"A".repeat(43)}`,
      `${url}/?code=__proto__`,
    ]) {
      const answer = await http(again);
      expect(answer.status).toBe(303);
      expect(answer.headers["set-cookie"]).toBeUndefined();
    }
    // Each printed address has a code of its own.
    expect((await http(page())).headers["set-cookie"]).toBeDefined();
  });
});

test("[WIRE56] two visits at once with one code: one gets in", async () => {
  await served({}, async (page) => {
    const printed = page();
    const visits = await Promise.all(Array.from({ length: 10 }, () => http(printed)));
    expect(visits.filter(({ headers }) => headers["set-cookie"])).toHaveLength(1);
  });
});

test("[WIRE57] the cookie lets a browser in over HTTP and WebSocket, among other cookies too", async () => {
  await served({}, async (page, url) => {
    const cookie = cookieOf((await http(page())).headers["set-cookie"]);
    expect(await statuses(url, cookie)).toEqual(IN);
    expect(await statuses(url, `a=b; ${cookie}; heddle_session=1`)).toEqual(IN);
    expect(await statuses(url, "")).toEqual(OUT);
    const foreign = { cookie, origin: "https://evil.example" };
    expect((await http(`${url}/metrics`, { headers: foreign })).status).toBe(403);
    expect(await upgrade(`${url}/rpc`, foreign)).toBe(403);
  });
});

test("[WIRE57] a wrong token is refused even with a good cookie", async () => {
  await served({}, async (page, url) => {
    const cookie = cookieOf((await http(page())).headers["set-cookie"]);
    const headers = { cookie, authorization: "Bearer wrong" };
    expect((await http(`${url}/metrics`, { headers })).status).toBe(401);
  });
});

test("[WIRE58] a cookie that was altered lets nobody in", async () => {
  await served({}, async (page, url) => {
    const cookie = cookieOf((await http(page())).headers["set-cookie"]);
    const [name, value = ""] = cookie.split("=");
    const [ends = "", signature = ""] = value.split(".");
    const flipped = (signature.startsWith("A") ? "B" : "A") + signature.slice(1);
    const altered = [
      `${Number(ends) + 1}.${signature}`,
      `${ends}0.${signature}`,
      `${ends}.${flipped}`,
      `${ends}.${signature.slice(0, -1)}`,
      `${ends}.`,
      ends,
      `.${signature}`,
      "",
      "undefined.undefined",
    ];
    for (const each of altered) expect(await statuses(url, `${name}=${each}`)).toEqual(OUT);
    expect(await statuses(url, cookie.toUpperCase())).toEqual(OUT);
  });
});

test("[WIRE59] a session outlives a restart and ends with another token", async () => {
  const { cookie, port } = await served({}, async (page, url) => ({
    cookie: cookieOf((await http(page())).headers["set-cookie"]),
    port: Number(new URL(url).port),
  }));
  await served({ port }, async (_, url) => expect(await statuses(url, cookie)).toEqual(IN));
  await served({ port, token: "another-token" }, async (_, url) =>
    expect(await statuses(url, cookie)).toEqual(OUT),
  );
});

test("[WIRE57] gateways on one host, which share a browser's cookies, do not sign each other out", async () => {
  await served({}, async (page, url) => {
    const other = await startApp({ dataDir: `${place.dataDir}/other`, logLevel: "silent" });
    const listening = await other.listen({ host: "127.0.0.1", port: 0 });
    const jar = new Map<string, string>();
    for (const printed of [page(), listening.pageUrl()]) {
      const [name = "", value = ""] = cookieOf((await http(printed)).headers["set-cookie"]).split("=");
      jar.set(name, value);
    }
    const cookies = [...jar].map((pair) => pair.join("=")).join("; ");
    expect(await statuses(url, cookies)).toEqual(IN);
    expect(await statuses(listening.url, cookies)).toEqual(IN);
    await other.stop();
  });
});
