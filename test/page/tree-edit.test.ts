import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { pageBrowser } from "../support/page/browser.js";
import { choose, type Harbor, harbor, openFolders, row, rowNames, treeStage } from "../support/page/tree.js";
import { runStage } from "../support/runs.js";
import { sqliteStore } from "../support/stores.js";

const undo = (page: Page) => page.getByRole("button", { name: "Undo" }).last().click();
const below = async (page: Page, folder: string, count: number) => {
  const names = await rowNames(page);
  const at = names.indexOf(folder);
  return names.slice(at + 1, at + 1 + count);
};

describe.skipIf(inject("chromium") === "")("changing the tree [browser]", () => {
  const stage = runStage(sqliteStore, treeStage);
  const browser = pageBrowser();
  const open = async (...folders: string[]): Promise<{ page: Page; place: Harbor }> => {
    const place = await harbor(stage);
    const page = await browser.open(stage.gateway(), `/w/${place.ws}`);
    await row(page, "Backend").waitFor();
    await openFolders(page, ...folders);
    return { page, place };
  };

  test("[PGT20] a row is renamed in place: Enter and leaving save, Escape does not, and it can be undone", async () => {
    const { page, place } = await open();
    const title = async () => (await place.scene.get(place.threads.Decisions as string)).title;
    await choose(page, "Decisions", "Rename");
    await page.keyboard.type("Decided");
    await page.keyboard.press("Escape");
    await row(page, "Decisions").waitFor();
    expect(await row(page, "Decisions").evaluate((each) => each === document.activeElement)).toBe(true);
    await page.keyboard.press("F2");
    await page.keyboard.type("Decided");
    await page.keyboard.press("Enter");
    await row(page, "Decided").waitFor();
    await expect.poll(title).toBe("Decided");
    await undo(page);
    await row(page, "Decisions").waitFor();
    await row(page, "Web").focus();
    await page.keyboard.press("r");
    await page.keyboard.type("Site");
    await page.getByRole("heading", { name: "harbor" }).first().click();
    await row(page, "Site").waitFor();
    await undo(page);
    await row(page, "Web").waitFor();
  });

  test("[PGT20] the Enter that ends a composition does not save, however a browser tells of it", async () => {
    const { page, place } = await open();
    await choose(page, "Decisions", "Rename");
    const field = page.getByRole("textbox", { name: "Name of Decisions" });
    await field.fill("決定");
    // As Safari does it: the composition has ended, and the key still belongs to it.
    await field.dispatchEvent("keydown", { key: "Enter", keyCode: 229 });
    await field.fill("決定事項");
    await page.keyboard.press("Enter");
    await row(page, "決定事項").waitFor();
    expect((await place.scene.get(place.threads.Decisions as string)).title).toBe("決定事項");
  });

  test("[PGT21] a name that is refused stays in the field, with the reason", async () => {
    const { page } = await open();
    await choose(page, "Decisions", "Rename");
    const field = page.getByRole("textbox", { name: "Name of Decisions" });
    await field.fill("x".repeat(300));
    await page.keyboard.press("Enter");
    const alert = page.locator(".rename [role=alert]");
    await alert.waitFor();
    expect(await field.inputValue()).toHaveLength(300);
    await field.fill(" ");
    await page.keyboard.press("Enter");
    await expect.poll(() => alert.innerText()).toBe("A name is needed.");
    await page.keyboard.press("Escape");
    await row(page, "Decisions").waitFor();
  });

  test("[PGT22] threads are dragged between others, into folders and to the root, several at once", async () => {
    const { page } = await open("Backend", "Release 4.2");
    await row(page, "Decisions").dragTo(row(page, "Release checklist"), { targetPosition: { x: 60, y: 24 } });
    await expect
      .poll(() => below(page, "Release 4.2", 3))
      .toEqual(["Release checklist", "Decisions", "Changelog"]);
    await page.getByText("Moved “Decisions” to Release 4.2").waitFor();
    await undo(page);
    await expect.poll(() => below(page, "Release 4.3", 2)).toEqual(["Decisions", "Weekly review"]);
    await row(page, "Decisions").dragTo(row(page, "Release 4.3"));
    await expect.poll(() => below(page, "Release 4.3", 2)).toEqual(["Decisions", "Weekly review"]);
    await expect.poll(() => row(page, "Decisions").getAttribute("aria-level")).toBe("2");
    await row(page, "Slow query on /bookings").click({ modifiers: ["Control"] });
    await row(page, "Fix login redirect loop").click({ modifiers: ["Control"] });
    await row(page, "Fix login redirect loop").dragTo(row(page, "Weekly review"), {
      targetPosition: { x: 60, y: 3 },
    });
    await page.getByText("Moved 2 threads to the root").waitFor();
    await expect
      .poll(async () => (await rowNames(page)).slice(-3))
      .toEqual(["Slow query on /bookings", "Fix login redirect loop", "Weekly review"]);
    await undo(page);
    await expect.poll(async () => (await rowNames(page)).slice(-1)).toEqual(["Weekly review"]);
    await expect
      .poll(() => below(page, "Payments", 2))
      .toEqual(["Slow query on /bookings", "Fix login redirect loop"]);
  });

  test("[PGT23] folders are dragged into and between others; into itself is refused visibly", async () => {
    const { page } = await open("Backend");
    await row(page, "Release 4.2").dragTo(row(page, "Web"), { targetPosition: { x: 60, y: 2 } });
    await expect
      .poll(async () => (await rowNames(page)).slice(-5, -1))
      .toEqual(["Release 4.2", "Web", "Release 4.3", "Decisions"]);
    await row(page, "Web").dragTo(row(page, "Release 4.2"));
    await page.getByText("Moved “Web” to Release 4.2").waitFor();
    await expect.poll(() => below(page, "Release 4.2", 1)).toEqual(["Web"]);
    expect(await row(page, "Web").getAttribute("aria-level")).toBe("2");
    await undo(page);
    await expect.poll(() => row(page, "Web").getAttribute("aria-level")).toBe("1");
    const from = await row(page, "Backend").boundingBox();
    const to = await row(page, "Payments").boundingBox();
    await page.mouse.move((from?.x ?? 0) + 60, (from?.y ?? 0) + 14);
    await page.mouse.down();
    await page.mouse.move((to?.x ?? 0) + 60, (to?.y ?? 0) + 10);
    await page.mouse.move((to?.x ?? 0) + 60, (to?.y ?? 0) + 14);
    await page.locator(".tr.drop-bad").waitFor();
    await page.mouse.up();
    await expect.poll(() => page.locator(".tr.drop-bad").count()).toBe(0);
    expect(await row(page, "Backend").getAttribute("aria-level")).toBe("1");
  });

  test("[PGT24] every command of a thread's menu does what it says", async () => {
    const { page, place } = await open("Release 4.2");
    const { scene, threads, folders } = place;
    const id = threads.Changelog as string;
    await choose(page, "Changelog", "Pin");
    await row(page, "Changelog, Reviewer, pinned").waitFor();
    await undo(page);
    await expect.poll(async () => (await scene.get(id)).pinned_at).toBeUndefined();
    await scene.append(id, "hello");
    await expect.poll(async () => (await scene.get(id)).message_count).toBe(1);
    await expect
      .poll(async () => {
        await row(page, "Changelog").click({ button: "right" });
        const off = await page.getByRole("menuitem", { name: "Clear" }).getAttribute("aria-disabled");
        await page.keyboard.press("Escape");
        return off;
      })
      .toBeNull();
    await choose(page, "Changelog", "Clear");
    await page.getByText("Cleared “Changelog”, 1 message").waitFor();
    await expect.poll(async () => (await scene.get(id)).message_count).toBe(0);
    await undo(page);
    await expect.poll(async () => (await scene.get(id)).message_count).toBe(1);
    await choose(page, "Changelog", "Move to…");
    await page.getByRole("combobox").fill("pay");
    await page.keyboard.press("Enter");
    await page.getByText("Moved “Changelog” to Payments").waitFor();
    await expect.poll(async () => (await scene.get(id)).folder_id).toBe(folders.Payments);
    await undo(page);
    await expect.poll(() => below(page, "Release 4.2", 2)).toEqual(["Release checklist", "Changelog"]);
    await choose(page, "Changelog", "New folder");
    await page.getByRole("textbox", { name: "Name of New folder" }).fill("Notes");
    await page.keyboard.press("Enter");
    await expect.poll(() => below(page, "Release 4.2", 1)).toEqual(["Notes"]);
    await choose(page, "Changelog", "New thread with another agent…");
    await page.getByRole("combobox").fill("codex");
    await page.keyboard.press("Enter");
    await row(page, "New thread, Codex").waitFor();
    await choose(page, "Changelog", "Create AGENTS.md");
    await expect.poll(() => page.url()).toContain(`/agents-md/${folders["Release 4.2"]}`);
    await choose(page, "Changelog", "New thread");
    await row(page, "New thread, Claude Code").waitFor();
  });

  test("[PGT25] a deleted thread leaves the page and comes back by Undo", async () => {
    const { page, place } = await open("Release 4.2");
    await row(page, "Changelog").click();
    await expect.poll(() => page.url()).toContain("/thread/");
    await choose(page, "Changelog", "Delete");
    await row(page, "Changelog").waitFor({ state: "detached" });
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/w/${place.ws}`);
    await page.getByText("Deleted “Changelog”").waitFor();
    await undo(page);
    await expect.poll(() => below(page, "Release 4.2", 2)).toEqual(["Release checklist", "Changelog"]);
  });

  test("[PGT26] deleting a folder or an AGENTS.md is asked, with what happens", async () => {
    const { page, place } = await open("Backend");
    await choose(page, "AGENTS.md, v1, of Backend", "Delete…");
    await page.getByText("6 threads then follow the root AGENTS.md v1.").waitFor();
    await page.getByRole("button", { name: "Keep it" }).click();
    await row(page, "AGENTS.md, v1, of Backend").waitFor();
    await choose(page, "AGENTS.md, v1, of Backend", "Delete…");
    await page.getByRole("button", { name: "Delete AGENTS.md" }).click();
    await row(page, "AGENTS.md, v1, of Backend").waitFor({ state: "detached" });
    await page.getByText("Deleted Backend/AGENTS.md").waitFor();
    await undo(page);
    await row(page, /^AGENTS\.md, v\d+, of Backend/).waitFor();
    const { explicit } = await place.scene.wire.result("thread/agents_doc/get", {
      workspace_id: place.ws,
      folder_id: place.folders.Backend,
    });
    expect(explicit?.content).toBe("Every endpoint is idempotent.");
    await choose(page, "Backend", "Delete…");
    await page
      .getByText("2 threads and 1 folder in it move up to the root. Backend/AGENTS.md goes with it.")
      .waitFor();
    await page.getByRole("button", { name: "Delete folder" }).click();
    await row(page, "Backend").waitFor({ state: "detached" });
    await row(page, "Fix login redirect loop").waitFor();
    expect((await place.scene.tree()).folders.map(({ name }) => name)).not.toContain("Backend");
  });

  test("[PGT27] a menu for several selected rows acts on all of them", async () => {
    const { page, place } = await open("Web");
    for (const name of ["Date picker trap", "Checkout copy", "Decisions"])
      await row(page, name).click({ modifiers: ["Control"] });
    await choose(page, "Checkout copy", "Pin 3 threads");
    await page.getByText("Pinned 3 threads").waitFor();
    await choose(page, "Checkout copy", "Move 3 threads to…");
    await page.getByRole("combobox").fill("4.3");
    await page.keyboard.press("Enter");
    await page.getByText("Moved 3 threads to Release 4.3").waitFor();
    await choose(page, "Checkout copy", "Delete 3 threads");
    await page.getByText("Deleted 3 threads").waitFor();
    await undo(page);
    await row(page, "Date picker trap").waitFor();
    const { placements } = await place.scene.tree();
    const there = placements.filter(({ folder_id }) => folder_id === place.folders["Release 4.3"]);
    expect(there).toHaveLength(3);
  });

  test("[PGT29] the menu moves rows among their siblings, says why one can't be moved, and takes all steps back", async () => {
    const { page, place } = await open("Backend");
    const threads = () => below(page, "Payments", 2);
    const said = (text: string) => page.locator(".toast").filter({ hasText: text });
    await row(page, "Backend").click({ button: "right" });
    const item = (name: string) => page.getByRole("menuitem", { name, exact: true });
    expect(await item("Move up it is first").getAttribute("aria-disabled")).toBe("true");
    await item("Move down").click();
    await said("Moved “Backend” below “Web”").waitFor();
    await expect.poll(async () => (await rowNames(page)).slice(1, 3)).toEqual(["Web", "Backend"]);
    expect(await row(page, "Backend").evaluate((each) => each === document.activeElement)).toBe(true);
    await choose(page, "Backend", "Move down");
    await said("Moved “Backend” below “Release 4.2”").waitFor();
    expect(await page.locator(".toast").count()).toBe(1);
    await undo(page);
    await expect.poll(async () => (await rowNames(page))[1]).toBe("Backend");
    expect(await threads()).toEqual(["Slow query on /bookings", "Fix login redirect loop"]);
    await choose(page, "Fix login redirect loop", "Move up");
    await said("Moved “Fix login redirect loop” above “Slow query on /bookings”").waitFor();
    await expect.poll(threads).toEqual(["Fix login redirect loop", "Slow query on /bookings"]);
    await choose(page, "Fix login redirect loop", "Pin");
    await row(page, /Fix login.*pinned/).waitFor();
    for (const [name, off] of [
      ["Fix login redirect loop", "it is pinned"],
      ["Slow query on /bookings", "it is first"],
      ["Weekly review", "it is last"],
    ] as const) {
      await row(page, name).click({ button: "right" });
      await item(`Move ${off === "it is last" ? "down" : "up"} ${off}`).waitFor();
      await page.keyboard.press("Escape");
    }
    await row(page, "Slow query on /bookings").click({ modifiers: ["Control"] });
    await row(page, "Decisions").click({ modifiers: ["Control"] });
    await row(page, "Decisions").click({ button: "right" });
    await item("Move 2 threads up they stand in different folders").waitFor();
    await page.keyboard.press("Escape");
    const { placements } = await place.scene.tree();
    expect(placements.filter(({ folder_id }) => folder_id === place.folders.Backend)).toHaveLength(2);
  });

  test("[PGT28] what the gateway refuses is said, and nothing is pretended", async () => {
    const { page, place } = await open("Release 4.2");
    await row(page, "Changelog").click({ button: "right" });
    await place.scene.wire.result("thread/delete", {
      thread_id: place.threads.Changelog as string,
      workspace_id: place.ws,
    });
    await row(page, "Changelog").waitFor({ state: "detached" });
    await page.getByRole("menuitem", { name: "Pin" }).click();
    await page.getByRole("alert").filter({ hasText: "thread.not_found" }).waitFor();
    expect(await page.getByText("Pinned").count()).toBe(0);
  });
});
