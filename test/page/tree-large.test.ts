import type { Page, WebSocketRoute } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import type { Result, Thread } from "../../src/protocol/index.js";
import { pageBrowser } from "../support/page/browser.js";
import { harbor, row, treeStage } from "../support/page/tree.js";
import { runStage } from "../support/runs.js";
import { sqliteStore } from "../support/stores.js";

const FOLDERS = 1_000;
const EACH = 10;

/** The answer to `thread/tree` as it would be with 10,000 more threads: reading them from files is another suite's matter. */
function large(answer: string, workspace_id: string): string {
  const message = JSON.parse(answer) as { result: Result<"thread/tree"> };
  const { threads, folders, placements } = message.result;
  const [thread] = threads;
  if (!thread) throw new Error("needs a thread to copy");
  const times = { created_at: 1, updated_at: 1 };
  for (let at = 0; at < FOLDERS; at++) {
    const folder_id = folderId(at);
    folders.push({ id: folder_id, workspace_id, name: `Folder ${at}`, rank: at, ...times });
    for (let rank = 0; rank < EACH; rank++) {
      const id = `thr_${at}_${rank}`;
      threads.push({ ...thread, id, title: `Thread ${at}.${rank}`, folder_id });
      placements.push({ thread_id: id, workspace_id, folder_id, rank });
    }
  }
  return JSON.stringify(message);
}

const folderId = (at: number) => `fld_many_${at}`;

/** Answers how to tell the page of one more thread, the first in the first of the folders. */
async function enlarge(page: Page, workspace_id: string): Promise<(thread: Thread, rank: number) => void> {
  let line: WebSocketRoute | undefined;
  await page.routeWebSocket(/\/rpc/, (socket) => {
    line = socket;
    const server = socket.connectToServer();
    server.onMessage((data) => {
      const tree = typeof data === "string" && data.includes('"placements"') && data.includes('"result"');
      socket.send(tree ? large(data, workspace_id) : data);
    });
  });
  return (thread, rank) => {
    const folder_id = folderId(0);
    const placements = [{ thread_id: thread.id, workspace_id, folder_id, rank }];
    const params = { workspace_id, changes: { threads: [{ ...thread, folder_id }], placements } };
    line?.send(JSON.stringify({ jsonrpc: "2.0", method: "thread/tree/changed", params }));
  };
}

interface Watched {
  arrived?: number;
  shown?: number;
  /** When the page heard of one more thread, and when that had a row. */
  told?: number;
  drawn?: number;
  /** The name of the first thread in a folder. */
  added?: string | undefined;
  long: number[];
}

/** Notes in the page when the tree's data came, when rows were there, and every task that held it up. */
function watch(): void {
  const watched: Watched = { long: [] };
  Object.assign(window, { watched });
  const Native = WebSocket;
  window.WebSocket = class extends Native {
    constructor(url: string | URL) {
      super(url);
      this.addEventListener("message", ({ data }) => {
        if (typeof data !== "string" || !data.includes('"placements"')) return;
        watched.arrived ??= performance.now();
        Object.assign(watched, { told: performance.now(), drawn: undefined });
      });
    }
  };
  new MutationObserver(() => {
    const [first] = document.querySelectorAll("[role=treeitem][aria-level='2'] .t");
    if (watched.added !== first?.textContent) watched.drawn ??= performance.now();
    watched.added = first?.textContent ?? undefined;
    if (watched.shown !== undefined || !document.querySelector("[role=treeitem]")) return;
    watched.shown = performance.now();
  }).observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) watched.long.push(duration);
  }).observe({ type: "longtask" });
}

const watchedIn = (page: Page) => page.evaluate(() => (window as unknown as { watched: Watched }).watched);

/** A busy machine holds up any page now and then; what the page itself does shows every time. */
async function bestOf<T extends number>(tries: number, measure: () => Promise<T>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let at = 0; at < tries; at++) best = Math.min(best, await measure());
  return best;
}

describe.skipIf(inject("chromium") === "")("a large tree [browser]", () => {
  const stage = runStage(sqliteStore, treeStage);
  const browser = pageBrowser();

  test("[PGT30] 10,000 threads in 1,000 folders open within 300 ms once the data is there, scroll without a long task, and take in one more within 50 ms", async () => {
    const { scene, ws, threads } = await harbor(stage);
    const page = await browser.open(stage.gateway(), "/");
    const tell = await enlarge(page, ws);
    const layout = { [ws]: { openFolders: Array.from({ length: FOLDERS }, (_, at) => folderId(at)) } };
    await page.evaluate(
      (state) => localStorage.setItem("heddle.prefs", JSON.stringify({ state, version: 0 })),
      { layout },
    );
    await page.addInitScript(watch);
    const openedIn = await bestOf(4, async () => {
      await page.goto(`${stage.gateway().url}/w/${ws}`);
      await page.getByRole("treeitem").first().waitFor();
      const { arrived = 0, shown = 0 } = await watchedIn(page);
      return shown - arrived;
    });
    const tree = page.getByRole("tree");
    const box = await tree.boundingBox();
    await page.mouse.move((box?.x ?? 0) + 100, (box?.y ?? 0) + 300);
    const longest = await bestOf(4, async () => {
      await page.evaluate(() => {
        (window as unknown as { watched: Watched }).watched.long = [];
      });
      for (let at = 0; at < 40; at++) await page.mouse.wheel(0, at < 30 ? 700 : 20_000);
      await page.evaluate(() => new Promise((done) => setTimeout(done, 100)));
      return Math.max(0, ...(await watchedIn(page)).long);
    });
    expect(await tree.evaluate((place) => place.scrollTop)).toBeGreaterThan(10_000);
    await tree.evaluate((place) => place.scrollTo(0, 0));
    await row(page, "Thread 0.0").waitFor();
    const thread = await scene.get(threads.Decisions as string);
    let rank = 0;
    const comesIn = await bestOf(6, async () => {
      const title = `Added ${--rank}`;
      tell({ ...thread, id: `thr_added_${-rank}`, title }, rank);
      await row(page, title).waitFor();
      const { told = 0, drawn = Number.POSITIVE_INFINITY } = await watchedIn(page);
      return drawn - told;
    });
    console.info(
      `opened in ${Math.round(openedIn)} ms, longest task while scrolling ${Math.round(longest)} ms, a row comes in ${Math.round(comesIn)} ms`,
    );
    expect(await page.getByRole("treeitem").count()).toBeLessThan(100);
    expect(openedIn).toBeLessThan(300);
    expect(longest).toBeLessThan(50);
    expect(comesIn).toBeLessThan(50);
  }, 240_000);
});
