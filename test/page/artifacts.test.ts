import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { pageBrowser, shot } from "../support/page/browser.js";
import { type RunScene, runStage } from "../support/runs.js";

/** Calls a tool as another client would. */
async function tool<T = { id: string }>(scene: RunScene, name: string, given: object = {}): Promise<T> {
  const { workspace_id } = scene;
  const result = await scene.wire.result("tool/call", { workspace_id, name, arguments: { ...given } });
  expect(result.status, result.output).toBe("completed");
  return JSON.parse(result.output) as T;
}

const ITEMS = [
  { title: "Milk", tags: ["Cold", "today"] },
  { title: "Tea", tags: ["Dry"] },
  { title: "Bread", tags: ["Dry"] },
  { title: "Salt", done: true },
];

describe.skipIf(inject("chromium") === "")("artifacts in the page [browser]", () => {
  const config = { plugins: { bash: { enabled: false }, agents: { enabled: false } } };
  const stage = runStage(undefined, { config: () => config });
  const browser = pageBrowser();

  async function opened(scene: RunScene, options = {}): Promise<Page> {
    const { id } = await scene.start({ title: "Shopping" });
    return browser.open(stage.gateway(), `/w/${scene.workspace_id}/thread/${id}/artifacts`, options);
  }

  async function withList(name = "Groceries"): Promise<{ scene: RunScene; page: Page; id: string }> {
    const scene = await stage.scene();
    const { id } = await tool(scene, "lists_create", { name, items: ITEMS });
    const page = await opened(scene);
    await openFromMenu(page, name);
    await page.getByRole("option").first().waitFor();
    return { scene, page, id };
  }

  const openFromMenu = async (page: Page, name: string) => {
    await page.getByRole("button", { name: "Open a list, note or view" }).click();
    await page.getByRole("menuitem", { name, exact: true }).click();
  };
  const option = (page: Page, name: string) => page.getByRole("option", { name: new RegExp(name) });
  const titles = (page: Page) => page.getByRole("option").locator(".nm").allTextContents();
  const items = (scene: RunScene, list: string) =>
    tool<{ items: { id: string; title: string; done: boolean; tags?: string[] }[] }>(scene, "lists_get", {
      list,
    });

  test("[PAT10] nothing open says what this is and offers what there is", async () => {
    const scene = await stage.scene();
    const page = await opened(scene);
    await page.getByRole("heading", { name: "No lists, notes or views yet" }).waitFor();
    await tool(scene, "notes_create", { title: "From elsewhere" });
    await page.getByRole("button", { name: "From elsewhere" }).click();
    await page.getByRole("region", { name: "From elsewhere" }).waitFor();
  });

  test("[PAT11] a list is checked off, added to and edited in its place, and others see it", async () => {
    const { scene, page, id } = await withList();
    await page.getByText("4 items, 3 open").waitFor();
    await option(page, "Milk").locator(".box").click();
    await expect.poll(async () => (await items(scene, id)).items[0]?.done).toBe(true);
    await page.getByText("4 items, 2 open").waitFor();
    await page.getByLabel("Add an item").fill("Oranges");
    await page
      .getByLabel("Add an item")
      .evaluate((field) =>
        field.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, key: "Enter", keyCode: 229 })),
      );
    expect(await page.getByLabel("Add an item").inputValue()).toBe("Oranges");
    await page.keyboard.press("Enter");
    await option(page, "Oranges").waitFor();
    await page.getByText("5 items, 3 open").waitFor();
    await expect.poll(() => page.getByLabel("Add an item").inputValue()).toBe("");
    await option(page, "Tea").dblclick();
    await page.getByLabel("Title").fill("Green tea");
    await page.getByLabel("Tags").fill("Dry, leaf");
    await page.keyboard.press("Enter");
    await option(page, "Green tea").waitFor();
    await expect
      .poll(async () => (await items(scene, id)).items[1])
      .toMatchObject({ title: "Green tea", tags: ["Dry", "leaf"] });
    await shot(page, "artifacts-list");
  });

  test("[PAT12] what others do to a list shows at once", async () => {
    const { scene, page, id } = await withList();
    await tool(scene, "lists_item_add", { list: id, items: [{ title: "From an agent" }], position: 1 });
    await expect.poll(async () => (await titles(page))[0]).toBe("From an agent");
    await tool(scene, "lists_update", { list: id, name: "Renamed elsewhere" });
    await page.getByRole("region", { name: "Renamed elsewhere" }).waitFor();
  });

  test("[PAT13] items are selected by click, with Shift and by key, and the foot acts on them", async () => {
    const { scene, page, id } = await withList();
    // What goes along with a message says it too.
    const panel = page.getByRole("region", { name: "Groceries" });
    await option(page, "Milk").click();
    await panel.getByText("1 selected").waitFor();
    await option(page, "Bread").click({ modifiers: ["Shift"] });
    await panel.getByText("3 selected").waitFor();
    await page.getByRole("listbox").press("Escape");
    await expect.poll(() => page.getByText(/\d selected/).count()).toBe(0);
    await page.getByRole("listbox").press("Home");
    await page.getByRole("listbox").press("Space");
    await page.getByRole("listbox").press("Shift+ArrowDown");
    await panel.getByText("2 selected").waitFor();
    await page.getByRole("button", { name: "Mark done" }).click();
    await expect.poll(async () => (await items(scene, id)).items.filter(({ done }) => done).length).toBe(3);
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByLabel("Add an item").waitFor();
  });

  test("[PAT14] deleted items come back with Undo", async () => {
    const { scene, page, id } = await withList();
    await option(page, "Tea").click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await expect
      .poll(async () => (await items(scene, id)).items.map(({ title }) => title))
      .not.toContain("Tea");
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => titles(page)).toEqual(["Milk", "Tea", "Bread", "Done: Salt"]);
  });

  test("[PAT15] items move to another list, and back with Undo", async () => {
    const { scene, page, id } = await withList();
    const other = await tool(scene, "lists_create", { name: "Later" });
    await option(page, "Tea").click();
    await page.getByRole("button", { name: "Move to…" }).click();
    await page.getByRole("menuitem", { name: "Later" }).click();
    await expect
      .poll(async () => (await items(scene, other.id)).items.map(({ title }) => title))
      .toEqual(["Tea"]);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect
      .poll(async () => (await items(scene, id)).items.map(({ title }) => title))
      .toEqual(["Milk", "Tea", "Bread", "Salt"]);
  });

  test("[PAT16] [PAT18] items are put in another order by key, menu and dragging; X marks one done unless single keys are off", async () => {
    const { scene, page, id } = await withList();
    await page.getByRole("listbox").press("Home");
    await page.getByRole("listbox").press("Alt+ArrowDown");
    await expect
      .poll(async () => (await items(scene, id)).items.map(({ title }) => title).slice(0, 2))
      .toEqual(["Tea", "Milk"]);
    await option(page, "Bread").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Move up" }).click();
    await expect.poll(() => titles(page)).toEqual(["Tea", "Bread", "Milk", "Done: Salt"]);
    await option(page, "Milk").dragTo(option(page, "Tea"));
    await expect.poll(() => titles(page)).toEqual(["Milk", "Tea", "Bread", "Done: Salt"]);
    await expect
      .poll(async () => (await items(scene, id)).items.map(({ title }) => title))
      .toEqual(["Milk", "Tea", "Bread", "Salt"]);
    await page.getByRole("listbox").press("Home");
    await page.getByRole("listbox").press("x");
    await expect.poll(() => titles(page)).toContain("Done: Milk");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search or run" }).fill(">single keys off");
    await page.getByRole("option", { name: "Switch single keys off" }).click();
    await page.getByRole("listbox").press("x");
    await page.getByRole("listbox").press("End");
    await page.getByRole("listbox").press("Space");
    await page.getByRole("region", { name: "Groceries" }).getByText("1 selected").waitFor();
    expect(await titles(page)).toContain("Done: Milk");
  });

  test("[PAT17] a list of two thousand items draws only what is seen", async () => {
    const scene = await stage.scene();
    const { id } = await tool(scene, "lists_create", { name: "Long" });
    for (let at = 0; at < 20; at++) {
      const some = Array.from({ length: 100 }, (_, n) => ({ title: `Item ${at * 100 + n + 1}` }));
      await tool(scene, "lists_item_add", { list: id, items: some });
    }
    const page = await opened(scene);
    await openFromMenu(page, "Long");
    await page.getByText("2,000 items").waitFor();
    expect(await page.getByRole("option").count()).toBeLessThan(80);
    await page.getByRole("listbox").press("End");
    await option(page, "Item 2000").waitFor();
  });

  test("[PAT20] a note is read as Markdown and saved while it is written", async () => {
    const scene = await stage.scene();
    const { id } = await tool(scene, "notes_create", { title: "Why", content: "**Because** of it." });
    const page = await opened(scene);
    await openFromMenu(page, "Why");
    await page.locator(".note strong", { hasText: "Because" }).waitFor();
    await page.getByRole("button", { name: "Edit the note" }).click();
    await page.getByLabel("Text of Why").fill("Written here.");
    await page.getByText("Saved, v2").waitFor();
    expect(await tool(scene, "notes_read", { note: id })).toMatchObject({ content: "Written here." });
    await page.getByRole("button", { name: "Stop editing" }).click();
    await page.locator(".note", { hasText: "Written here." }).waitFor();
  });

  test("[PAT20] what was written last is saved in the note's own workspace when another one is opened", async () => {
    const [scene, other] = [await stage.scene(), await stage.scene()];
    const { id } = await tool(scene, "notes_create", { title: "Why", content: "Before." });
    const page = await opened(scene);
    await openFromMenu(page, "Why");
    await page.getByRole("button", { name: "Edit the note" }).click();
    await page.getByLabel("Text of Why").evaluate((field: HTMLTextAreaElement, to) => {
      const set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set;
      set?.call(field, "Written here.");
      field.dispatchEvent(new Event("input", { bubbles: true }));
      history.pushState(null, "", to);
      dispatchEvent(new PopStateEvent("popstate"));
    }, `/w/${other.workspace_id}`);
    await expect
      .poll(async () => (await tool<{ content: string }>(scene, "notes_read", { note: id })).content)
      .toBe("Written here.");
  });

  test("[PAT21] a note that was changed elsewhere is not written over, and no text is lost", async () => {
    const scene = await stage.scene();
    const { id } = await tool(scene, "notes_create", { title: "Both", content: "One." });
    const page = await opened(scene);
    await openFromMenu(page, "Both");
    await page.getByRole("button", { name: "Edit the note" }).click();
    await page.getByLabel("Text of Both").pressSequentially("Mine. ");
    await tool(scene, "notes_update", { note: id, content: "Theirs." });
    await page.getByText("Changed elsewhere meanwhile").waitFor();
    expect(await tool(scene, "notes_read", { note: id })).toMatchObject({ content: "Theirs." });
    await page.reload();
    await expect.poll(() => page.getByLabel("Text of Both").inputValue()).toContain("Mine.");
    await page.getByRole("button", { name: "Keep mine" }).click();
    await expect
      .poll(async () => (await tool<{ content: string }>(scene, "notes_read", { note: id })).content)
      .toContain("Mine.");
  });

  test("[PAT22] what can't be saved says so and stays", async () => {
    const scene = await stage.scene();
    await tool(scene, "notes_create", { title: "Full", content: "" });
    const page = await opened(scene);
    await openFromMenu(page, "Full");
    await page.getByRole("button", { name: "Write the note" }).click();
    await page.getByLabel("Text of Full").fill("x".repeat(65_537));
    await page.getByText(/Not saved:/).waitFor();
    await page.getByLabel("Text of Full").fill("short");
    await page.getByText("Saved, v2").waitFor();
  });

  test("[PAT30] a view shows its query and what it finds now", async () => {
    const { scene, page, id } = await withList();
    await tool(scene, "views_create", { name: "Dry", query: "tag:dry done:false" });
    await openFromMenu(page, "Dry");
    const view = page.getByRole("region", { name: "Dry" });
    await expect
      .poll(() => view.getByRole("option").locator(".nm").allTextContents())
      .toEqual(["Tea", "Bread"]);
    await tool(scene, "lists_item_update", { item: "Tea", list: id, done: true });
    await expect.poll(() => view.getByRole("option").locator(".nm").allTextContents()).toEqual(["Bread"]);
    await shot(page, "artifacts-view");
  });

  test("[PAT31] a query that is wrong says why and is not saved", async () => {
    const { scene, page } = await withList();
    const { id } = await tool(scene, "views_create", { name: "Open", query: "done:false" });
    await openFromMenu(page, "Open");
    const view = page.getByRole("region", { name: "Open" });
    await view.getByRole("button", { name: /^Query/ }).click();
    await view.getByLabel("Query").fill("due:today");
    await view
      .getByRole("alert")
      .getByText(/There is no key/)
      .waitFor();
    await page.keyboard.press("Enter");
    expect(await tool(scene, "views_get", { view: id })).toMatchObject({ query: "done:false" });
    await view.getByLabel("Query").fill("tag:cold");
    await page.keyboard.press("Enter");
    await expect.poll(() => view.getByRole("option").locator(".nm").allTextContents()).toEqual(["Milk"]);
  });

  test("[PAT40] panels are made, renamed, closed and deleted, and Undo brings one back", async () => {
    const scene = await stage.scene();
    const page = await opened(scene);
    await page.getByRole("button", { name: "Open a list, note or view" }).click();
    await page.getByRole("menuitem", { name: "New list" }).click();
    await page.getByLabel("Name of the list").fill("Packing");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Packing" }).waitFor();
    await page.getByRole("button", { name: "More for Packing" }).click();
    await page.getByRole("menuitem", { name: "Delete list" }).click();
    await page.getByRole("region", { name: "Packing" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).last().click();
    await page.getByRole("region", { name: "Packing" }).waitFor();
    await page.getByRole("button", { name: "More for Packing" }).click();
    await page.getByRole("menuitem", { name: "Close panel" }).click();
    await page.getByRole("region", { name: "Packing" }).waitFor({ state: "detached" });
  });

  test("[PAT40] Undo takes back the name of a list, and nothing that was named before it", async () => {
    const { scene, page, id } = await withList();
    await page.getByRole("heading", { level: 1, name: "Shopping" }).dblclick();
    await page.getByRole("textbox", { name: "Name of the thread" }).fill("Errands");
    await page.keyboard.press("Enter");
    await page.getByText("Renamed to “Errands”").waitFor();
    await page.getByRole("button", { name: "More for Groceries" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByLabel("Name of the list").fill("Market");
    await page.keyboard.press("Enter");
    await page.getByText("Renamed to “Market”").waitFor();
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press("ControlOrMeta+z");
    await page.getByRole("region", { name: "Groceries" }).waitFor();
    const { name } = await tool<{ name: string }>(scene, "lists_get", { list: id });
    expect(name).toBe("Groceries");
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Errands");
  });

  const focused = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
  const make = async (page: Page, kind: string) => {
    await page.getByRole("button", { name: "Open a list, note or view" }).click();
    await page.getByRole("menuitem", { name: `New ${kind}` }).click();
    await page.getByLabel(`Name of the ${kind}`).waitFor();
  };

  test("[PGE17] a new list that was named takes items, and one that is renamed gives the focus to its menu", async () => {
    const page = await opened(await stage.scene());
    await make(page, "list");
    await page.keyboard.type("Tea and more");
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(page)).toBe("Add an item");
    await page.keyboard.type("Sencha");
    await page.keyboard.press("Enter");
    await page.getByRole("option", { name: "Sencha" }).waitFor();
    await page.getByRole("button", { name: "More for Tea and more" }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByLabel("Name of the list").fill("Tea");
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(page)).toBe("More for Tea");
  });

  test("[PGE17] a new note that was named is written", async () => {
    const page = await opened(await stage.scene());
    await make(page, "note");
    await page.keyboard.type("Why");
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(page)).toBe("Text of Why");
  });

  test("[PAT41] panels are kept for the workspace across reloads", async () => {
    const { page } = await withList();
    await page.reload();
    await page.getByRole("region", { name: "Groceries" }).waitFor();
  });

  test("[PAT42] what is deleted elsewhere says so and can be restored", async () => {
    const { scene, page, id } = await withList();
    await tool(scene, "lists_delete", { list: id });
    await page.reload();
    await page.getByText("“Groceries” was deleted.").waitFor();
    await page.getByRole("button", { name: "Restore list" }).click();
    await option(page, "Milk").waitFor();
  });

  test("[PAT43] names and texts of others are only ever text", async () => {
    const hostile = "<img src=x onerror=alert(1)>\"'&";
    const scene = await stage.scene();
    await tool(scene, "lists_create", {
      name: hostile,
      items: [{ title: hostile, tags: [hostile], notes: hostile }],
    });
    await tool(scene, "notes_create", {
      title: `${hostile}n`,
      content: `${hostile}\n\n<script>alert(1)</script>`,
    });
    const page = await opened(scene);
    await openFromMenu(page, hostile);
    await openFromMenu(page, `${hostile}n`);
    await page.getByRole("option", { name: hostile }).waitFor();
    expect(await page.locator(".artifacts img, .artifacts script").count()).toBe(0);
  });

  test("[PAT50] agents see this window's panels and what is selected, also after the connection came back", async () => {
    const { scene, page, id } = await withList();
    await option(page, "Tea").click();
    const { items: all } = await items(scene, id);
    const tea = all.find(({ title }) => title === "Tea")?.id;
    const wanted = {
      panels: [
        {
          panel_id: "p1",
          panel_type: "lists",
          panel_title: "Groceries",
          selected: true,
          context: { type: "list", id, name: "Groceries", selection: [tea] },
        },
      ],
    };
    const seen = () => tool(scene, "panels_selected", { includeContext: true });
    await expect.poll(seen).toMatchObject(wanted);
    await page.getByRole("button", { name: "More for Groceries" }).click();
    await page.getByRole("menuitem", { name: "Close panel" }).click();
    await expect.poll(seen).toMatchObject({ panels: [] });
  });
});
