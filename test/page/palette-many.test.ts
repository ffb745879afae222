import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { pageBrowser } from "../support/page/browser.js";
import { sqliteStore } from "../support/stores.js";

const MANY = 10_000;

describe.skipIf(inject("chromium") === "")("the palette with 10,000 threads [browser]", () => {
  const browser = pageBrowser();
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(sqliteStore);
  });
  afterAll(() => gateway?.stop());

  /** The tree as a gateway with very many threads would answer it: making them would take minutes. */
  async function crowded(): Promise<Page> {
    const page = await browser.open(gateway);
    await page.routeWebSocket(/\/rpc/, (socket) => {
      const server = socket.connectToServer();
      const trees = new Set<unknown>();
      socket.onMessage((message) => {
        const call = JSON.parse(String(message));
        if (call.method === "thread/tree") trees.add(call.id);
        server.send(message);
      });
      server.onMessage((message) => {
        const answer = JSON.parse(String(message));
        if (trees.delete(answer.id)) socket.send(JSON.stringify(withThreads(answer, gateway.home)));
        else socket.send(message);
      });
    });
    await page.goto(`${gateway.url}/w/${gateway.home}`);
    await page.locator(".side").waitFor();
    await page.getByText("Thread number 0001").first().waitFor();
    return page;
  }

  test("[PAR12] no key takes more than 50 ms of the page's time, and the best matches come at once", async () => {
    const page = await crowded();
    await page.keyboard.press("Control+k");
    const field = page.getByRole("combobox", { name: "Search or run" });
    await field.waitFor();
    await page.getByRole("group", { name: "Recent" }).waitFor();
    // Time of the page's own thread: what else this machine does meanwhile is not counted.
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const spent = async () => {
      const { metrics } = await session.send("Performance.getMetrics");
      return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1000;
    };
    const costs: number[] = [];
    for (const key of "thread number 77") {
      const before = await spent();
      await field.press(key);
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
      costs.push((await spent()) - before);
    }
    await page
      .getByRole("option", { name: /^Thread number 77/ })
      .first()
      .waitFor();
    expect(costs.filter((each) => each > 50)).toEqual([]);
  });

  test("[PAR13] the first few are shown, then all of them up to 200, with how many there are", async () => {
    const page = await crowded();
    await page.keyboard.press("Control+k");
    const field = page.getByRole("combobox", { name: "Search or run" });
    await field.fill("number");
    const threads = page.getByRole("group", { name: "Threads" }).getByRole("option");
    await expect.poll(() => threads.count()).toBe(9);
    await page.getByRole("option", { name: "All 10,000 threads that match" }).click();
    await page.getByText("200 of 10,000, type to narrow").waitFor();
    expect(await threads.count()).toBe(200);
  });
});

interface TreeAnswer {
  readonly result: { readonly threads: unknown[]; readonly placements: unknown[] };
}

function withThreads(answer: TreeAnswer, workspace_id: string) {
  const numbers = Array.from({ length: MANY }, (_, at) => String(at).padStart(4, "0"));
  const threads = numbers.map((number, at) => ({
    id: `thr_${number.padStart(26, "0")}`,
    workspace_id,
    title: `Thread number ${number}`,
    agent_id: "demo",
    status: "idle",
    message_count: 2,
    created_at: 1_700_000_000 + at,
    updated_at: 1_700_000_000 + at,
    config: {},
  }));
  const placements = threads.map(({ id }, rank) => ({ thread_id: id, workspace_id, rank }));
  return { ...answer, result: { ...answer.result, threads, placements } };
}
