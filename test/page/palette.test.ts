import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { waitOn } from "../support/runs.js";
import { sqliteStore } from "../support/stores.js";
import type { Wire } from "../support/wire.js";

describe.skipIf(inject("chromium") === "")("the palette [browser]", () => {
  const browser = pageBrowser();
  let gateway: TestGateway;
  let wire: Wire;
  let ws: string;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    gateway = await startGateway(sqliteStore);
    wire = await gateway.wire();
    ws = gateway.home;
    await furnish();
  });
  afterAll(() => gateway?.stop());

  async function furnish(): Promise<void> {
    const folder = async (name: string, parent_folder_id?: string) =>
      (await wire.result("thread/folder/create", { workspace_id: ws, name, parent_folder_id })).folder.id;
    ids.backend = await folder("Backend");
    ids.payments = await folder("Payments", ids.backend);
    const start = async (title: string, folder_id?: string) =>
      (await wire.result("thread/start", { workspace_id: ws, title, folder_id, agent_id: "demo" })).thread.id;
    ids.webhooks = await start("Webhooks book twice", ids.payments);
    ids.sign = await start("Sign webhook bodies", ids.backend);
    ids.slow = await start("Slow query on /bookings");
    await wire.result("message/append", {
      workspace_id: ws,
      thread_id: ids.slow,
      message: { id: "m1", role: "user", content: "A slow webhook answer makes the provider redeliver." },
    });
    await wire.result("thread/agents_doc/save", {
      workspace_id: ws,
      folder_id: ids.backend,
      content: "Be brief.\n- Every webhook handler is idempotent on the event id.\n",
    });
    const { run } = await wire.result("run/start", {
      workspace_id: ws,
      thread_id: ids.sign,
      content: "Hello",
    });
    await waitOn(
      wire,
      () =>
        wire
          .notifications("run/changed")
          .find(({ params }) => params.run.id === run.id && params.run.status === "completed"),
      "the run's end",
    );
    ids.run = run.id;
  }

  const field = (page: Page) => page.getByRole("combobox", { name: "Search or run" });
  const option = (page: Page, name: string | RegExp) => page.getByRole("option", { name });
  const chosen = (page: Page) => page.locator("[role=option][aria-selected=true]");

  async function opened(text = "", path = `/w/${ws}`): Promise<Page> {
    const page = await browser.open(gateway, path);
    await page.locator(".side").waitFor();
    await page.getByText("Backend").first().waitFor();
    await page.keyboard.press("Control+k");
    await field(page).waitFor();
    if (text) await field(page).fill(text);
    return page;
  }

  test("[PAR1] threads are found by their titles, best first, with their folder, and Enter opens one", async () => {
    const page = await opened("webh");
    await option(page, /^Webhooks book twice/).waitFor();
    const threads = page.getByRole("group", { name: "Threads" }).getByRole("option");
    expect((await threads.allTextContents()).map((text) => text.replace(/\d\d:\d\d.*/, ""))).toEqual([
      "Webhooks book twiceBackend/Payments",
      "Sign webhook bodiesBackend",
    ]);
    await expect.poll(() => page.locator(".pal mark").allTextContents()).toContain("webh");
    await shot(page, "palette-threads");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain(`/thread/${ids.webhooks}`);
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("[PAR2] messages are looked through once the person pauses, and a hit leads to the message", async () => {
    const page = await opened("redeliver");
    const hit = option(page, /slow webhook answer makes the provider redeliver.*Slow query/);
    await hit.waitFor();
    expect(await hit.locator("mark").textContent()).toBe("redeliver");
    await page.setViewportSize({ width: 390, height: 844 });
    await field(page).fill("redelive");
    await option(page, /^…the provider redeliver/).waitFor();
    await page.setViewportSize({ width: 1440, height: 900 });
    await field(page).fill("redeliver");
    await hit.click();
    await expect.poll(() => page.url()).toContain(`/thread/${ids.slow}/message/m1`);
  });

  test("[PAR2] what was found stays while the next answer is on its way, with a bar in the field's edge", async () => {
    const page = await browser.open(gateway);
    let release = () => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    await page.routeWebSocket(/\/rpc/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage(async (message) => {
        const { method, params } = JSON.parse(String(message));
        if (method === "thread/search" && params.query === "redelivers") await held;
        server.send(message);
      });
    });
    await page.goto(`${gateway.url}/w/${ws}`);
    await page.getByText("Backend").first().waitFor();
    await page.keyboard.press("Control+k");
    await field(page).fill("redeliver");
    const hit = option(page, /provider redeliver/);
    await hit.waitFor();
    await field(page).pressSequentially("s");
    await page.locator(".q-in.busy").waitFor();
    expect(await hit.count()).toBe(1);
    release();
    await expect.poll(() => hit.count()).toBe(0);
    await expect.poll(() => page.locator(".q-in.busy").count()).toBe(0);
  });

  test("[PAR15] what was typed is found in the thread that is open, also where its context is shown", async () => {
    const page = await opened("redeliver", `/w/${ws}/thread/${ids.slow}`);
    await option(page, "Find “redeliver” in this thread").click();
    const finder = page.getByRole("textbox", { name: "Find in thread" });
    await expect.poll(() => finder.inputValue()).toBe("redeliver");
    await page.getByText("1 of 1").waitFor();
    expect(await finder.evaluate((each) => each === document.activeElement)).toBe(true);
    await page.goto(`${gateway.url}/w/${ws}/thread/${ids.slow}/context?full=1`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await field(page).fill("provider");
    await option(page, "Find “provider” in this thread").click();
    await expect.poll(() => finder.inputValue()).toBe("provider");
    await page.goto(`${gateway.url}/w/${ws}`);
    await page.getByText("Backend").first().waitFor();
    await page.keyboard.press("Control+k");
    await field(page).fill("provider");
    await option(page, /named “provider”/).waitFor();
    expect(await option(page, /in this thread/).count()).toBe(0);
  });

  /** A thread whose palette is not loaded before it is let. */
  async function withoutPalette(): Promise<{ page: Page; message: Locator; release(): void }> {
    const page = await browser.open(gateway);
    let release = () => {};
    const held = new Promise<void>((done) => {
      release = done;
    });
    await page.route(/\/palette-[^/]*\.js/, (route) => held.then(() => route.continue()));
    await page.goto(`${gateway.url}/w/${ws}/thread/${ids.slow}`);
    const message = page.getByRole("textbox", { name: "Message" });
    await message.click();
    await page.keyboard.press("Control+k");
    return { page, message, release };
  }

  const isFocused = (each: Element) => each === document.activeElement;

  test("[PAR16] what is typed before the palette is there goes into it, and nowhere else", async () => {
    const { page, message, release } = await withoutPalette();
    await page.keyboard.type("webh");
    expect(await field(page).count()).toBe(0);
    release();
    await expect.poll(() => field(page).inputValue()).toBe("webh");
    await page.keyboard.type("ooks");
    await expect.poll(() => field(page).inputValue()).toBe("webhooks");
    expect(await message.inputValue()).toBe("");
    await page.keyboard.press("Escape");
    await expect.poll(() => message.evaluate(isFocused)).toBe(true);
  });

  test("[PAR16] what is entered before the palette is there is done once it is", async () => {
    const { page, message, release } = await withoutPalette();
    await page.keyboard.type("Sign webhook");
    await page.keyboard.press("Enter");
    release();
    await expect.poll(() => page.url()).toContain(`/thread/${ids.sign}`);
    expect(await message.inputValue()).toBe("");
  });

  test("[PAR16] Escape takes it back before it is there", async () => {
    const { page, message, release } = await withoutPalette();
    await page.keyboard.type("webh");
    await page.keyboard.press("Escape");
    await expect.poll(() => message.evaluate(isFocused)).toBe(true);
    release();
    await page.keyboard.type("Hi");
    expect(await message.inputValue()).toBe("Hi");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  /** The page of a workspace whose tree is cut: one thread is left out of what the gateway answers. */
  async function cutTree(left: string | undefined, path: string): Promise<Page> {
    const page = await browser.open(gateway);
    await page.routeWebSocket(/\/rpc/, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((message) => {
        const answer = JSON.parse(String(message));
        const { threads, placements } = answer.result ?? {};
        if (!Array.isArray(threads) || !Array.isArray(placements)) return socket.send(message);
        const others = threads.filter(({ id }: { id: string }) => id !== left);
        socket.send(
          JSON.stringify({ ...answer, result: { ...answer.result, threads: others, truncated: true } }),
        );
      });
    });
    await page.goto(`${gateway.url}${path}`);
    await page.getByText("These are the").waitFor();
    return page;
  }

  test("[SCL7] where the tree is cut it says so, and a thread that is left out is found by its title and opens", async () => {
    const page = await cutTree(ids.slow, `/w/${ws}`);
    const rows = page.getByRole("tree").getByText("Slow query on /bookings");
    expect(await rows.count()).toBe(0);
    await shot(page, "tree-cut");
    await page.keyboard.press("Control+k");
    await field(page).fill("slow query");
    await option(page, /^Slow query on/).click();
    await page.getByRole("heading", { level: 1, name: "Slow query on /bookings" }).waitFor();
    await page.getByText("A slow webhook answer makes").waitFor();
    await rows.waitFor();
  });

  test("[SCL7] by its address it opens too, and one that is gone says so", async () => {
    const page = await cutTree(ids.slow, `/w/${ws}/thread/${ids.slow}`);
    await page.getByRole("heading", { level: 1, name: "Slow query on /bookings" }).waitFor();
    await page.goto(`${gateway.url}/w/${ws}/thread/thr_gone`);
    await page.getByRole("heading", { name: "This thread is not here" }).waitFor();
  });

  test("[PAR3] an AGENTS.md is found by its path and opens in the editor", async () => {
    const page = await opened("agents.md back");
    await option(page, /Backend\/AGENTS\.md.*v1/).click();
    await expect.poll(() => page.url()).toContain(`/agents-md/${ids.backend}`);
  });

  test("[PAR3] the text of an AGENTS.md is looked through, too", async () => {
    const page = await opened("idempot");
    const hit = option(page, /^Every webhook handler is idempotent.*Backend\/AGENTS\.md/);
    await hit.waitFor();
    await hit.click();
    await expect.poll(() => page.url()).toContain(`/agents-md/${ids.backend}`);
  });

  test("[PAR4] > lists commands with their keys; one that can't be used says why and does nothing", async () => {
    const page = await opened(">", `/w/${ws}/thread/${ids.webhooks}`);
    const keys = option(page, "Show keyboard shortcuts");
    await keys.waitFor();
    expect(await keys.locator("kbd").textContent()).toBe("?");
    expect(await page.getByRole("dialog").getByRole("group").count()).toBe(1);
    await field(page).fill(">stop");
    const stop = option(page, /Nothing runs in this thread/);
    await stop.waitFor();
    expect(await stop.getAttribute("aria-disabled")).toBe("true");
    await page.keyboard.press("Enter");
    expect(await field(page).inputValue()).toBe(">stop");
    await field(page).fill(">dark");
    await option(page, "Use the dark theme").waitFor();
    await shot(page, "palette-commands");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
  });

  test("[PAR5] @ lists agents: Enter goes to its latest thread, with the modifier a new one begins", async () => {
    const page = await opened("@notes", `/w/${ws}/thread/${ids.webhooks}`);
    await option(page, /^Demo Notes/).waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).not.toContain(ids.webhooks as string);
    const latest = page.url();
    await page.keyboard.press("Control+k");
    await field(page).fill("@notes");
    await option(page, /^Demo Notes/).waitFor();
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => page.url()).not.toBe(latest);
    const id = page.url().split("/").at(-1) as string;
    expect((await wire.result("thread/get", { thread_id: id })).thread.agent_id).toBe("demo-notes");
  });

  test("[PAR6] # lists runs, / lists folders", async () => {
    const page = await opened("#1 sign");
    await option(page, /^Run 1.*Sign webhook bodies.*completed/).waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain(`/thread/${ids.sign}/context/${ids.run}`);
    await page.keyboard.press("Control+k");
    await field(page).fill("/pay");
    await option(page, /^Backend\/Payments/).click();
    await expect.poll(() => page.url()).toContain(`/folder/${ids.payments}`);
  });

  test("[PAR7] arrows, Home, End and Enter work, and the chosen row is told to a screen reader", async () => {
    const page = await opened("webh");
    await option(page, /^Webhooks/).waitFor();
    await option(page, /redeliver/).waitFor();
    const first = await chosen(page).getAttribute("id");
    expect(await field(page).getAttribute("aria-activedescendant")).toBe(first);
    await page.keyboard.press("ArrowDown");
    expect(await chosen(page).textContent()).toContain("Sign webhook bodies");
    await page.keyboard.press("End");
    expect(await chosen(page).textContent()).toContain("Ask another agent about “webh”");
    await page.keyboard.press("ArrowDown");
    expect(await chosen(page).getAttribute("id")).toBe(first);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Home");
    expect(await chosen(page).getAttribute("id")).toBe(first);
    await page.keyboard.press("Escape");
    await field(page).waitFor({ state: "detached" });
  });

  test("[PAR8] with nothing typed it shows what was open last, then commands", async () => {
    const page = await opened("", `/w/${ws}/thread/${ids.slow}`);
    await page.keyboard.press("Escape");
    await page.goto(`${gateway.url}/w/${ws}/thread/${ids.sign}`);
    await page.getByText("Backend").first().waitFor();
    await page.keyboard.press("Control+k");
    const recent = page.getByRole("group", { name: "Recent" }).getByRole("option");
    await recent.first().waitFor();
    expect(await recent.first().textContent()).toContain("Slow query on /bookings");
    expect(await page.getByRole("group", { name: "Commands" }).count()).toBe(1);
    await shot(page, "palette-empty");
  });

  test("[PAR9] where nothing matches it says so and offers a new thread of that name", async () => {
    const page = await opened("zebrafish", `/w/${ws}/folder/${ids.payments}`);
    await page.getByText("Nothing matches “zebrafish”").waitFor();
    await shot(page, "palette-nothing");
    await option(page, "New thread in Payments named “zebrafish”").click();
    await expect.poll(() => page.url()).toContain("/thread/");
    const { thread } = await wire.result("thread/get", { thread_id: page.url().split("/").at(-1) as string });
    expect(thread).toMatchObject({ title: "zebrafish", folder_id: ids.payments });
  });

  test("[PAR10] when messages can't be searched it says so, and titles are found all the same", async () => {
    const page = await browser.open(gateway, "/", { tolerates: /./ });
    await page.routeWebSocket(/\/rpc/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((message) => {
        const call = JSON.parse(String(message));
        const error = { code: -32603, message: "broken", data: { kind: "internal" } };
        if (call.method === "thread/search")
          socket.send(JSON.stringify({ jsonrpc: "2.0", id: call.id, error }));
        else server.send(message);
      });
    });
    await page.goto(`${gateway.url}/w/${ws}`);
    await page.getByText("Backend").first().waitFor();
    await page.keyboard.press("Control+k");
    await field(page).fill("webh");
    await page.getByText("Search is not ready.").waitFor();
    await option(page, /^Webhooks book twice/).waitFor();
    await shot(page, "palette-not-ready");
  });

  test("[PAR11] another agent can be asked about what was typed", async () => {
    const page = await opened("Hello there", `/w/${ws}/thread/${ids.webhooks}`);
    await option(page, "Ask another agent about “Hello there”").click();
    await page.getByRole("group", { name: "Ask about “Hello there”" }).waitFor();
    await option(page, /^Demo Notes/).click();
    await expect.poll(() => page.url()).not.toContain(ids.webhooks as string);
    const id = page.url().split("/").at(-1) as string;
    const { data } = await wire.result("thread/messages", { thread_id: id, order: "desc" });
    expect(JSON.stringify(data)).toContain("Hello there");
  });

  test("[PAR14] the focus goes back to where it was", async () => {
    const page = await browser.open(gateway, `/w/${ws}`);
    const find = page.getByRole("navigation").getByRole("button", { name: /Search or run/ });
    await find.click();
    await field(page).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => find.evaluate((button) => button === document.activeElement)).toBe(true);
  });
});
