import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { axeFinds } from "../support/page/axe.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { BACKEND_TEXT, DocScene, field, newFolder, ROOT_TEXT, says } from "../support/page/documents.js";
import { runStage } from "../support/runs.js";

const THEMES = ["light", "dark"] as const;
const SMALLER = [
  [1024, 768],
  [720, 900],
  [390, 844],
] as const;
const RETRIES = "- Retries are the provider's business; ours is to answer within 2 s.\n";
const LAST = "If a rule here is in the way, say so and stop. Do not work around it.\n";

/** What axe-core finds in the panes of the document; the tree beside them is looked at by its own tests. */
const faults = (page: Page) => axeFinds(page, { exclude: [".side", ".resizer"] });

describe.skipIf(inject("chromium") === "")("how the editor looks [browser]", () => {
  const stage = runStage();
  const browser = pageBrowser();

  async function harbor() {
    const scene = await stage.scene();
    await scene.saveDoc(ROOT_TEXT);
    const doc = await DocScene.inFolder(scene);
    const payments = await newFolder(scene, "Payments", doc.folder_id);
    await scene.saveDoc("", payments);
    await scene.start({ title: "Webhooks book twice", folder_id: payments });
    await scene.start({ title: "Refund rounding in JPY", folder_id: payments });
    await scene.start({ title: "Slow query on /bookings", folder_id: doc.folder_id });
    await doc.save("# Backend\n\nNode 20.\n");
    await doc.save(BACKEND_TEXT.replace(RETRIES, ""));
    await doc.save(BACKEND_TEXT);
    return doc;
  }

  test("[PED51] [PED52] the editor and what is known about the file, in every width and both themes", {
    timeout: 180_000,
  }, async () => {
    const doc = await harbor();
    for (const colorScheme of THEMES) {
      const page = await browser.open(stage.gateway(), doc.path, { colorScheme });
      await field(page).waitFor();
      await expect.poll(() => page.locator(".rev .plus").last().innerText()).toBe("+3");
      await page.locator(".cm-line", { hasText: "Retries are" }).click();
      await shot(page, `editor-${colorScheme}`);
      expect(await faults(page)).toEqual([]);
      for (const [width, height] of SMALLER) {
        await page.setViewportSize({ width, height });
        const about = page.getByRole("complementary", { name: "About this file" });
        await about.waitFor({ state: "detached" });
        await shot(page, `editor-${width}-${colorScheme}`);
        await page.getByRole("button", { name: "History" }).click();
        await about.waitFor();
        await shot(page, `editor-about-${width}-${colorScheme}`);
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
        if (width === 390) expect(await faults(page)).toEqual([]);
        await page.keyboard.press("Escape");
        await about.waitFor({ state: "detached" });
        expect(
          await page.evaluate(() => document.activeElement?.textContent || document.activeElement?.ariaLabel),
        ).toBe("History");
      }
      expect(await faults(page)).toEqual([]);
    }
  });

  test("[PED38] [PED52] the conflict, in every width and both themes", { timeout: 180_000 }, async () => {
    const doc = await harbor();
    const theirs = BACKEND_TEXT.replace(LAST, "If a rule is in the way, stop.\n").replace(
      "## Payments",
      "- Seed data goes through `scripts/seed.ts`.\n\n## Payments",
    );
    for (const colorScheme of THEMES) {
      await doc.save(BACKEND_TEXT);
      const page = await browser.open(stage.gateway(), doc.path, { colorScheme });
      await field(page).waitFor();
      await field(page).focus();
      await page.keyboard.press("ControlOrMeta+End");
      await page.keyboard.insertText("More of mine.\n");
      await stage.gateway().client("cli").call("thread/agents_doc/save", {
        workspace_id: doc.scene.workspace_id,
        folder_id: doc.folder_id,
        content: theirs,
      });
      await says(page, /^Conflict$/);
      await page.getByText("One change merged by itself, one needs you.").waitFor();
      await shot(page, `conflict-${colorScheme}`);
      expect(await faults(page)).toEqual([]);
      for (const [width, height] of SMALLER) {
        await page.setViewportSize({ width, height });
        await shot(page, `conflict-${width}-${colorScheme}`);
      }
      expect(await faults(page)).toEqual([]);
      await page.getByRole("button", { name: "Take theirs" }).click();
      await says(page, /^(Saved, )?v\d$/);
    }
  });
});
