import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { bearer, exchangeBytes, statusOf } from "../support/http.js";
import { sqliteStore } from "../support/stores.js";
import { doors, everywhere, type Knock, knocked, letIn } from "./doors.js";

let gateway: TestGateway;
let all: Knock[];
let port: string;
beforeAll(async () => {
  gateway = await startGateway(sqliteStore);
  const wire = await gateway.wire();
  const { thread } = await wire.result("thread/start", { workspace_id: gateway.home });
  all = doors(gateway.home, thread.id);
  port = new URL(gateway.url).port;
});
afterAll(() => gateway?.stop());

const changes = async () =>
  (await (await gateway.wire()).result("thread/tree", { workspace_id: gateway.home })).seq;

test("[ATK15] a name that leads to the gateway is not the gateway's: no address answers to it, token, cookie and matching Origin or not", async () => {
  const before = await changes();
  const names = [
    `evil.example:${port}`,
    `localhost.evil.example:${port}`,
    `127.0.0.1.nip.example:${port}`,
    `a.localhost:${port}`,
    `localhost.:${port}`,
    `0.0.0.0:${port}`,
    `127.1:${port}`,
    `[::ffff:7f00:1]:${port}`,
  ];
  for (const host of names) {
    // A page whose name was bound anew is of the same origin as what it asks: only the Host tells.
    for (const more of [{}, { origin: `http://${host}`, "sec-fetch-site": "same-origin" }]) {
      const found = await knocked(gateway, all, { ...(await letIn(gateway)), ...more, host });
      expect({ host, found }).toEqual({ host, found: everywhere(all, 403) });
    }
  }
  expect(await changes()).toBe(before);
});

test("[ATK15] nothing beside the Host speaks for it", async () => {
  for (const name of ["x-forwarded-host", "forwarded", "x-host", "x-original-host", "x-forwarded-server"]) {
    const value = name === "forwarded" ? `host=127.0.0.1:${port}` : `127.0.0.1:${port}`;
    const headers = { ...(await letIn(gateway)), host: `evil.example:${port}`, [name]: value };
    expect({ name, found: await knocked(gateway, all, headers) }).toEqual({
      name,
      found: everywhere(all, 403),
    });
  }
});

test("[ATK16] two Hosts, or one in the request line, do not let a foreign one pass", async () => {
  const { authorization } = bearer(gateway);
  const rest = `Authorization: ${authorization}\r\nConnection: close\r\n\r\n`;
  for (const head of [
    `GET /metrics HTTP/1.1\r\nHost: evil.example\r\nHost: 127.0.0.1:${port}\r\n`,
    `GET http://127.0.0.1:${port}/metrics HTTP/1.1\r\nHost: evil.example\r\n`,
    `GET http://evil.example/metrics HTTP/1.1\r\nHost: evil.example\r\n`,
    "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\tfolded\r\n",
    "GET /metrics HTTP/1.0\r\n",
  ]) {
    const answer = await exchangeBytes(gateway.url, head + rest);
    expect({ head, status: statusOf(answer) }).toEqual({ head, status: expect.toSatisfy(isRefusal) });
    expect(answer).not.toContain("heddle_requests_total");
  }
});

const isRefusal = (status: number) => status === 400 || status === 403;
