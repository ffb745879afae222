import type { OutgoingHttpHeaders } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { bearer, exchangeBytes, http, statusOf, upgrade } from "../support/http.js";
import { sqliteStore } from "../support/stores.js";

let gateway: TestGateway;
let host: string;
beforeAll(async () => {
  gateway = await startGateway(sqliteStore);
  host = new URL(gateway.url).host;
});
afterAll(() => gateway?.stop());

const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
const guarded = [
  { method: "POST", path: "/rpc", body: PING },
  { method: "GET", path: "/rpc" },
  { method: "GET", path: "/metrics" },
  { method: "POST", path: "/mcp" },
  { method: "GET", path: "/v1/models" },
  { method: "POST", path: "/v1/chat/completions", body: "{}" },
  { method: "GET", path: "/threads/thr_1/assets/abc" },
  { method: "GET", path: "/no/such" },
];
const open = ["/", "/healthz", "/readyz", "/schemas/", "/schemas/folder.json"];

/** What every guarded endpoint and the WebSocket answer to these headers. */
async function statuses(headers: OutgoingHttpHeaders): Promise<Set<number>> {
  const answers = guarded.map(async ({ method, path, body }) =>
    http(gateway.url + path, { method, headers, ...(body !== undefined && { body }) }),
  );
  const found = new Set((await Promise.all(answers)).map(({ status }) => status));
  return found.add(await upgrade(`${gateway.url}/rpc`, headers));
}

const wrongTokens = () => {
  const { token } = gateway;
  return {
    "no token": undefined,
    "another token": `Bearer ${"A".repeat(token.length)}`,
    "the beginning of the token": `Bearer ${token.slice(0, -1)}`,
    "the token and more": `Bearer ${token}x`,
    "the token twice": `Bearer ${token} ${token}`,
    "an empty bearer": "Bearer ",
    "a bearer without a space": `Bearer${token}`,
    "the bare token": token,
    "another scheme": `Basic ${token}`,
    "the token in other case": `Bearer ${token.toLowerCase()}A`,
    "the token in quotes": `Bearer "${token}"`,
  };
};

describe("the token", () => {
  test("[WIRE50] every endpoint that is not open needs the token, on HTTP and for a WebSocket", async () => {
    for (const [what, authorization] of Object.entries(wrongTokens())) {
      const headers = authorization === undefined ? {} : { authorization };
      expect({ what, statuses: await statuses(headers) }).toEqual({ what, statuses: new Set([401]) });
    }
  });

  test("[WIRE50] a refusal says what is needed and gives nothing away", async () => {
    const { headers, text } = await http(`${gateway.url}/metrics`);
    expect(headers["www-authenticate"]).toBe("Bearer");
    expect(JSON.parse(text)).toEqual({ error: expect.stringContaining("token") });
    expect(text).not.toContain(gateway.token);
  });

  test("[WIRE50] the token in the address, in a cookie or in a body lets nobody in", async () => {
    const { token, url } = gateway;
    expect((await http(`${url}/metrics?token=${token}`)).status).toBe(401);
    expect((await http(`${url}/?code=${token}`)).headers["set-cookie"]).toBeUndefined();
    expect(
      (await http(`${url}/metrics`, { headers: { cookie: `heddle_session_${new URL(url).port}=${token}` } }))
        .status,
    ).toBe(401);
    expect(await upgrade(`${url}/rpc?token=${token}`)).toBe(401);
  });

  test("[WIRE51] the right token lets in, whatever the case of the scheme", async () => {
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      const headers = { authorization: `${scheme} ${gateway.token}` };
      expect((await http(`${gateway.url}/rpc`, { method: "POST", headers, body: PING })).status).toBe(200);
      expect(await upgrade(`${gateway.url}/rpc`, headers)).toBe(101);
    }
  });

  test("[WIRE55] the page, the schemas and health need no token", async () => {
    for (const path of open) {
      expect({ path, status: (await http(gateway.url + path)).status }).toEqual({ path, status: 200 });
      const wrong = { authorization: "Bearer wrong" };
      expect((await http(gateway.url + path, { headers: wrong })).status).toBe(200);
    }
  });
});

describe("Host and Origin", () => {
  const foreignHosts = () => {
    const { port } = new URL(gateway.url);
    return [
      "evil.example",
      `evil.example:${port}`,
      `localhost.evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `127.0.0.1.:${port}`,
      `localhost.:${port}`,
      `127.1:${port}`,
      `0x7f000001:${port}`,
      `2130706433:${port}`,
      `0.0.0.0:${port}`,
      `192.168.1.5:${port}`,
      `[::ffff:127.0.0.1]:${port}`,
      `[::2]:${port}`,
      "127.0.0.1:port",
    ];
  };

  test("[WIRE52] a foreign Host is refused with 403, token or not, on open endpoints too", async () => {
    for (const foreign of foreignHosts()) {
      const headers = { host: foreign };
      expect({ foreign, found: await statuses({ ...headers, ...bearer(gateway) }) }).toEqual({
        foreign,
        found: new Set([403]),
      });
      for (const path of open) expect((await http(gateway.url + path, { headers })).status).toBe(403);
    }
  });

  test("[WIRE52] a Host that is no host at all is refused", async () => {
    const { port } = new URL(gateway.url);
    for (const odd of [
      `user@127.0.0.1:${port}`,
      `evil.example@127.0.0.1:${port}`,
      `127.0.0.1:${port}@evil.example`,
      `127.0.0.1:${port}/`,
      `127.0.0.1:${port}?a`,
      `127.0.0.1#:${port}`,
      `127.0.0.1:${port}, evil.example`,
      `evil.example 127.0.0.1:${port}`,
    ]) {
      const found = await statuses({ host: odd, ...bearer(gateway) });
      expect({ odd, allowed: [...found].filter((status) => status !== 403 && status !== 400) }).toEqual({
        odd,
        allowed: [],
      });
    }
  });

  test("[WIRE52] our own names are no foreign hosts", async () => {
    const { port } = new URL(gateway.url);
    for (const own of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `[::1]:${port}`,
      "localhost",
      `LOCALHOST:${port}`,
      "127.0.0.1:9",
    ]) {
      const headers = { host: own, ...bearer(gateway) };
      expect({ own, status: (await http(`${gateway.url}/metrics`, { headers })).status }).toEqual({
        own,
        status: 200,
      });
      expect({ own, status: await upgrade(`${gateway.url}/rpc`, headers) }).toEqual({ own, status: 101 });
    }
  });

  test("[WIRE53] a foreign Origin is refused with 403, token or not", async () => {
    const { port } = new URL(gateway.url);
    const origins = [
      "https://evil.example",
      "http://evil.example",
      "null",
      "file://",
      "",
      `http://127.0.0.1:${Number(port) + 1}`,
      "http://127.0.0.1",
      `http://localhost:${port}`,
      `http://${host}.evil.example`,
      `http://user@${host}`,
      `http://${host}/`,
      `ftp://${host}`,
      `chrome-extension://${host}`,
      host,
    ];
    for (const origin of origins) {
      expect({ origin, found: await statuses({ origin, ...bearer(gateway) }) }).toEqual({
        origin,
        found: new Set([403]),
      });
      expect((await http(`${gateway.url}/healthz`, { headers: { origin } })).status).toBe(403);
    }
  });

  test("[WIRE53] a page of the gateway's own origin may ask", async () => {
    for (const origin of [`http://${host}`, `https://${host}`]) {
      const headers = { origin, ...bearer(gateway) };
      expect((await http(`${gateway.url}/rpc`, { method: "POST", headers, body: PING })).status).toBe(200);
      expect(await upgrade(`${gateway.url}/rpc`, headers)).toBe(101);
    }
  });

  test("[WIRE53] no other site is told that it may read answers", async () => {
    const preflight = { origin: "https://evil.example", "access-control-request-method": "POST" };
    for (const method of ["OPTIONS", "GET", "POST"]) {
      const { status, headers } = await http(`${gateway.url}/rpc`, { method, headers: preflight });
      expect(status).toBe(403);
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });

  test("[WIRE54] a request without a Host is refused", async () => {
    const { authorization } = bearer(gateway);
    const handshake =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
    const requests = [
      `GET /metrics HTTP/1.1\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`,
      `GET /metrics HTTP/1.0\r\nAuthorization: ${authorization}\r\n\r\n`,
      "GET /healthz HTTP/1.0\r\n\r\n",
      "GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n",
      `GET /rpc HTTP/1.1\r\nAuthorization: ${authorization}\r\n${handshake}\r\n`,
    ];
    for (const bytes of requests)
      expect([400, 403]).toContain(statusOf(await exchangeBytes(gateway.url, bytes)));
  });

  test("[WIRE54] an address in the request line does not stand in for the Host", async () => {
    const { authorization } = bearer(gateway);
    const foreign = `GET ${gateway.url}/metrics HTTP/1.1\r\nHost: evil.example\r\nAuthorization: ${authorization}\r\nConnection: close\r\n\r\n`;
    expect(statusOf(await exchangeBytes(gateway.url, foreign))).toBe(403);
  });
});
