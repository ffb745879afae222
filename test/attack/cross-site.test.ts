import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { http } from "../support/http.js";
import { sqliteStore } from "../support/stores.js";
import { doors, everywhere, type Knock, knocked, letIn, sessionOf } from "./doors.js";

let gateway: TestGateway;
let all: Knock[];
let host: string;
beforeAll(async () => {
  gateway = await startGateway(sqliteStore);
  const wire = await gateway.wire();
  const { thread } = await wire.result("thread/start", { workspace_id: gateway.home });
  all = doors(gateway.home, thread.id);
  host = new URL(gateway.url).host;
});
afterAll(() => gateway?.stop());

const changes = async () =>
  (await (await gateway.wire()).result("thread/tree", { workspace_id: gateway.home })).seq;

test("[ATK10] a page of another site gets nothing at any address, signed in or not, and changes nothing", async () => {
  const before = await changes();
  const { port } = new URL(gateway.url);
  const sites = [
    "https://evil.example",
    `http://evil.example:${port}`,
    "null",
    `http://127.0.0.1:${Number(port) + 1}`,
    `http://localhost:${port}`,
    `http://${host}.evil.example`,
    `http://evil.example/${host}`,
  ];
  for (const origin of sites) {
    for (const who of [{}, { cookie: await sessionOf(gateway) }, await letIn(gateway)]) {
      expect({ origin, found: await knocked(gateway, all, { ...who, origin }) }).toEqual({
        origin,
        found: everywhere(all, 403),
      });
    }
  }
  expect(await changes()).toBe(before);
});

test("[ATK10] the suite sees whoever is let in: the gateway's own page is, at each of these addresses", async () => {
  const before = await changes();
  const found = await knocked(gateway, all, { ...(await letIn(gateway)), origin: `http://${host}` });
  const own = Object.fromEntries(all.map(({ method, path, own: status }) => [`${method} ${path}`, status]));
  expect(found).toEqual({ ...own, WebSocket: 101 });
  expect(await changes()).toBeGreaterThan(before);
});

test("[ATK11] what a form of another site can send, whatever it calls its body, is refused", async () => {
  const before = await changes();
  const types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"];
  const cookie = await sessionOf(gateway);
  for (const type of types) {
    for (const { method, path, body } of all.filter((each) => each.method === "POST")) {
      const headers = { cookie, origin: "https://evil.example", "content-type": type };
      const { status } = await http(gateway.url + path, { method, headers, body: `${body ?? ""}` });
      expect({ type, path, status }).toEqual({ type, path, status: 403 });
    }
  }
  expect(await changes()).toBe(before);
});

test("[ATK12] no answer may be taken into a page of another origin, not even of the same host", async () => {
  const headers = { ...(await letIn(gateway)) };
  for (const { method, path, body } of all) {
    const answer = await http(gateway.url + path, { method, headers, ...(body !== undefined && { body }) });
    expect({ path, policy: answer.headers["cross-origin-resource-policy"] }).toEqual({
      path,
      policy: "same-origin",
    });
    const open = Object.keys(answer.headers).filter((name) => name.startsWith("access-control"));
    expect({ path, open }).toEqual({ path, open: [] });
  }
});
