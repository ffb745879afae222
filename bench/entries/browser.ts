import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { type Bench, type Entry, inTurns, type Row, row } from "../harness.js";
import { startGateway } from "../support/child.js";
import { openChromium, signedIn } from "../support/chromium.js";
import { FOLDERS, largeTree, THREADS } from "../support/large-tree.js";
import { Seed } from "../support/seed.js";

const WEB = new URL("../../dist/web/", import.meta.url);

/** The page in a real browser: what it loads, and how long a person waits for it. */
export const browser: Entry = {
  name: "browser",
  title: `the page with ${THREADS} threads in ${FOLDERS} folders`,
  async run(bench: Bench): Promise<Row[]> {
    const size = row({
      name: "first load, compressed",
      unit: "KB",
      samples: [firstLoad()],
      target: { of: "value", atMost: 150 },
    });
    const chrome = await openChromium(bench);
    if (!chrome) return [size];
    const dataDir = bench.directory();
    const { workspace } = await Seed.into(bench, dataDir, largeTree);
    const gateway = await startGateway(bench, dataDir);
    const series = await inTurns(bench.times(12, 4), {
      bare: () => timed(chrome, async (page) => void (await page.goto(`${gateway.url}/healthz`))),
      page: async () => {
        const address = await signedIn(gateway, `/w/${workspace}`);
        return timed(chrome, async (page) => {
          await page.goto(address);
          await page.getByRole("treeitem").first().waitFor();
        });
      },
    });
    const against = { name: "a page of one word", samples: series.bare };
    return [
      size,
      row({
        name: "until the tree can be used, nothing cached",
        unit: "ms",
        samples: series.page,
        against,
        target: { of: "value", atMost: 1_000 },
      }),
    ];
  },
};

/** A profile of its own each time: nothing is cached. */
async function timed(chrome: Browser, work: (page: Page) => Promise<void>): Promise<number> {
  const context = await chrome.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const started = performance.now();
  await work(page);
  const took = performance.now() - started;
  await context.close();
  return took;
}

/** Kilobytes of the document and of all that it needs before it can run. */
function firstLoad(): number {
  const read = (path: string) => readFileSync(new URL(path, WEB));
  const html = read("index.html").toString();
  const names = new Set([...html.matchAll(/(?:src|href)="\/assets\/([^"]+)"/g)].map(([, name]) => name));
  const files = readdirSync(new URL("assets/", WEB)).filter((name) => names.has(name));
  const bytes = files.map((name) => gzipSync(read(`assets/${name}`), { level: 9 }).length);
  return (bytes.reduce((sum, size) => sum + size, 0) + gzipSync(html).length) / 1024;
}
