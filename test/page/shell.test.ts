import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { pageBrowser } from "../support/page/browser.js";
import { type RunScene, runStage } from "../support/runs.js";

describe.skipIf(inject("chromium") === "")("the page's frame [browser]", () => {
  const stage = runStage();
  const browser = pageBrowser();

  async function withThread(title = "Fix login"): Promise<{ scene: RunScene; path: string; id: string }> {
    const scene = await stage.scene();
    const { thread } = await scene.wire.result("thread/start", { workspace_id: scene.workspace_id, title });
    return { scene, id: thread.id, path: `/w/${scene.workspace_id}/thread/${thread.id}` };
  }

  const width = (page: Page, selector: string) =>
    page.locator(selector).evaluate((element) => Math.round(element.getBoundingClientRect().width));

  test("[PGE1] the printed address opens the page, signed in, and leaves no code in the address bar", async () => {
    const page = await browser.open(stage.gateway());
    await page.getByRole("navigation", { name: "Threads" }).waitFor();
    expect(new URL(page.url()).search).toBe("");
  });

  test("[PGE2] a browser without a session is told how to get one, and shows nothing of anybody", async () => {
    const { path } = await withThread("A secret title");
    const page = await browser.open(stage.gateway(), "/", { tolerates: /401|Authentication failed/ });
    await page.context().clearCookies();
    await page.goto(stage.gateway().url + path);
    await page.getByRole("heading", { name: "This browser is not signed in" }).waitFor();
    expect(await page.locator("body").innerText()).toContain("heddle open");
    expect(await page.content()).not.toContain("A secret title");
  });

  test("[PGE3] what is open has an address: it can be reloaded, shared, and left by Back", async () => {
    const { path } = await withThread();
    const page = await browser.open(stage.gateway(), path);
    await page.getByRole("heading", { level: 1, name: "Fix login" }).waitFor();
    await page.goto(`${stage.gateway().url}${path.replace(/\/thread.*/, "/settings")}`);
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Fix login" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Fix login" }).waitFor();
  });

  test("[PGE4] borders are dragged within their bounds, reset by a double click, and kept for the workspace", async () => {
    const { path } = await withThread();
    const page = await browser.open(stage.gateway(), path);
    const border = page.getByRole("separator", { name: "Width of the sidebar" });
    await border.waitFor();
    expect(await width(page, ".side")).toBe(256);
    await border.hover();
    await page.mouse.down();
    await page.mouse.move(330, 300, { steps: 4 });
    await page.mouse.up();
    expect(Math.abs((await width(page, ".side")) - 330)).toBeLessThan(3);
    await page.reload();
    await border.waitFor();
    expect(Math.abs((await width(page, ".side")) - 330)).toBeLessThan(3);
    await border.hover();
    await page.mouse.down();
    await page.mouse.move(900, 300, { steps: 4 });
    await page.mouse.up();
    expect(await width(page, ".side")).toBe(400);
    await border.dblclick();
    expect(await width(page, ".side")).toBe(256);
    await border.focus();
    await page.keyboard.press("ArrowRight");
    expect(await width(page, ".side")).toBe(272);
  });

  test("[PGE5] three panes when wide, a drawer for the inspector below 1280, for the sidebar below 880, one pane on a phone", async () => {
    const { path } = await withThread();
    const page = await browser.open(stage.gateway(), path);
    const side = page.getByRole("navigation", { name: "Threads" });
    const insp = page.getByRole("complementary", { name: "Inspector" });
    await insp.waitFor();
    await side.waitFor();
    await page.setViewportSize({ width: 1024, height: 800 });
    await insp.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Open the inspector" }).click();
    await insp.waitFor();
    expect(await width(page, ".insp")).toBe(400);
    await page.mouse.click(300, 400);
    await insp.waitFor({ state: "detached" });
    await page.setViewportSize({ width: 720, height: 800 });
    await side.waitFor({ state: "detached" });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("main").waitFor();
    expect(await page.locator(".side").count()).toBe(0);
    await page.goto(stage.gateway().url + path.replace(/\/thread.*/, ""));
    // The pane that is shown is the main one there.
    await page.locator(".side").waitFor();
    expect(await page.locator(".insp").count()).toBe(0);
  });

  test("[PGE6] F6 goes from pane to pane, Ctrl-I and Ctrl-\\ show and hide the panes beside main", async () => {
    const { path } = await withThread();
    const page = await browser.open(stage.gateway(), path);
    const pane = () =>
      page.evaluate(() => document.activeElement?.closest(".side, .main, .insp")?.classList[0] ?? "none");
    await page.locator(".insp").waitFor();
    const panes: string[] = [];
    for (let press = 0; press < 3; press++) {
      await page.keyboard.press("F6");
      panes.push(await pane());
    }
    expect(new Set(panes)).toEqual(new Set(["side", "main", "insp"]));
    await page.keyboard.press("Control+i");
    await page.locator(".insp").waitFor({ state: "detached" });
    await page.keyboard.press("Control+\\");
    await page.locator(".side").waitFor({ state: "detached" });
    await page.keyboard.press("Control+\\");
    await page.keyboard.press("Control+i");
    await page.locator(".side").waitFor();
    await page.locator(".insp").waitFor();
  });

  test("[PGE7] at no width from 360 to 2560 does the page scroll sideways", async () => {
    const { path } = await withThread(
      "A title that is long enough to be cut at every width that a phone can have",
    );
    const page = await browser.open(stage.gateway(), path);
    await page.getByRole("main").waitFor();
    for (const wide of [2560, 1440, 1280, 1279, 1024, 880, 879, 720, 640, 639, 390, 360]) {
      await page.setViewportSize({ width: wide, height: 800 });
      await page.getByRole("main").first().waitFor();
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(over, `${wide} px`).toBeLessThanOrEqual(0);
    }
  });
});
