import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { between } from "../support/page/between.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { DocScene, field, says, textIn, typeAtEnd } from "../support/page/documents.js";
import { runStage } from "../support/runs.js";

const BASE = "# Rules\n\n- one\n- two\n- three\n\n## More\n\n- four\n- five\n";
const MINE = `${BASE.replace("- two", "- two of mine")}- six of mine\n`;
const THEIRS = BASE.replace("- one", "- one of theirs").replace("- five\n", "- five of theirs\n");

describe.skipIf(inject("chromium") === "")("a conflict [browser]", () => {
  const stage = runStage();
  const browser = pageBrowser();

  /** Two windows: one has unsaved text, the other saves. */
  async function conflict({ mine = MINE, theirs = THEIRS, options = {} } = {}) {
    const scene = await stage.scene();
    const doc = await DocScene.inFolder(scene);
    await doc.save(BASE);
    const page = await browser.open(stage.gateway(), doc.path, options);
    await field(page).waitFor();
    await field(page).focus();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.insertText(mine);
    await doc.save(theirs);
    await says(page, /^Conflict$/);
    await page.locator(".three").waitFor();
    return { scene, doc, page };
  }

  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
  const merged = (page: Page) =>
    page
      .locator(".merged textarea")
      .evaluateAll((all) => all.map((each) => (each as HTMLTextAreaElement).value).join("\n"));

  // Mine changes `two` and adds a line at the end; theirs changes `one` (adjoining) and the last line.
  test("[PED30] [PED31] [PED32] both changes are shown, nothing is sent, and the merged text is saved on top of theirs", async () => {
    const { doc, page } = await conflict();
    await page.getByText("v2 was saved elsewhere while you were editing v1.").waitFor();
    await page.getByText("Autosave is paused and your text is kept. Two need you.").waitFor();
    for (const name of ["Mine", "Merged", "Theirs"])
      await page.getByRole("heading", { name, exact: true }).waitFor();
    const save = button(page, "Save merged");
    expect([await save.isDisabled(), await save.getAttribute("title")]).toEqual([
      true,
      "Two overlaps are left",
    ]);
    expect(await doc.content()).toBe(THEIRS);
    await button(page, "Mine").first().click();
    expect(await save.getAttribute("title")).toBe("One overlap is left");
    await button(page, "Both").last().click();
    await page.getByText("Nothing is left to decide.").waitFor();
    await save.click();
    const expected = BASE.replace("- two", "- two of mine").replace(
      "- five\n",
      "- five\n- six of mine\n- five of theirs\n",
    );
    await expect.poll(() => doc.stored()).toMatchObject({ version: 3, content: expected });
    await says(page, /^Saved, v3$/);
    expect(await textIn(page)).toBe(expected);
  });

  test("[PED31] what does not overlap is merged already, and can be saved at once", async () => {
    const mine = BASE.replace("# Rules", "# Rules of mine");
    const theirs = BASE.replace("- five", "- five of theirs");
    const { doc, page } = await conflict({ mine, theirs });
    await page.getByText("Two changes merged by themselves, nothing is left to decide.").waitFor();
    await page.keyboard.press("ControlOrMeta+s");
    await expect
      .poll(() => doc.content())
      .toBe(BASE.replace("# Rules", "# Rules of mine").replace("- five", "- five of theirs"));
  });

  test("[PED33] mine is kept, or theirs is taken and mine had back", async () => {
    const first = await conflict();
    await button(first.page, "Keep mine").click();
    await expect.poll(() => first.doc.stored()).toMatchObject({ version: 3, content: MINE });
    const second = await conflict();
    await button(second.page, "Take theirs").click();
    await expect.poll(() => textIn(second.page)).toBe(THEIRS);
    expect(await second.doc.stored()).toMatchObject({ version: 2 });
    await button(second.page, "Undo").click();
    await expect.poll(() => second.doc.stored()).toMatchObject({ version: 3, content: MINE });
  });

  test("[PED34] [PED35] what is written into the merged text is kept over another view and a reload, and saved", async () => {
    const { doc, page } = await conflict();
    await button(page, "Theirs").first().click();
    await page.getByRole("textbox", { name: "Merged text, changed part" }).last().fill("- written by hand");
    await page.getByText("Written by hand", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Backend", exact: true }).click();
    await page.goBack();
    await page.getByText("Written by hand", { exact: true }).waitFor();
    await page.reload();
    await page.getByText("Written by hand", { exact: true }).waitFor();
    expect(await doc.content()).toBe(THEIRS);
    const expected = await merged(page);
    await button(page, "Save merged").click();
    await expect.poll(() => doc.content()).toBe(expected);
    expect(expected).toContain("- one of theirs");
    expect(expected.endsWith("- four\n- written by hand\n")).toBe(true);
  });

  test("[PED36] a further version is taken in; a choice that it does not touch stays", async () => {
    const { doc, page } = await conflict();
    await button(page, "Mine").first().click();
    await doc.save(THEIRS.replace("- five of theirs", "- five of theirs again"));
    await page.getByText("v3 was saved elsewhere while you were editing v1.").waitFor();
    expect(await button(page, "Mine").first().getAttribute("aria-pressed")).toBe("true");
    expect(await button(page, "Save merged").getAttribute("title")).toBe("One overlap is left");
    await button(page, "Theirs").last().click();
    await button(page, "Save merged").click();
    const expected = BASE.replace("- two", "- two of mine").replace("- five", "- five of theirs again");
    await expect.poll(() => doc.stored()).toMatchObject({ version: 4, content: expected });
  });

  test("[PED37] [PED50] the keyboard decides it: F7, Shift F7, Enter, Ctrl S", async () => {
    const { doc, page } = await conflict();
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await page.keyboard.press("F7");
    expect(await focused()).toBe("Mine");
    await page.keyboard.press("Enter");
    await page.keyboard.press("F7");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Theirs");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Shift+F7");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-pressed"))).toBe("true");
    await page.keyboard.press("ControlOrMeta+s");
    await expect
      .poll(() => doc.content())
      .toBe(BASE.replace("- two", "- two of mine").replace("- five", "- five of theirs"));
  });

  test("[PED30] [PED33] two windows type at the same time: one of them has to decide, and both end with the same text", async () => {
    const scene = await stage.scene();
    const doc = await DocScene.inFolder(scene);
    await doc.save(BASE);
    const pages = await Promise.all([1, 2].map(() => browser.open(stage.gateway(), doc.path)));
    for (const page of pages) await field(page).waitFor();
    const [one, two] = pages as [Page, Page];
    const wire = await between(two);
    await field(two).waitFor();
    wire.hold();
    await typeAtEnd(one, "from one\n");
    await says(one, /^Saved, v2$/);
    await typeAtEnd(two, "from two\n");
    wire.release();
    await says(two, /^Conflict$/);
    await button(two, "Both").click();
    await button(two, "Save merged").click();
    await expect.poll(() => doc.content()).toBe(`${BASE}from two\nfrom one\n`);
    const content = (await doc.content()) as string;
    for (const page of [one, two]) await expect.poll(() => textIn(page)).toBe(content);
  });

  test("[PED38] on a phone the columns are tabs", async () => {
    const { page } = await conflict({ options: { viewport: { width: 390, height: 844 } } });
    await shot(page, "conflict-phone");
    const shown = (name: string) => page.locator(`.tri-head .${name}`).isVisible();
    expect([await shown("mine"), await shown("mid"), await shown("theirs")]).toEqual([false, true, false]);
    await page.getByRole("group", { name: "Text to show" }).getByRole("button", { name: "Theirs" }).click();
    expect([await shown("mine"), await shown("mid"), await shown("theirs")]).toEqual([false, false, true]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  });
});
