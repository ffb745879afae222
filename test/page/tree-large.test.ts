import type { Page, WebSocketRoute } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import type { Result, Thread } from "../../src/protocol/index.js";
import { pageBrowser } from "../support/page/browser.js";
import { clockOf, leastOf } from "../support/page/clock.js";
import { harbor, row, treeStage } from "../support/page/tree.js";
import { runStage } from "../support/runs.js";
import { sqliteStore } from "../support/stores.js";

const MANY = 1_000;
const FEW = 100;
const EACH = 10;

/** The answer to `thread/tree` as it would be with so many more folders of threads: reading them from files is another suite's matter. */
function large(answer: string, workspace_id: string, count: number): string {
  const message = JSON.parse(answer) as { result: Result<"thread/tree"> };
  const { threads, folders, placements } = message.result;
  const [thread] = threads;
  if (!thread) throw new Error("needs a thread to copy");
  const times = { created_at: 1, updated_at: 1 };
  for (let at = 0; at < count; at++) {
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
async function enlarge(
  page: Page,
  workspace_id: string,
  count: number,
): Promise<(thread: Thread, rank: number) => void> {
  let line: WebSocketRoute | undefined;
  await page.routeWebSocket(/\/rpc/, (socket) => {
    line = socket;
    const server = socket.connectToServer();
    server.onMessage((data) => {
      const tree = typeof data === "string" && data.includes('"placements"') && data.includes('"result"');
      socket.send(tree ? large(data, workspace_id, count) : data);
    });
  });
  return (thread, rank) => {
    const folder_id = folderId(0);
    const placements = [{ thread_id: thread.id, workspace_id, folder_id, rank }];
    const params = { workspace_id, changes: { threads: [{ ...thread, folder_id }], placements } };
    line?.send(JSON.stringify({ jsonrpc: "2.0", method: "thread/tree/changed", params }));
  };
}

describe.skipIf(inject("chromium") === "")("a large tree [browser]", () => {
  const stage = runStage(sqliteStore, treeStage);
  const browser = pageBrowser();

  async function opened(count: number, { scene, ws, threads }: Awaited<ReturnType<typeof harbor>>) {
    const page = await browser.open(stage.gateway(), "/");
    const tell = await enlarge(page, ws, count);
    const layout = { [ws]: { openFolders: Array.from({ length: count }, (_, at) => folderId(at)) } };
    await page.evaluate(
      (state) => localStorage.setItem("heddle.prefs", JSON.stringify({ state, version: 0 })),
      { layout },
    );
    const worked = await clockOf(page);
    const tree = page.getByRole("tree");
    const opening = async () => {
      await page.goto(`${stage.gateway().url}/w/${ws}`);
      await row(page, "Thread 0.0").waitFor();
      return worked();
    };
    const scrolling = async () => {
      await tree.evaluate((place) => place.scrollTo(0, 0));
      const before = await worked();
      const most = await tree.evaluate(async (place) => {
        let most = 0;
        for (let at = 0; at < 40; at++) {
          place.scrollBy(0, 700);
          await new Promise((done) => requestAnimationFrame(done));
          most = Math.max(most, place.querySelectorAll("[role=treeitem]").length);
        }
        return most;
      });
      expect(most).toBeLessThan(100);
      expect(await tree.evaluate((place) => place.scrollTop)).toBeGreaterThan(10_000);
      return (await worked()) - before;
    };
    const thread = await scene.get(threads.Decisions as string);
    let rank = 0;
    const adding = async () => {
      await tree.evaluate((place) => place.scrollTo(0, 0));
      const title = `Added ${--rank}`;
      const before = await worked();
      tell({ ...thread, id: `thr_added_${-rank}`, title }, rank);
      await row(page, title).waitFor();
      return (await worked()) - before;
    };
    return { opening, scrolling, adding };
  }

  test("[PGT30] 10,000 threads in 1,000 folders draw only what is seen, and are hardly more work to open, to scroll through and to add to than a tenth of them", async () => {
    const scene = await harbor(stage);
    const [many, few] = [await opened(MANY, scene), await opened(FEW, scene)];
    // All rows are read and put in order once; what is drawn is as much in either.
    const opening = await leastOf(4, { many: many.opening, few: few.opening });
    expect(opening.many).toBeLessThan(5 * opening.few);
    const scrolling = await leastOf(4, { many: many.scrolling, few: few.scrolling });
    expect(scrolling.many).toBeLessThan(2 * scrolling.few);
    const adding = await leastOf(4, { many: many.adding, few: few.adding });
    expect(adding.many).toBeLessThan(4 * adding.few);
  }, 240_000);
});
