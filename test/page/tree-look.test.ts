import { describe, expect, inject, test } from "vitest";
import { axeFinds } from "../support/page/axe.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { asks, harbor, openFolders, row, treeStage } from "../support/page/tree.js";
import { runStage } from "../support/runs.js";
import { sqliteStore } from "../support/stores.js";

describe.skipIf(inject("chromium") === "")("how the tree looks [browser]", () => {
  const stage = runStage(sqliteStore, treeStage);
  const browser = pageBrowser();

  test.each(["light", "dark"] as const)("[PGT90] the tree in %s, at every width", async (colorScheme) => {
    const place = await harbor(stage);
    const { ws, folders, threads } = place;
    const page = await browser.open(stage.gateway(), `/w/${ws}`, { colorScheme });
    await openFolders(page, "Backend", "Payments", "Web", "Release 4.2");
    await asks(place, "Migration dry run", "codex");
    await row(page, /Migration dry run.*waiting/).waitFor();
    await shot(page, `tree-home-${colorScheme}`);
    await page.goto(`${stage.gateway().url}/w/${ws}/folder/${folders["Release 4.3"]}`);
    await page.getByRole("heading", { name: "Release 4.3 is empty" }).waitFor();
    await shot(page, `tree-empty-${colorScheme}`);
    await page.goto(`${stage.gateway().url}/w/${ws}/thread/${threads["Webhooks book twice"]}`);
    await row(page, "Webhooks book twice").waitFor();
    await row(page, "Refund rounding in JPY").click({ button: "right" });
    await page.getByRole("menu").waitFor();
    await shot(page, `tree-menu-${colorScheme}`);
    await page.keyboard.press("Escape");
    await page.setViewportSize({ width: 1024, height: 768 });
    await shot(page, `tree-1024-${colorScheme}`);
    await page.setViewportSize({ width: 720, height: 900 });
    await page.locator(".side").waitFor({ state: "detached" });
    await page.keyboard.press("Control+\\");
    await row(page, "Webhooks book twice").waitFor();
    await shot(page, `tree-720-${colorScheme}`);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${stage.gateway().url}/w/${ws}`);
    await row(page, "Webhooks book twice").waitFor();
    await shot(page, `tree-phone-${colorScheme}`);
    await page.goto(`${stage.gateway().url}/w/${ws}/folder/${folders["Release 4.3"]}`);
    await page.getByRole("heading", { name: "Release 4.3 is empty" }).waitFor();
    await shot(page, `tree-phone-folder-${colorScheme}`);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  });

  test.each(["light", "dark"] as const)(
    "[PGT91] axe has nothing to say about sidebar, menus and dialogs in %s",
    async (colorScheme) => {
      const place = await harbor(stage);
      const page = await browser.open(stage.gateway(), `/w/${place.ws}`, { colorScheme, bypassCSP: true });
      await openFolders(page, "Backend", "Payments");
      await asks(place, "Migration dry run", "codex");
      await page.getByRole("button", { name: "1 waiting" }).click();
      await page.getByRole("dialog", { name: "Waiting for you" }).waitFor();
      await shot(page, `tree-waiting-${colorScheme}`);
      expect(await axeFinds(page, "#root")).toEqual([]);
      await page.keyboard.press("Escape");
      await row(page, "Decisions").focus();
      await page.keyboard.press("Space");
      await page.keyboard.press("Shift+ArrowDown");
      await page.keyboard.press("Shift+F10");
      await page.getByRole("menu").waitFor();
      await shot(page, `tree-several-${colorScheme}`);
      expect(await axeFinds(page, "#root")).toEqual([]);
      await page.keyboard.press("Escape");
      await page.keyboard.press("m");
      await page.getByRole("dialog").waitFor();
      await shot(page, `tree-move-${colorScheme}`);
      expect(await axeFinds(page, "dialog")).toEqual([]);
      await page.keyboard.press("Escape");
      await page.keyboard.press("/");
      await page.keyboard.type("re");
      await page.getByRole("button", { name: "Group by agent" }).click();
      await row(page, /^Claude Code/).waitFor();
      await shot(page, `tree-grouped-${colorScheme}`);
      expect(await axeFinds(page, "#root")).toEqual([]);
      await page.setViewportSize({ width: 390, height: 844 });
      await row(page, /^Claude Code/).waitFor();
      expect(await axeFinds(page, "#root")).toEqual([]);
    },
  );
});
