import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { type Bench, type Entry, inTurns, type Row, row } from "../harness.js";
import { Caller } from "../support/caller.js";
import { startGateway } from "../support/child.js";
import { openChromium, signedIn } from "../support/chromium.js";
import { FOLDERS, largeTree, THREADS } from "../support/large-tree.js";
import { Seed } from "../support/seed.js";
import { writeProject, writeThread } from "../support/thread-files.js";
import { followProject } from "../support/wire.js";
import { textOf } from "../support/words.js";

const LENGTHS = { short: 100, long: 10_000 } as const;
const CHARS = 500;
const STEPS = 60;
const IN_PAGE = fileURLToPath(new URL("../support/in-page.js", import.meta.url));
const OPENED_MS = 300;
const STEP_MS = 50;

/** What the page does with long lists, timed within the page: the gateway's part has entries of its own. */
export const browserLong: Entry = {
  name: "browser-long",
  title: `a thread of ${LENGTHS.long} messages, and the tree of ${THREADS} threads with all folders open, in the page`,
  async run(bench: Bench): Promise<Row[]> {
    const chrome = await openChromium(bench);
    if (!chrome) return [];
    return [
      ...(await bench.part((part) => threadRows(part, chrome))),
      ...(await bench.part((part) => treeRows(part, chrome))),
    ];
  },
};

/** What is waited for: `bench/support/in-page.js`. */
interface Waited {
  readonly data: string;
  readonly shows: string;
  readonly words: string;
}

interface Visit {
  readonly opened: number;
  readonly longest: number;
}

async function threadRows(bench: Bench, chrome: Browser): Promise<Row[]> {
  const root = bench.directory();
  writeProject(root);
  const text = (index: number) => textOf(CHARS, index);
  const sizes = Object.values(LENGTHS);
  const ids = sizes.map((messages, number) => writeThread(root, { number, messages, text }));
  const { gateway, caller, workspace_id } = await followProject(bench, { dataDir: bench.directory(), root });
  await caller.call("thread/list", { workspace_id });
  const page = await signedInPage(bench, chrome, await signedIn(gateway, `/w/${workspace_id}`));
  const visits = (at: number) => async (): Promise<Visit> => {
    const id = ids[at] as string;
    const last = `message-${at}-${(sizes[at] as number) - 1}`;
    const waited = { data: `"${last}"`, shows: `[data-item="${last}"]`, words: "" };
    return visit(page, `${gateway.url}/w/${workspace_id}/thread/${id}`, waited, ".scroll");
  };
  const { short, long } = await inTurns(bench.times(12, 4), { short: visits(0), long: visits(1) });
  const against = { name: `of ${LENGTHS.short}`, samples: short.map(({ opened }) => opened) };
  return [
    row({
      name: "a thread, since its data came",
      unit: "ms",
      samples: long.map(({ opened }) => opened),
      against,
      target: { of: "value", atMost: OPENED_MS },
    }),
    scrollRow("a thread, longest task of scrolling", long),
  ];
}

async function treeRows(bench: Bench, chrome: Browser): Promise<Row[]> {
  const dataDir = bench.directory();
  const { workspace, folders } = await Seed.into(bench, dataDir, largeTree);
  const gateway = await startGateway(bench, dataDir);
  const page = await signedInPage(bench, chrome, await signedIn(gateway, `/w/${workspace}`));
  const layout = { [workspace]: { openFolders: folders } };
  const prefs = JSON.stringify({ state: { layout }, version: 0 });
  await page.evaluate(`localStorage.setItem("heddle.prefs", ${JSON.stringify(prefs)})`);
  const waited = { data: '"placements"', shows: "[role=treeitem]", words: "Folder" };
  const address = `${gateway.url}/w/${workspace}`;
  const { visits } = await inTurns(bench.times(12, 4), {
    visits: () => visit(page, address, waited, "[role=tree]"),
  });
  const caller = await Caller.open(bench, gateway.url, gateway.token);
  const watching = await watched(page, address, waited);
  await took(watching);
  let number = 0;
  const { added } = await inTurns(bench.times(20, 6), {
    added: async () => {
      const name = `One more ${number++}`;
      await awaits(watching, { data: name, shows: "[role=treeitem]", words: name });
      await caller.call("thread/folder/create", { workspace_id: workspace, name, after_id: null });
      return took(watching);
    },
  });
  const target = { of: "value", atMost: STEP_MS } as const;
  return [
    row({
      name: `the tree of ${FOLDERS} open folders, since its data came`,
      unit: "ms",
      samples: visits.map(({ opened }) => opened),
      target: { of: "value", atMost: OPENED_MS },
    }),
    scrollRow("the tree, longest task of scrolling", visits),
    row({ name: "the tree, until one more has its row", unit: "ms", samples: added, target }),
  ];
}

function scrollRow(name: string, visits: readonly Visit[]): Row {
  const samples = visits.map(({ longest }) => longest);
  return row({ name, unit: "ms", samples, target: { of: "value", atMost: STEP_MS } });
}

async function signedInPage(bench: Bench, chrome: Browser, address: string): Promise<Page> {
  const context = await chrome.newContext({ viewport: { width: 1440, height: 900 } });
  bench.onEnd(() => context.close());
  const page = await context.newPage();
  await page.goto(address);
  await page.getByRole("tree").waitFor();
  return page;
}

/** A window of its own, which notes what it does from the beginning. It shares the session. */
async function watched(page: Page, address: string, waited: Waited): Promise<Page> {
  const fresh = await page.context().newPage();
  await fresh.addInitScript({ path: IN_PAGE });
  await fresh.addInitScript(`noted.await(${JSON.stringify(waited)})`);
  await fresh.goto(address);
  return fresh;
}

async function visit(page: Page, address: string, waited: Waited, box: string): Promise<Visit> {
  const fresh = await watched(page, address, waited);
  const opened = await took(fresh);
  const longest = await fresh.evaluate<number>(`noted.scrollThrough(${JSON.stringify(box)}, ${STEPS})`);
  await fresh.close();
  return { opened, longest };
}

function awaits(page: Page, waited: Waited): Promise<unknown> {
  return page.evaluate(`noted.await(${JSON.stringify(waited)})`);
}

function took(page: Page): Promise<number> {
  return page.evaluate<number>("noted.took()");
}
