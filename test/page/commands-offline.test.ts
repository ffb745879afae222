import { describe, expect, inject, test } from "vitest";
import { between } from "../support/page/between.js";
import { pageBrowser } from "../support/page/browser.js";
import { ComposerPage, threadPath } from "../support/page/composer.js";
import { CUT, lineTo } from "../support/page/line.js";
import { row } from "../support/page/tree.js";
import { type RunScene, runStage } from "../support/runs.js";

describe.skipIf(inject("chromium") === "")("commands without a connection [browser]", () => {
  const stage = runStage();
  const browser = pageBrowser();

  const titles = async (scene: RunScene) =>
    (await scene.wire.result("thread/list", { workspace_id: scene.workspace_id })).data
      .map(({ title }) => title)
      .sort();

  test("[PGE15] what is commanded without a connection is refused at once with a word, and never carried out later", async () => {
    const scene = await stage.scene();
    const here = await scene.start({ title: "Here" });
    await scene.start({ title: "There" });
    const line = await lineTo(stage.gateway());
    const page = await browser.open(line.gateway, threadPath(here), { tolerates: CUT });
    const composer = new ComposerPage(page);
    await composer.field.waitFor();
    await row(page, "Here").waitFor();
    page.setDefaultTimeout(5_000);
    line.cut();
    await page.getByText("The gateway does not answer.").waitFor();
    await row(page, "Here").focus();
    await page.keyboard.press("c");
    await page.getByText("Not connected: nothing was changed.").first().waitFor();
    await page.keyboard.press("c");
    await page.keyboard.press("Delete");
    await page.keyboard.press("F2");
    await page.keyboard.type("Renamed");
    await page.keyboard.press("Enter");
    await page.locator(".rename-problem").getByText("Not connected").waitFor();
    await page.keyboard.press("Escape");
    // Main is left only once something is gone.
    expect(page.url()).toContain(here.id);
    await composer.field.click();
    await page.keyboard.type("half a sentence");
    line.mend();
    // By itself: whoever writes presses no button.
    await page.getByText("The gateway does not answer.").waitFor({ state: "detached", timeout: 15_000 });
    await page.keyboard.type(" goes on", { delay: 40 });
    expect(await composer.field.inputValue()).toBe("half a sentence goes on");
    expect(await titles(scene)).toEqual(["Here", "There"]);
  });

  test("[PGE15] an answer that comes late does not take somebody away from where they went since", async () => {
    const scene = await stage.scene();
    const here = await scene.start({ title: "Here" });
    const there = await scene.start({ title: "There" });
    const page = await browser.open(stage.gateway(), threadPath(here));
    const wire = await between(page);
    await row(page, "There").waitFor();
    await row(page, "Here").focus();
    wire.hold();
    await page.keyboard.press("c");
    await expect.poll(() => wire.sent("thread/start")).toHaveLength(1);
    await row(page, "There").click();
    await expect.poll(() => page.url()).toContain(there.id);
    wire.release();
    await expect.poll(() => titles(scene)).toHaveLength(3);
    await page.getByText("Made a new thread").waitFor();
    expect(page.url()).toContain(there.id);
    await page.getByRole("button", { name: "Open it" }).click();
    await expect.poll(() => page.url()).not.toContain(there.id);
  });

  test("[PGT25] main is left only once the thread is deleted", async () => {
    const scene = await stage.scene();
    const here = await scene.start({ title: "Here" });
    const page = await browser.open(stage.gateway(), threadPath(here));
    const wire = await between(page);
    await row(page, "Here").waitFor();
    wire.refuse("thread/delete", {
      code: -32000,
      message: "The disk is full.",
      data: { kind: "store.full", message: "The disk is full." },
    });
    await row(page, "Here").focus();
    await page.keyboard.press("Delete");
    await page.getByText("The disk is full.").waitFor();
    expect(page.url()).toContain(here.id);
    wire.refuse("thread/delete", undefined);
    await page.keyboard.press("Delete");
    await page.getByText("Deleted “Here”").waitFor();
    await expect.poll(() => page.url()).not.toContain(here.id);
  });
});
