import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { pageBrowser } from "../support/page/browser.js";
import { threadPath } from "../support/page/composer.js";
import { row } from "../support/page/tree.js";
import { runStage } from "../support/runs.js";

describe.skipIf(inject("chromium") === "")("toasts [browser]", () => {
  const stage = runStage();
  const browser = pageBrowser();

  /** Whole inside the window, and as wide as its words need. */
  const whole = async (page: Page, words: string) => {
    const toast = page.locator(".toast").filter({ hasText: words });
    await toast.waitFor();
    const { width, height } = page.viewportSize() as { width: number; height: number };
    await expect
      .poll(async () => {
        const box = await toast.boundingBox();
        if (!box) return "gone";
        const inside = box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height;
        return inside ? "whole" : JSON.stringify(box);
      })
      .toBe("whole");
    return (await toast.boundingBox()) as { x: number; y: number; width: number; height: number };
  };

  test("[PGE16] a toast stays whole while what is open changes, and Undo can be pressed", async () => {
    const scene = await stage.scene();
    const first = await scene.start({ title: "First" });
    await scene.start({ title: "Second" });
    const page = await browser.open(stage.gateway(), threadPath(first));
    await page.getByRole("heading", { level: 1, name: "First" }).waitFor();
    await row(page, "First").focus();
    await page.keyboard.press("F2");
    await page.keyboard.type("Renamed");
    await page.keyboard.press("Enter");
    await whole(page, "Renamed to");
    await row(page, "Second").click();
    await page.getByRole("heading", { level: 1, name: "Second" }).waitFor();
    const box = await whole(page, "Renamed to");
    const dock = await page.locator(".dock").boundingBox();
    expect(box.y + box.height).toBeLessThanOrEqual(dock?.y ?? 0);
    await page
      .getByRole("banner")
      .or(page.locator(".main > .bar"))
      .getByRole("button", { name: "More" })
      .click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
    await page.getByText("Deleted “Second”").waitFor();
    const left = await whole(page, "Deleted");
    const main = (await page.locator(".main").boundingBox()) as { x: number; width: number };
    expect(Math.abs(left.x + left.width / 2 - (main.x + main.width / 2))).toBeLessThan(2);
    await page.locator(".toast").filter({ hasText: "Deleted" }).getByRole("button", { name: "Undo" }).click();
    await row(page, "Second").waitFor();
  });

  test("[PGE16] a toast is whole and not squeezed at every width, in every pane", async () => {
    const scene = await stage.scene();
    const thread = await scene.start({ title: "A thread with a name of some length" });
    const page = await browser.open(stage.gateway(), threadPath(thread));
    await page.getByRole("heading", { level: 1 }).waitFor();
    const sizes = [320, 390, 720, 1024, 1440, 2560];
    for (const width of sizes) {
      await page.setViewportSize({ width, height: 700 });
      await page.locator(".main > .bar").getByRole("button", { name: "More" }).click();
      await page.getByRole("menuitem", { name: /^(Pin|Unpin)$/ }).click();
      const box = await whole(page, "inned “A thread");
      expect(box.width, `${width}`).toBeGreaterThan(Math.min(280, width - 32));
      await page.getByRole("button", { name: "Dismiss" }).last().click();
      await page.locator(".toast").waitFor({ state: "detached" });
    }
  });
});
