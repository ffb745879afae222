import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { pageBrowser } from "../support/page/browser.js";
import { type Harbor, harbor, row, rowNames, treeStage } from "../support/page/tree.js";
import { runStage } from "../support/runs.js";
import { sqliteStore } from "../support/stores.js";

/** The row that has the focus, by its name. */
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.closest("[role=treeitem]")?.querySelector(".t")?.textContent);
const press = async (page: Page, ...keys: string[]) => {
  for (const key of keys) await page.keyboard.press(key);
};

/** E gives the focus to the text. */
const inEditor = (page: Page) =>
  expect.poll(() => page.evaluate(() => document.activeElement?.classList.contains("cm-content"))).toBe(true);

describe.skipIf(inject("chromium") === "")("the tree by keyboard [browser]", () => {
  const stage = runStage(sqliteStore, treeStage);
  const browser = pageBrowser();
  const open = async (): Promise<{ page: Page; place: Harbor }> => {
    const place = await harbor(stage);
    const page = await browser.open(stage.gateway(), `/w/${place.ws}`);
    await row(page, "Backend").waitFor();
    return { page, place };
  };

  test("[PGT40] the tree is one tab stop; arrows move, open and close, Home and End go to the ends", async () => {
    const { page, place } = await open();
    await page.getByRole("navigation").getByRole("button", { name: "Search or run" }).focus();
    await press(page, "Tab");
    expect(await focused(page)).toBe("AGENTS.md");
    await press(page, "ArrowDown", "ArrowRight");
    expect(await row(page, "Backend").getAttribute("aria-expanded")).toBe("true");
    await press(page, "ArrowRight", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowDown");
    await expect.poll(() => focused(page)).toBe("Webhooks book twice");
    await press(page, "ArrowLeft");
    expect(await focused(page)).toBe("Payments");
    await press(page, "ArrowLeft", "End");
    expect(await focused(page)).toBe("Weekly review");
    await press(page, "Enter");
    await expect.poll(() => page.url()).toContain(`/thread/${place.threads["Weekly review"]}`);
    await press(page, "Home");
    expect(await focused(page)).toBe("AGENTS.md");
    const stops = await page.getByRole("tree").locator("[tabindex='0']").count();
    expect(stops).toBe(1);
  });

  test("[PGT41] letters go to the row that begins so; those of commands do not begin a word, but go on with one", async () => {
    const { page } = await open();
    await row(page, "Backend").focus();
    await page.keyboard.type("we", { delay: 20 });
    // W is a command, so that nothing was spelled.
    await page.getByText("Nothing waits for you.").waitFor();
    await inEditor(page);
    await row(page, "Backend").focus();
    await page.keyboard.type("de", { delay: 20 });
    await expect.poll(() => focused(page)).toBe("Decisions");
    await page.evaluate(() => new Promise((done) => setTimeout(done, 800)));
    await page.keyboard.type("b", { delay: 20 });
    await expect.poll(() => focused(page)).toBe("Backend");
  });

  test("[PGT42] Space and Shift with arrows select several, M moves and Delete deletes them", async () => {
    const { page } = await open();
    await row(page, "Decisions").focus();
    await press(page, "Space", "Shift+ArrowDown");
    expect(await page.locator(".tr.picked").count()).toBe(2);
    await press(page, "m");
    await page.getByRole("dialog", { name: "Move 2 threads to" }).waitFor();
    await page.keyboard.type("web");
    await press(page, "Enter");
    await page.getByText("Moved 2 threads to Web").waitFor();
    await expect.poll(async () => (await rowNames(page)).at(-1)).toBe("Release 4.3");
    await row(page, "Decisions").focus();
    await press(page, "Delete");
    await page.getByText("Deleted 2 threads").waitFor();
    await row(page, "Decisions").waitFor({ state: "detached" });
    await expect.poll(() => focused(page)).toBeTruthy();
    await press(page, "Escape");
    expect(await page.locator(".tr.picked").count()).toBe(0);
  });

  test("[PGT43] Shift+F10 opens the menu of the row, and Escape gives the focus back", async () => {
    const { page } = await open();
    await row(page, "Web").focus();
    await press(page, "Shift+F10");
    await page.getByRole("menu").waitFor();
    await press(page, "Escape");
    await page.getByRole("menu").waitFor({ state: "detached" });
    expect(await focused(page)).toBe("Web");
  });

  test("[PGT44] C makes a thread here, Shift+C asks with which agent, E opens the AGENTS.md, Ctrl+Shift+O works while typing", async () => {
    const { page, place } = await open();
    const { folders, scene } = place;
    await row(page, "Release 4.3").focus();
    await press(page, "c");
    await row(page, "New thread, Claude Code").waitFor();
    const made = (await scene.list()).find(({ title }) => title === "New thread");
    expect(made?.folder_id).toBe(folders["Release 4.3"]);
    await row(page, "Web").focus();
    await press(page, "Shift+C");
    await page.getByRole("dialog", { name: "New thread with" }).waitFor();
    await page.keyboard.type("notes");
    await press(page, "Enter");
    await row(page, "New thread, Notes").waitFor();
    await row(page, "Web").focus();
    await press(page, "e");
    await expect.poll(() => page.url()).toContain(`/agents-md/${folders.Web}`);
    await inEditor(page);
    await row(page, "Web").focus();
    await press(page, "/");
    await page.getByRole("textbox", { name: "Filter the tree" }).waitFor();
    const before = (await scene.list()).length;
    await press(page, "Control+Shift+O");
    await expect.poll(async () => (await scene.list()).length).toBe(before + 1);
  });

  test("[PGT45] / narrows the rows to what has every word; Escape brings all back", async () => {
    const { page } = await open();
    await row(page, "Backend").focus();
    await press(page, "/");
    await page.keyboard.type("jpy refund");
    await expect.poll(() => rowNames(page)).toEqual(["Backend", "Payments", "Refund rounding in JPY"]);
    await press(page, "ArrowDown");
    await expect.poll(() => focused(page)).toBeTruthy();
    await press(page, "/");
    await page.keyboard.type("zzz");
    await page.getByText("Nothing matches “zzz”").waitFor();
    await press(page, "Escape");
    await expect.poll(() => rowNames(page)).toHaveLength(7);
    await expect.poll(() => focused(page)).toBeTruthy();
  });

  test("[PGT47] Alt with Up and Down moves rows as often as it is pressed, and focus, selection and view go with them", async () => {
    const { page, place } = await open();
    await page.setViewportSize({ width: 1440, height: 330 });
    for (const title of ["Fifth", "Fourth", "Third", "Second", "First"]) await place.scene.start({ title });
    const last = async (count: number) => (await rowNames(page)).slice(-count);
    const order = async () => {
      const { placements, threads } = await place.scene.tree();
      const title = new Map(threads.map((thread) => [thread.id, thread.title]));
      return placements
        .filter(({ folder_id }) => folder_id === undefined)
        .toSorted((a, b) => a.rank - b.rank)
        .map(({ thread_id }) => title.get(thread_id));
    };
    const before = ["First", "Second", "Third", "Fourth", "Fifth", "Decisions", "Weekly review"];
    await expect.poll(order).toEqual(before);
    await row(page, "First").focus();
    await press(page, ...Array<string>(6).fill("Alt+ArrowDown"));
    await expect.poll(order).toEqual([...before.slice(1), "First"]);
    await expect.poll(() => last(1)).toEqual(["First"]);
    await expect.poll(() => focused(page)).toBe("First");
    await page.locator(".toast").filter({ hasText: "Moved “First” below “Weekly review”" }).waitFor();
    const inView = () =>
      row(page, "First").evaluate((each) => {
        const { top, bottom } = each.getBoundingClientRect();
        const tree = each.closest("[role=tree]")?.getBoundingClientRect();
        return tree !== undefined && top >= tree.top - 1 && bottom <= tree.bottom + 1;
      });
    await expect.poll(inView).toBe(true);
    await press(page, "Alt+ArrowDown");
    await page.locator(".toast").filter({ hasText: "Not moved: it is last." }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(order).toEqual(before);
    // Several that stand apart come together; a range stays one.
    await row(page, "Second").focus();
    await press(page, "Space", "ArrowDown", "ArrowDown", "Space", "Alt+ArrowUp");
    await expect.poll(order).toEqual(["Second", "Fourth", "First", "Third", ...before.slice(4)]);
    await expect.poll(() => page.locator(".tr.picked").count()).toBe(2);
    await expect.poll(() => focused(page)).toBe("Fourth");
    await press(page, "Alt+ArrowUp");
    await page.locator(".toast").filter({ hasText: "Not moved: they are first." }).waitFor();
    await press(page, "Escape", "/");
    await page.keyboard.type("i");
    await row(page, "Third").focus();
    await press(page, "Alt+ArrowUp");
    await page.locator(".toast").filter({ hasText: "Not moved: the tree is filtered." }).waitFor();
    expect(await order()).toEqual(["Second", "Fourth", "First", "Third", ...before.slice(4)]);
  });

  test("[PGT46] with single keys off, letters only spell and F2 still renames", async () => {
    const { page } = await open();
    await page.evaluate(() => {
      const kept = JSON.parse(localStorage.getItem("heddle.prefs") ?? '{"state":{},"version":0}');
      localStorage.setItem(
        "heddle.prefs",
        JSON.stringify({ ...kept, state: { ...kept.state, singleKeys: false } }),
      );
    });
    await page.reload();
    await row(page, "Backend").focus();
    await press(page, "r");
    await expect.poll(() => focused(page)).toBe("Release 4.2");
    expect(await page.getByRole("textbox").count()).toBe(0);
    await press(page, "F2");
    await page.getByRole("textbox", { name: "Name of Release 4.2" }).waitFor();
  });
});
