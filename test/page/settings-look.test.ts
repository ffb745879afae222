import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { axeFinds } from "../support/page/axe.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { sqliteStore } from "../support/stores.js";

describe.skipIf(inject("chromium") === "")("what stands around the threads [browser]", () => {
  const browser = pageBrowser();
  let gateway: TestGateway;
  let thread: string;
  beforeAll(async () => {
    gateway = await startGateway(sqliteStore);
    const wire = await gateway.wire();
    const workspace_id = gateway.home;
    ({
      thread: { id: thread },
    } = await wire.result("thread/start", { workspace_id, title: "Webhooks book twice", agent_id: "demo" }));
  });
  afterAll(() => gateway?.stop());

  for (const colorScheme of ["light", "dark"] as const) {
    test(`[PAR70] axe has nothing to report, in the ${colorScheme} theme`, async () => {
      const page = await browser.open(gateway, `/w/${gateway.home}/thread/${thread}`, { colorScheme });
      const agent = page.getByRole("button", { name: /^Agent: / });
      await agent.waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Search or run" }).fill("web");
      await page.getByRole("option", { name: /^Webhooks/ }).waitFor();
      expect(await axeFinds(page, ".pal")).toEqual([]);
      await shot(page, `around-palette-${colorScheme}`);
      await page.keyboard.press("Escape");
      await agent.click();
      await page
        .getByRole("dialog", { name: "Agents" })
        .getByText(/tools: /)
        .waitFor();
      expect(await axeFinds(page, ".agent-menu")).toEqual([]);
      await shot(page, `around-agents-${colorScheme}`);
      await page.keyboard.press("Escape");
      await page.keyboard.press("?");
      await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
      expect(await axeFinds(page, ".keys-sheet")).toEqual([]);
      await shot(page, `around-keys-${colorScheme}`);
      await page.goto(`${gateway.url}/w/${gateway.home}/settings`);
      await page
        .getByText(/number 1 in/)
        .first()
        .waitFor();
      await page.getByText("Demo Notes").first().waitFor();
      expect(await axeFinds(page, ".main")).toEqual([]);
    });
  }

  test("[PAR71] nothing is wider than the window, from 360 to 1024 px", async () => {
    const page = await browser.open(gateway, `/w/${gateway.home}/settings`);
    await page
      .getByText(/number 1 in/)
      .first()
      .waitFor();
    for (const width of [1024, 720, 390, 360]) {
      await page.setViewportSize({ width, height: 844 });
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Search or run" }).waitFor();
      const over = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(await over(), `${width}`).toBeLessThanOrEqual(0);
      const wide = page.locator(".set-parts");
      expect(await wide.evaluate((each) => each.scrollWidth - each.clientWidth)).toBeLessThanOrEqual(0);
      await shot(page, `around-palette-${width}`);
      await page.keyboard.press("Escape");
    }
  });
});
