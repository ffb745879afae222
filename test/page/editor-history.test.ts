import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { pageBrowser, shot } from "../support/page/browser.js";
import { DocScene, field, newFolder, ROOT_TEXT, says, textIn } from "../support/page/documents.js";
import { runStage } from "../support/runs.js";

describe.skipIf(inject("chromium") === "")("about an AGENTS.md [browser]", () => {
  const stage = runStage();
  const browser = pageBrowser();

  async function opened(contents: readonly string[], query = "") {
    const scene = await stage.scene();
    await scene.saveDoc(ROOT_TEXT);
    const doc = await DocScene.inFolder(scene);
    for (const content of contents) await doc.save(content, { save_reason: "manual" });
    const page = await browser.open(stage.gateway(), doc.path + query);
    await field(page).waitFor();
    return { scene, doc, page, about: page.getByRole("complementary", { name: "About this file" }) };
  }

  const versions = (page: Page) => page.getByRole("option");
  const selected = (page: Page) => page.getByRole("option", { selected: true });
  const difference = (page: Page) => page.getByRole("region", { name: "Difference" });

  test("[PED40] the inherited text is shown with a link to it, and whether it is sent", async () => {
    const { scene, page, about } = await opened(["# Backend\n"]);
    await about.getByText("Not sent here: the nearest file with text wins").waitFor();
    expect(await about.getByRole("region", { name: "Inherited text" }).innerText()).toContain(
      "Booking platform",
    );
    await scene.saveDoc("# harbor, changed\n");
    await about.getByRole("link", { name: "Root AGENTS.md v2" }).waitFor();
    await about.getByText("harbor, changed").waitFor();
    await field(page).focus();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.press("Delete");
    await about.getByText("Sent here, because this file has no text.").waitFor();
    await about.getByRole("link", { name: "Root AGENTS.md v2" }).click();
    await about.getByText("Nothing stands above the root.").waitFor();
    await expect.poll(() => textIn(page)).toBe("# harbor, changed\n");
  });

  test("[PED41] who follows it, as the tree changes", async () => {
    const { scene, doc, about } = await opened(["# Backend\n"]);
    await about.getByText("No thread or folder here follows this file yet.").waitFor();
    const payments = await newFolder(scene, "Payments", doc.folder_id);
    await scene.saveDoc("", payments);
    const web = await newFolder(scene, "Web", doc.folder_id);
    await scene.start({ title: "Not mine", folder_id: web });
    await scene.saveDoc("# Web\n", web);
    for (const title of ["One", "Two", "Three", "Four"]) await scene.start({ title, folder_id: payments });
    await about.getByText("4 threads, 1 folder").waitFor();
    await about.getByText("its own file is a draft, so this applies").waitFor();
    await about.getByRole("button", { name: "Show 2 more" }).click();
    for (const title of ["One", "Two", "Three", "Four"])
      await about.getByRole("link", { name: title }).waitFor();
    expect(await about.getByText("Not mine").count()).toBe(0);
    await scene.saveDoc("# Payments\n", payments);
    await about.getByText("No thread or folder here follows this file yet.").waitFor();
  });

  test("[PED41] [PED42] a running thread comes first, and says which version it keeps", async () => {
    const { scene, doc, about } = await opened(["# Backend\n"]);
    const thread = await scene.start({ title: "Webhooks", folder_id: doc.folder_id });
    await about.getByText("from its next run").waitFor();
    scene.plays({ steps: [{ text: "Well" }, { gate: "go" }, { text: "." }] });
    const { run } = await scene.startRun(thread.id, "Hello");
    await about.getByText("running with v1").waitFor();
    for (const title of ["Three", "Two", "One"]) await scene.start({ title, folder_id: doc.folder_id });
    for (const name of ["A", "B", "C"]) await newFolder(scene, name, doc.folder_id);
    await about.getByText("4 threads, 3 folders").waitFor();
    expect(await about.locator(".applies a").allInnerTexts()).toEqual(["A", "B", "Webhooks"]);
    await doc.save("# Backend\n\nMore.\n");
    await about.getByText("running, keeps v1 until it ends").waitFor();
    stage.model().open("go");
    await scene.ended(run.id);
    await about.getByRole("button", { name: "Show 4 more" }).click();
    await expect
      .poll(() => about.locator(".applies a").allInnerTexts())
      .toEqual(["A", "B", "C", "One", "Two", "Three", "Webhooks"]);
    expect(await about.getByText("from its next run").count()).toBe(4);
  });

  test("[PED43] [PED44] every version with what changed; the difference from the one before and from the newest", async () => {
    const { doc, page } = await opened(["one\n", "one\ntwo\n", "one\nTwo words\nthree\n"]);
    await expect.poll(() => page.locator(".rev .plus").allInnerTexts()).toEqual(["+2", "+1", "+1"]);
    expect(await versions(page).first().innerText()).toMatch(/^v3\s+\d\d:\d\d, saved\s+20\s+\+2\s+−1$/);
    expect(await versions(page).last().innerText()).toMatch(/^v1\s+\d\d:\d\d, created\s+4/);
    await page.getByText("v3 against v2").waitFor();
    expect(await difference(page).innerText()).toMatch(/two[\s\S]+Two words[\s\S]+three/);
    await versions(page).last().click();
    await page.getByText("v1, the first").waitFor();
    await page.getByRole("button", { name: "With the newest" }).click();
    await page.getByText("v3 against v1").waitFor();
    expect(new URL(page.url()).search).toBe("?version=1");
    await page.getByRole("listbox").focus();
    await page.keyboard.press("ArrowUp");
    await expect.poll(() => selected(page).innerText()).toMatch(/^v2/);
    await doc.archive();
    await doc.save("anew\n");
    await expect.poll(() => versions(page).allInnerTexts()).toHaveLength(5);
    expect((await versions(page).allInnerTexts()).map((text) => text.split(/\s/)[0])).toEqual([
      "v1",
      "v4",
      "v3",
      "v2",
      "v1",
    ]);
    expect(await versions(page).nth(1).innerText()).toContain("deleted");
  });

  test("[PED45] a version is restored, and that is undone", async () => {
    const { doc, page } = await opened(["one\n", "two\n", "three\n"]);
    await versions(page).last().click();
    await page.getByRole("button", { name: "Restore v1" }).click();
    await page.getByText("Restored v1 as v4").waitFor();
    expect(await doc.stored()).toMatchObject({ version: 4, content: "one\n" });
    await expect.poll(() => textIn(page)).toBe("one\n");
    await expect.poll(() => versions(page).first().innerText()).toContain("restored from v1");
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => doc.stored()).toMatchObject({ version: 5, content: "three\n" });
    await expect.poll(() => textIn(page)).toBe("three\n");
  });

  test("[PED46] an address with a version opens the history there, also in a smaller window", async () => {
    const { doc, page } = await opened(["one\n", "two\n", "three\n"], "?version=2");
    await expect.poll(() => selected(page).innerText()).toMatch(/^v2/);
    await page.getByText("v2 against v1").waitFor();
    await page.setViewportSize({ width: 1000, height: 800 });
    await page.goto(new URL(`${doc.path}?version=9`, page.url()).href);
    await page.getByText("There is no v9 here.").waitFor();
  });

  test("[PED47] deleting says who then follows what, and is undone", async () => {
    const { scene, doc, page } = await opened(["# Backend\n"]);
    for (const title of ["One", "Two"]) await scene.start({ title, folder_id: doc.folder_id });
    await page.getByText("2 threads").waitFor();
    const ask = async () => {
      await page.getByRole("button", { name: "More" }).click();
      await page.getByRole("menuitem", { name: "Delete AGENTS.md…" }).click();
      const dialog = page.getByRole("dialog", { name: "Delete Backend/AGENTS.md?" });
      await dialog.getByText("2 threads then follow the root AGENTS.md v1.").waitFor();
      return dialog;
    };
    await (await ask()).getByRole("button", { name: "Keep it" }).click();
    expect(await doc.content()).toBe("# Backend\n");
    const dialog = await ask();
    await shot(page, "editor-delete");
    await dialog.getByRole("button", { name: "Delete AGENTS.md" }).click();
    await page.getByText("Empty, so the root AGENTS.md v1 applies.").waitFor();
    expect(await doc.stored()).toBeUndefined();
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => doc.content()).toBe("# Backend\n");
    await says(page, /^v1$/);
  });
});
