/** `npm run docs:screenshots`: makes the workspace of the pictures, opens the page in a browser and writes the guide's pictures. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { startGateway, type TestGateway } from "../test/support/gateway.js";
import { startModelServer } from "../test/support/model-server/server.js";
import { buildHarbor, type Harbor, writeHarborConfig } from "../test/support/page/harbor.js";
import { DESK, PHONE, returning, SCREENS, type Screen } from "../test/support/page/harbor-screens.js";

const IMAGES = "docs/guide/images";

/** By screen; the guide shows each of them. */
const PICTURES: Readonly<Record<string, string>> = {
  first: "first-visit",
  thread: "thread",
  context: "context",
  agents: "agents",
  artifacts: "artifacts",
  palette: "palette",
  editor: "editor",
  offline: "offline",
  phone: "phone",
  conflict: "conflict",
};

async function main(): Promise<void> {
  const services = JSON.parse(readFileSync(".cache/services.json", "utf8")) as {
    chromium: { path?: string };
  };
  const executablePath = services.chromium.path;
  if (!executablePath) throw new Error("There is no Chromium here: .cache/services.json names none.");
  // What runs on this machine must not be in the pictures.
  process.env.HEDDLE_DETECT = "off";
  const dir = mkdtempSync(join(tmpdir(), "heddle-pictures-"));
  const model = await startModelServer();
  const gateway = await openGateway(dir, model.url);
  const browser = await chromium.launch({
    executablePath,
    args: ["--headless", "--no-sandbox", "--disable-gpu"],
  });
  try {
    const root = join(dir, "harbor");
    mkdirSync(root);
    const harbor = await buildHarbor({ gateway, model, root });
    mkdirSync(IMAGES, { recursive: true });
    for (const screen of SCREENS) if (PICTURES[screen.name]) await picture(browser, gateway, harbor, screen);
  } finally {
    await browser.close();
    await gateway.stop();
    await model.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

function openGateway(dir: string, url: string): Promise<TestGateway> {
  const dataDir = join(dir, "data");
  const place = { store: "sqlite", dataDir, remove: async () => {} };
  const kind = { name: "sqlite" as const, fresh: async () => place };
  return startGateway(kind, { configFile: writeHarborConfig(url, dir) });
}

async function picture(
  browser: Browser,
  gateway: TestGateway,
  harbor: Harbor,
  screen: Screen,
): Promise<void> {
  const context = await browser.newContext({
    viewport: screen.phone ? PHONE : DESK,
    colorScheme: "light",
    reducedMotion: "reduce",
    ...returning(gateway.url, harbor),
  });
  const page = await context.newPage();
  await page.goto(gateway.pageUrl());
  await page.goto(gateway.url + screen.path(harbor));
  await screen.show(page, harbor);
  // The colours of code come a moment after the code.
  await page.waitForLoadState("networkidle");
  const path = join(IMAGES, `${PICTURES[screen.name]}.png`);
  await page.screenshot({ path });
  await context.close();
  process.stdout.write(`${path}\n`);
}

await main();
