import { type Browser, chromium, type Page } from "playwright-core";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from "vitest";
import { type App, type Listening, startApp } from "../../src/app/index.js";
import type * as client from "../../src/client/index.js";
import { ARGS } from "../support/browser-args.js";
import { http, postCall } from "../support/http.js";
import { type StorePlace, sqliteStore } from "../support/stores.js";

/** What runs in the page: the client's own code as a browser gets it, and what the page has heard. */
declare const heddle: typeof client;
interface Heard {
  client: client.Client;
  seqs: number[];
  resynced: string[];
  states: string[];
}
declare const window: { heard: Heard; location: { origin: string } };

async function clientBundle(): Promise<string> {
  const bundle = await rolldown({ input: "src/client/index.ts", platform: "browser", logLevel: "warn" });
  const { output } = await bundle.generate({ format: "iife", name: "heddle" });
  await bundle.close();
  return output[0].code;
}

describe.skipIf(inject("chromium") === "")("the client in a browser [browser]", () => {
  let browser: Browser;
  let code: string;
  let place: StorePlace;
  let gateway: Listening & { app: App };
  let workspace_id: string;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: inject("chromium"), args: ARGS });
    code = await clientBundle();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    place = await sqliteStore.fresh();
    await start(0);
    workspace_id = (await postCall(gateway, "workspace/list", {})).result.data[0].id;
    return async () => {
      await gateway.app.stop();
      await place.remove();
    };
  });

  async function start(port: number): Promise<void> {
    const app = await startApp({ dataDir: place.dataDir, logLevel: "silent" });
    gateway = { app, ...(await app.listen({ host: "127.0.0.1", port })) };
  }

  /** A page on the gateway's own origin, let in by the printed address, with a client that listens. */
  async function open(): Promise<Page> {
    // The gateway's page allows no script at all; the test's own has to get past that, not the client.
    const context = await browser.newContext({ bypassCSP: true });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(gateway.pageUrl());
    await page.evaluate(code.replace("var heddle =", "globalThis.heddle ="));
    await page.evaluate(() => {
      const connected = heddle.connect(window.location.origin, { name: "page" });
      const heard: Heard = { client: connected, seqs: [], resynced: [], states: [] };
      connected.on("thread/tree/changed", ({ seq }) => heard.seqs.push(seq));
      connected.onResync((id) => heard.resynced.push(id));
      connected.onState((state) => heard.states.push(state));
      window.heard = heard;
    });
    return page;
  }

  const folder = (name: string) => postCall(gateway, "thread/folder/create", { workspace_id, name });
  const seqs = (page: Page) => page.evaluate(() => window.heard.seqs);

  test("[CONN40] the printed address lets a browser in: it calls, and hears what others change", async () => {
    const page = await open();
    expect(new URL(page.url()).search).toBe("");
    const saved = await page.evaluate(async (id) => {
      const { doc } = await window.heard.client.call("thread/agents_doc/save", {
        workspace_id: id,
        content: "from a page",
      });
      const refused = await window.heard.client
        .call("thread/tree", { workspace_id: "ws_none" })
        .catch((error: client.CallError) => ({ name: error.name, code: error.code, kind: error.kind }));
      return { content: doc.content, by: doc.updated_by, refused };
    }, workspace_id);
    expect(saved).toEqual({
      content: "from a page",
      by: "page",
      refused: { name: "CallError", code: -32602, kind: "workspace.not_found" },
    });
    await folder("by another");
    await expect.poll(() => seqs(page), { timeout: 10_000 }).toEqual([2, 3]);
  });

  test("[CONN41] it comes back after the gateway was restarted, and misses nothing", async () => {
    const page = await open();
    await page.evaluate((id) => window.heard.client.call("thread/tree", { workspace_id: id }), workspace_id);
    await folder("before");
    await expect.poll(() => seqs(page), { timeout: 10_000 }).toEqual([1]);
    const { port } = gateway;
    await gateway.app.stop();
    await expect
      .poll(() => page.evaluate(() => window.heard.client.state), { timeout: 10_000 })
      .toBe("connecting");
    await start(0);
    await folder("meanwhile");
    await gateway.app.stop();
    await start(port);
    await expect.poll(() => seqs(page), { timeout: 10_000 }).toEqual([1, 2]);
    await folder("after");
    await expect.poll(() => seqs(page), { timeout: 10_000 }).toEqual([1, 2, 3]);
    const { states, resynced } = await page.evaluate(() => ({
      states: window.heard.states,
      resynced: window.heard.resynced,
    }));
    expect(states).toEqual(["open", "connecting", "open"]);
    expect(resynced).toEqual([]);
  });

  test("[CONN42] a browser without the session, or on another site, is not let in", async () => {
    const context = await browser.newContext({ bypassCSP: true });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const tryIt = (url: string) =>
      page.evaluate(
        (target) =>
          new Promise((resolve) => {
            const Socket = (
              globalThis as unknown as {
                WebSocket: new (at: string) => { onopen: () => void; onerror: () => void };
              }
            ).WebSocket;
            const socket = new Socket(target);
            socket.onopen = () => resolve("open");
            socket.onerror = () => resolve("refused");
          }),
        `${url.replace("http", "ws")}/rpc`,
      );
    await page.goto(gateway.url);
    expect(await tryIt(gateway.url)).toBe("refused");
    await page.goto(gateway.pageUrl());
    expect(await tryIt(gateway.url)).toBe("open");
    // Another port is another site, though the cookie goes there too.
    const other = await startApp({ dataDir: `${place.dataDir}/other`, logLevel: "silent" });
    const elsewhere = await other.listen({ host: "127.0.0.1", port: 0 });
    await page.goto(elsewhere.url);
    expect(await tryIt(gateway.url)).toBe("refused");
    await other.stop();
    expect((await http(gateway.url)).status).toBe(200);
  });
});
