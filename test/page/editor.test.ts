import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { between } from "../support/page/between.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import {
  BACKEND_TEXT,
  DocScene,
  field,
  ROOT_TEXT,
  saving,
  says,
  textIn,
  typeAtEnd,
} from "../support/page/documents.js";
import { runStage } from "../support/runs.js";

const SAVE = "thread/agents_doc/save";

describe.skipIf(inject("chromium") === "")("the AGENTS.md editor [browser]", () => {
  const stage = runStage();
  const browser = pageBrowser();

  async function opened(content?: string, root = ROOT_TEXT) {
    const scene = await stage.scene();
    if (root) await scene.saveDoc(root);
    const doc = await DocScene.inFolder(scene);
    if (content !== undefined) await doc.save(content);
    const page = await browser.open(stage.gateway(), doc.path);
    await field(page).waitFor();
    return { scene, doc, page };
  }

  /** As if it came from the clipboard. */
  async function paste(page: Page, text: string) {
    await field(page).focus();
    await field(page).evaluate((content, pasted) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", pasted);
      content.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }, text);
  }

  test("[PED1] [PED2] [PED5] starts from the explicit document, in colours, with numbers, wrapped below the text", async () => {
    const { page } = await opened(BACKEND_TEXT);
    expect(await textIn(page)).toBe(BACKEND_TEXT);
    expect(await saving(page).textContent()).toBe("v1");
    expect(await page.locator("h1").allInnerTexts()).toEqual(["AGENTS.md"]);
    expect(await page.locator(".cm-lineNumbers .cm-gutterElement").nth(3).innerText()).toBe("3");
    expect(await page.locator(".ed .hd:not(.mk)").first().innerText()).toContain("Backend");
    expect(
      await page.locator(".ed .cm-line", { hasText: "One service" }).locator(".cd").allInnerTexts(),
    ).toContain("`src/`");
    const item = page.locator(".cm-line", { hasText: "Money is an integer" });
    const { height, indent } = await item.evaluate((line) => ({
      height: line.getBoundingClientRect().height,
      indent: Number.parseFloat(getComputedStyle(line).textIndent),
    }));
    expect(height).toBeGreaterThan(40);
    expect(indent).toBeLessThan(-10);
    await field(page).focus();
    await page.keyboard.press("ControlOrMeta+End");
    const foot = page.locator(".ed-foot");
    expect(await foot.innerText()).toMatch(/810 of 65,536 characters\s+about 232 tokens\s+Ln 24, Col 1/);
    await page.keyboard.type("é");
    await expect.poll(() => foot.innerText()).toMatch(/811 of 65,536 characters[\s\S]+Ln 24, Col 2/);
  });

  test("[PED10] [PED11] [PED12] typing is saved after a silence with the version it was made from, and the header says so", async () => {
    const { doc, page } = await opened();
    const wire = await between(page);
    await field(page).waitFor();
    const box = await saving(page).boundingBox();
    await typeAtEnd(page, "one");
    await says(page, /^Edited$/);
    await says(page, /^Saved, v1$/);
    const { width = 0, x = 0 } = (await saving(page).boundingBox()) ?? {};
    expect(width).toBe(120);
    expect(x + width).toBe((box?.x ?? 0) + (box?.width ?? 0));
    await page.keyboard.type(" two");
    await page.getByRole("button", { name: "History" }).focus();
    await expect.poll(() => doc.content()).toBe("one two");
    await field(page).focus();
    await page.keyboard.type(" three");
    await page.keyboard.press("ControlOrMeta+s");
    await says(page, /^Saved, v3$/);
    await says(page, /^v3$/);
    expect(
      wire
        .sent(SAVE)
        .map(({ content, expected_version, save_reason }) => [content, expected_version, save_reason]),
    ).toEqual([
      ["one", 0, "autosave"],
      ["one two", 1, "autosave"],
      ["one two three", 2, "manual"],
    ]);
    await page.keyboard.type("!");
    await page.getByRole("link", { name: "Backend" }).click();
    await expect.poll(() => doc.content()).toBe("one two three!");
  });

  test("[PED12] [PED13] what is typed while a save is on its way is kept and saved next; Saving… comes after 300 ms", async () => {
    const { doc, page } = await opened("start");
    const wire = await between(page);
    await field(page).waitFor();
    await typeAtEnd(page, " a");
    wire.hold();
    await expect.poll(() => wire.sent(SAVE).length).toBe(1);
    await says(page, /^Saving…$/);
    await page.keyboard.type(" b");
    await page.keyboard.press("ControlOrMeta+s");
    expect(await doc.content()).toBe("start a");
    wire.release();
    await expect.poll(() => doc.content()).toBe("start a b");
    expect(await textIn(page)).toBe("start a b");
    await says(page, /^Saved, v3$/);
  });

  test("[PED14] a refused save says why and can be tried again; typing goes on", async () => {
    const { doc, page } = await opened("start");
    const wire = await between(page);
    await field(page).waitFor();
    const data = { kind: "store.full", store: "sqlite" };
    wire.refuse(SAVE, { code: -32600, message: "The store can't grow.", data });
    await typeAtEnd(page, " more");
    await says(page, /^Not saved: the disk is full. store.full/);
    await page.keyboard.type(" and more");
    expect(await textIn(page)).toBe("start more and more");
    await shot(page, "editor-error");
    wire.refuse(SAVE, undefined);
    await page.getByRole("button", { name: "Try again" }).click();
    await says(page, /^Saved, v2$/);
    expect(await doc.content()).toBe("start more and more");
  });

  test("[PED3] [PED4] an empty document shows what applies, greyed, and can start from it", async () => {
    const { doc, page } = await opened("");
    await page.getByText("Empty, so the root AGENTS.md v1 applies.").waitFor();
    expect(await page.locator(".ed-instead").innerText()).toContain("Booking platform for small ports.");
    expect(await textIn(page)).toBe("");
    expect(await saving(page).textContent()).toBe("v1, draft");
    await shot(page, "editor-empty");
    await page.getByRole("button", { name: "Start from the inherited text" }).click();
    await expect.poll(() => doc.content()).toBe(ROOT_TEXT);
    expect(await textIn(page)).toBe(ROOT_TEXT);
    await page.getByRole("button", { name: "More" }).click();
    const item = page.getByRole("menuitem", { name: /Start from the inherited text/ });
    expect(await item.innerText()).toContain("This file has text");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => doc.content()).toBe("");
    await page.getByText("Empty, so the root AGENTS.md v1 applies.").waitFor();
  });

  test("[PED3] where nothing is inherited an empty document says so", async () => {
    const { page } = await opened(undefined, "");
    await page.getByText("Empty, so no standing instructions apply here.").waitFor();
    expect(await saving(page).textContent()).toBe("No file yet");
    expect(await page.getByRole("button", { name: "Start from the inherited text" }).count()).toBe(0);
  });

  test("[PED6] too long a text is not saved and not cut, and is saved when it fits", async () => {
    const { doc, page } = await opened("start\n");
    await field(page).focus();
    await page.keyboard.press("ControlOrMeta+End");
    await paste(page, "é".repeat(65_531));
    await says(page, /^Not saved: 1 character over the limit of 65,536. Shorten it./);
    expect(await page.locator(".ed-foot").innerText()).toContain("65,537 of 65,536 characters");
    expect(await doc.content()).toBe("start\n");
    await page.keyboard.press("Backspace");
    await says(page, /^Saved, v2$/);
    expect(await doc.content()).toBe(`start\n${"é".repeat(65_530)}`);
  });

  test("[PED7] pasted BOM, CRLF and NUL are gone when it is saved, and what was left out is said", async () => {
    const { doc, page } = await opened("");
    await paste(page, "\uFEFFone\r\ntwo\rthr\0ee\n");
    await page.getByText("1 character left out: a NUL can't be stored.").waitFor();
    await expect.poll(() => doc.content()).toBe("one\ntwo\nthree\n");
    await says(page, /^(Saved, )?v2$/);
  });

  test("[PED8] the menu copies and downloads the text", async () => {
    const { page } = await opened("# Both\n");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Copy" }).click();
    await page.getByText("Copied the text").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("# Both\n");
    await page.getByRole("button", { name: "More" }).click();
    const saved = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: "Download" }).click();
    const download = await saved;
    expect(download.suggestedFilename()).toBe("AGENTS.md");
    expect(readFileSync(await download.path(), "utf8")).toBe("# Both\n");
  });

  test("[PED50] with the keyboard alone: Esc then Tab leaves the editor, Tab within it indents", async () => {
    const { doc, page } = await opened("");
    await field(page).focus();
    await page.keyboard.type("- a\nb");
    await page.keyboard.press("Tab");
    expect(await field(page).evaluate((content) => content === document.activeElement)).toBe(true);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    expect(await field(page).evaluate((content) => content === document.activeElement)).toBe(false);
    await expect.poll(() => doc.content()).toMatch(/^- a\n\s*- b$/);
    await page.getByRole("button", { name: "More" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menu").waitFor();
    await page.keyboard.press("Escape");
    expect(
      await page.getByRole("button", { name: "More" }).evaluate((e) => e === document.activeElement),
    ).toBe(true);
  });
});
