import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { type Browser, chromium, type Page } from "playwright-core";
import { type Bench, type Entry, inTurns, type Row, row } from "../harness.js";
import { startGateway } from "../support/child.js";
import { documentText, Seed } from "../support/seed.js";

const THREADS = 10_000;
const FOLDERS = 1_000;
const WEB = new URL("../../dist/web/", import.meta.url);
const ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];

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
    const path = chromiumPath();
    if (path === undefined) {
      bench.leftOut.push("there is no Chromium: run `npm test` once, which installs it");
      return [size];
    }
    const dataDir = bench.directory();
    const workspace = await Seed.into(bench, dataDir, fill);
    const { url, token } = await startGateway(bench, dataDir);
    const chrome = await chromium.launch({ executablePath: path, args: ARGS });
    bench.onEnd(() => chrome.close());
    const visit = async () =>
      (
        (await (
          await fetch(`${url}/visits`, { method: "POST", headers: { Authorization: `Bearer ${token}` } })
        ).json()) as { path: string }
      ).path;
    const series = await inTurns(bench.times(12, 4), {
      bare: () => timed(chrome, async (page) => void (await page.goto(`${url}/healthz`))),
      page: async () => {
        const code = await visit();
        return timed(chrome, async (page) => {
          await page.goto(`${url}/w/${workspace}${code.slice(1)}`);
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

function chromiumPath(): string | undefined {
  try {
    return JSON.parse(readFileSync(".cache/services.json", "utf8")).chromium.path;
  } catch {
    return undefined;
  }
}

function fill(seed: Seed): string {
  const workspace = seed.workspace("Page");
  const folders: string[] = [];
  for (let index = 0; index < FOLDERS; index++) {
    const parent = index < 10 ? null : (folders[Math.floor(index / 10) - 1] ?? null);
    const folder = seed.folder(workspace, parent, `Folder ${index}`);
    if (index % 10 === 0) seed.doc(workspace, folder, documentText(2_000));
    folders.push(folder);
  }
  for (let index = 0; index < THREADS; index++)
    seed.thread(workspace, folders[index % FOLDERS] ?? null, { index, of: THREADS });
  return workspace;
}
