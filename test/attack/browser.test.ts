import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { sqliteStore } from "../support/stores.js";

/** What the page of the attacker knows. */
declare const window: { tricks: Record<string, () => Promise<string>> };

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** What a page of another site can try, in the words of a browser. Each answers what it got hold of, or nothing. */
const TRICKS = `
  const within = (ms, work) => Promise.race([work, new Promise((r) => setTimeout(r, ms, "nothing"))]);
  const body = (name) => JSON.stringify({ jsonrpc: "2.0", id: 1, method: "thread/folder/create", params: { workspace_id: HOME, name } });
  const element = (tag, more) => within(4000, new Promise((resolve) => {
    const made = Object.assign(document.createElement(tag), more);
    made.onload = () => resolve(tag + " loaded");
    made.onerror = () => resolve("nothing");
    document.body.append(made);
  }));
  const fetched = (path, options) => fetch(GATEWAY + path, { credentials: "include", ...options })
    .then(async (answer) => answer.type === "opaque" ? "nothing" : "read " + (await answer.text()).slice(0, 40), () => "nothing");
  window.tricks = {
    "fetch": () => fetched("/metrics"),
    "fetch without cors": () => fetched("/metrics", { mode: "no-cors" }),
    "post": () => fetched("/rpc", { method: "POST", body: body("post") }),
    "post without cors": () => fetched("/rpc", { method: "POST", mode: "no-cors", body: body("no-cors") }),
    "post of JSON": () => fetched("/rpc", { method: "POST", headers: { "content-type": "application/json" }, body: body("json") }),
    "a visit": () => fetched("/visits", { method: "POST" }),
    "beacon": async () => { navigator.sendBeacon(GATEWAY + "/rpc", body("beacon")); return "nothing"; },
    "websocket": () => within(4000, new Promise((resolve) => {
      const socket = new WebSocket(GATEWAY.replace("http", "ws") + "/rpc");
      socket.onopen = () => { socket.send(body("websocket")); resolve("websocket opened"); };
      socket.onerror = () => resolve("nothing");
    })),
    "event source": () => within(4000, new Promise((resolve) => {
      const source = new EventSource(GATEWAY + "/mcp", { withCredentials: true });
      source.onopen = () => resolve("event source opened");
      source.onerror = () => { source.close(); resolve("nothing"); };
    })),
    "image": () => element("img", { src: GATEWAY + ASSET }),
    "script": () => element("script", { src: GATEWAY + "/metrics" }),
    "module of the page": () => element("script", { src: GATEWAY + SCRIPT, type: "module" }),
    "style": () => element("link", { rel: "stylesheet", href: GATEWAY + "/schemas/" }),
    "frame": async () => {
      await element("iframe", { src: GATEWAY + "/", name: "framed" });
      try { return "framed " + window.framed.document.title; } catch { return window.framed.length ? "framed" : "nothing"; }
    },
    "form": async () => {
      const form = Object.assign(document.createElement("form"), { action: GATEWAY + "/rpc", method: "POST", enctype: "text/plain", target: "framed" });
      const field = Object.assign(document.createElement("input"), { name: body("form").replace(/}}$/, ',"x":"'), value: '"}}' });
      form.append(field);
      document.body.append(form);
      form.submit();
      await new Promise((r) => setTimeout(r, 300));
      return "nothing";
    },
  };
`;

describe.skipIf(inject("chromium") === "")("a real browser that is signed in [browser]", () => {
  let browser: Browser;
  let gateway: TestGateway;
  let evil: Server;
  let asset: string;
  beforeAll(async () => {
    gateway = await startGateway(sqliteStore);
    const { port } = new URL(gateway.url);
    const rules = `MAP rebound.example 127.0.0.1, MAP evil.example 127.0.0.1`;
    browser = await chromium.launch({
      executablePath: inject("chromium"),
      args: ["--headless", "--no-sandbox", "--disable-gpu", `--host-resolver-rules=${rules}`],
    });
    asset = await somebodysImage();
    evil = createServer((_, response) => {
      const names = {
        GATEWAY: `http://127.0.0.1:${port}`,
        HOME: gateway.home,
        ASSET: asset,
        SCRIPT: "/mark.svg",
      };
      const given = Object.entries(names).map(([name, value]) => `const ${name} = ${JSON.stringify(value)};`);
      response.writeHead(200, { "content-type": "text/html" });
      response.end(`<!doctype html><body><script>${given.join("")}${TRICKS}</script>`);
    });
    await new Promise<void>((resolve) => evil.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    await browser?.close();
    evil?.close();
    await gateway?.stop();
  });

  async function somebodysImage(): Promise<string> {
    const wire = await gateway.wire();
    const { thread } = await wire.result("thread/start", { workspace_id: gateway.home });
    const content = [{ type: "image", data: PIXEL, mimeType: "image/png" }];
    const { message } = await wire.result("message/append", {
      thread_id: thread.id,
      message: { role: "user", content } as never,
    });
    const [block] = message.content;
    return `/threads/${thread.id}/assets/${block?.assetRef}`;
  }

  /** A page of somebody else, in a browser that the gateway knows. */
  async function lured(host: string): Promise<Page> {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(gateway.pageUrl());
    expect((await context.cookies()).map(({ name }) => name)).toEqual([
      expect.stringMatching(/^heddle_session/),
    ]);
    await page.goto(`http://${host}:${(evil.address() as AddressInfo).port}/`);
    return page;
  }

  const names = [...TRICKS.matchAll(/^ {4}"([^"]+)":/gm)].map(([, name]) => name as string);
  const changes = async () =>
    (await (await gateway.wire()).result("thread/tree", { workspace_id: gateway.home })).seq;

  test.each(["127.0.0.1", "evil.example"])(
    "[ATK13] a page of %s reads, shows and changes nothing, by whatever a page can do",
    async (host) => {
      const before = await changes();
      const page = await lured(host);
      const got: Record<string, string> = {};
      for (const name of names)
        got[name] = (await page.evaluate((trick) => window.tricks[trick]?.(), name)) ?? "";
      expect(got).toEqual(Object.fromEntries(names.map((name) => [name, "nothing"])));
      expect(await changes()).toBe(before);
      await page.context().close();
    },
  );

  test("[ATK17] a name bound anew to the gateway's address shows neither its page nor its answers", async () => {
    const { port } = new URL(gateway.url);
    const page = await (await browser.newContext()).newPage();
    const answer = await page.goto(`http://rebound.example:${port}${new URL(gateway.pageUrl()).search}`);
    expect({ status: answer?.status(), cookies: await page.context().cookies() }).toEqual({
      status: 403,
      cookies: [],
    });
    const seen = await page.evaluate(async () => {
      const asked = await fetch("/healthz");
      return { status: asked.status, text: await asked.text() };
    });
    expect(seen).toEqual({ status: 403, text: expect.not.stringContaining("ok") });
    await page.context().close();
  });
});
