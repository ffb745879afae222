import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { pageBrowser } from "../support/page/browser.js";
import { ComposerPage, threadPath } from "../support/page/composer.js";
import { DocScene, field, says } from "../support/page/documents.js";
import { row } from "../support/page/tree.js";
import { type RunScene, runStage } from "../support/runs.js";

const BASE = "# Rules\n\n- one\n- two\n- three\n\n## More\n\n- four\n- five";
/** Words in which every command of one letter occurs. */
const WORDS = "we wrote it once, checked twice, and each time it was correct ";

/** What has the focus: its name, or its text. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const at = document.activeElement;
    if (!at || at === document.body) return "nothing";
    return at.getAttribute("aria-label") ?? at.textContent?.trim() ?? "";
  });

describe.skipIf(inject("chromium") === "")("where the focus is [browser]", () => {
  const stage = runStage();
  const browser = pageBrowser();

  const threadsOf = async (scene: RunScene) =>
    (await scene.wire.result("thread/list", { workspace_id: scene.workspace_id })).data;

  describe("a field that goes away under the typing", () => {
    test("[PGE14] what is typed while another window deletes the thread is no command", async () => {
      const scene = await stage.scene();
      const gone = await scene.start({ title: "Going" });
      await scene.start({ title: "Staying" });
      const page = await browser.open(stage.gateway(), threadPath(gone));
      const { field: message } = new ComposerPage(page);
      await message.click();
      await page.keyboard.type("Please see that");
      await scene.wire.result("thread/delete", { thread_id: gone.id });
      await page.getByText("This thread is not here").waitFor();
      const at = page.url();
      await page.keyboard.type(WORDS);
      await page.keyboard.press("Enter");
      await page.keyboard.press("Delete");
      await expect.poll(async () => (await threadsOf(scene)).map(({ title }) => title)).toEqual(["Staying"]);
      expect(page.url()).toBe(at);
      expect(await page.getByText("Nothing waits for you.").count()).toBe(0);
      // Escape says that the person has seen it: now letters are commands again.
      await page.keyboard.press("Escape");
      await page.keyboard.press("w");
      await page.getByText("Nothing waits for you.").waitFor();
    });

    test("[PGE14] [PED55] a conflict that opens under the typing takes the rest in its merged text", async () => {
      const scene = await stage.scene();
      const doc = await DocScene.inFolder(scene);
      await doc.save(BASE);
      const page = await browser.open(stage.gateway(), doc.path);
      await field(page).focus();
      await page.keyboard.press("ControlOrMeta+End");
      await page.keyboard.type(" and mine");
      await doc.save(BASE.replace("- two", "- two of theirs"));
      const typing = page.keyboard.type(WORDS, { delay: 12 });
      await says(page, /^Conflict$/);
      await typing;
      const merged = page.getByRole("textbox", { name: "Merged text, changed part" }).last();
      await expect.poll(() => merged.evaluate((area) => area === document.activeElement)).toBe(true);
      // The rest goes on where it was broken off.
      expect(await merged.inputValue()).toMatch(/^- five and mine[ a-z,]+ correct $/);
      expect(await threadsOf(scene)).toEqual([]);
      await page.keyboard.press("ControlOrMeta+s");
      await says(page, /^Saved, v3$/);
      expect(await field(page).evaluate((text) => text === document.activeElement)).toBe(true);
      await page.keyboard.press("ControlOrMeta+End");
      await page.keyboard.type("now");
      await expect.poll(() => doc.content()).toMatch(/correct now$/);
    });
  });

  describe("what takes the place of something that had it", () => {
    const open = async (tail = "") => {
      const scene = await stage.scene();
      const thread = await scene.start({ title: "Shopping" });
      const page = await browser.open(stage.gateway(), `${threadPath(thread)}${tail}`);
      await page.getByRole("heading", { level: 1, name: "Shopping" }).waitFor();
      return { scene, thread, page };
    };
    test("[PGE17] a thread that was renamed in its header gives the focus to its menu, deleted there to the tree", async () => {
      const { page } = await open();
      const more = page.locator(".main > .bar").getByRole("button", { name: "More" });
      await more.click();
      await page.getByRole("menuitem", { name: "Rename" }).click();
      await page.getByLabel("Name of the thread").fill("Errands");
      await page.keyboard.press("Enter");
      await expect.poll(() => focused(page)).toBe("More");
      await page.keyboard.press("Enter");
      await page.getByRole("menuitem", { name: "Delete" }).focus();
      await page.keyboard.press("Enter");
      await page.getByText("Deleted “Errands”").waitFor();
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.closest(".side, .main") !== null))
        .toBe(true);
    });

    test("[PGE17] Preview next goes there and back by keyboard", async () => {
      const { page } = await open("/context");
      const next = page.getByRole("button", { name: "Preview next" });
      await next.focus();
      await page.keyboard.press("Enter");
      await expect.poll(() => focused(page)).toBe("Leave the preview");
      await page.keyboard.press("Escape");
      await expect.poll(() => focused(page)).toBe("Preview next");
    });
  });

  test("[PED56] the editor has the focus when somebody opened it to write, and not on Back or reload", async () => {
    const scene = await stage.scene();
    const thread = await scene.start({ title: "Shopping" });
    const page = await browser.open(stage.gateway(), threadPath(thread));
    await row(page, "Shopping").focus();
    const has = () => page.evaluate(() => document.activeElement?.classList.contains("cm-content"));
    await page.keyboard.press("e");
    await expect.poll(has).toBe(true);
    await page.keyboard.type("we");
    await expect.poll(() => field(page).innerText()).toContain("we");
    await page.reload();
    await field(page).waitFor();
    expect(await has()).toBe(false);
    await page.goBack();
    await new ComposerPage(page).field.waitFor();
    await page.goForward();
    await field(page).waitFor();
    expect(await has()).toBe(false);
    await page.goBack();
    await row(page, "Shopping").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Edit AGENTS.md" }).click();
    await expect.poll(has).toBe(true);
  });

  test("[PGE6] F6 and Shift-F6 go back to where one was in each pane", async () => {
    const scene = await stage.scene();
    const thread = await scene.start({ title: "Shopping" });
    await scene.start({ title: "Travel" });
    const page = await browser.open(stage.gateway(), `${threadPath(thread)}/context`);
    await row(page, "Shopping").waitFor();
    await page.getByRole("button", { name: "Preview next" }).waitFor();
    const at = () => focused(page);
    // Where nobody was yet: the tree, the composer, the tab.
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    const seen: string[] = [];
    for (let turn = 0; turn < 3; turn++) {
      await page.keyboard.press("F6");
      seen.push(await at());
    }
    expect(seen[0]).toContain("Shopping");
    expect(seen.slice(1)).toEqual(["Message", "Context"]);
    await row(page, "Travel").focus();
    await page.keyboard.press("F6");
    await page.getByRole("button", { name: "Find in thread" }).focus();
    await page.keyboard.press("F6");
    await page.getByRole("button", { name: "Preview next" }).focus();
    await page.keyboard.press("Shift+F6");
    expect(await at()).toBe("Find in thread");
    await page.keyboard.press("Shift+F6");
    expect(await at()).toContain("Travel");
    await page.keyboard.press("Shift+F6");
    expect(await at()).toBe("Preview next");
  });
});
