import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { pageBrowser } from "../support/page/browser.js";
import { cutOff } from "../support/page/cut.js";
import { CUT, lineTo } from "../support/page/line.js";
import { row } from "../support/page/tree.js";
import { type RunScene, runStage } from "../support/runs.js";

describe.skipIf(inject("chromium") === "")("the page's frame [browser]", () => {
  const stage = runStage();
  const browser = pageBrowser();

  async function withThread(title = "Fix login"): Promise<{ scene: RunScene; path: string; id: string }> {
    const scene = await stage.scene();
    const { thread } = await scene.wire.result("thread/start", { workspace_id: scene.workspace_id, title });
    return { scene, id: thread.id, path: `/w/${scene.workspace_id}/thread/${thread.id}` };
  }

  const width = (page: Page, selector: string) =>
    page.locator(selector).evaluate((element) => Math.round(element.getBoundingClientRect().width));

  test("[PGE1] the printed address opens the page, signed in, and leaves no code in the address bar", async () => {
    const page = await browser.open(stage.gateway());
    await page.getByRole("navigation", { name: "Threads" }).waitFor();
    expect(new URL(page.url()).search).toBe("");
  });

  test("[PGE2] a browser without a session is told how to get one, and shows nothing of anybody", async () => {
    const { path } = await withThread("A secret title");
    const page = await browser.open(stage.gateway(), "/", { tolerates: /401|Authentication failed/ });
    await page.context().clearCookies();
    await page.goto(stage.gateway().url + path);
    await page.getByRole("heading", { name: "This browser is not signed in" }).waitFor();
    expect(await page.locator("body").innerText()).toContain("heddle open");
    expect(await page.content()).not.toContain("A secret title");
  });

  test("[PGE2] a browser whose session is gone when the gateway comes back is told so, without being reloaded", async () => {
    const { path } = await withThread("A secret title");
    const line = await lineTo(stage.gateway());
    const page = await browser.open(line.gateway, path, {
      tolerates: new RegExp(`${CUT.source}|401|Authentication failed`),
    });
    await page.getByRole("heading", { level: 1, name: "A secret title" }).waitFor();
    line.cut();
    await page.getByText("The gateway does not answer.").waitFor();
    await page.context().clearCookies();
    line.mend();
    await page.getByRole("heading", { name: "This browser is not signed in" }).waitFor();
    expect(await page.content()).not.toContain("A secret title");
    line.cut();
    await page.waitForEvent("requestfailed");
    expect(await page.getByRole("heading", { name: "This browser is not signed in" }).count()).toBe(1);
  });

  test("[PGE3] what is open has an address: it can be reloaded, shared, and left by Back", async () => {
    const { path } = await withThread();
    const page = await browser.open(stage.gateway(), path);
    await page.getByRole("heading", { level: 1, name: "Fix login" }).waitFor();
    await page.goto(`${stage.gateway().url}${path.replace(/\/thread.*/, "/settings")}`);
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Fix login" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Fix login" }).waitFor();
  });

  test("[PGE4] borders are dragged within their bounds, reset by a double click, and kept for the workspace", async () => {
    const { path } = await withThread();
    const page = await browser.open(stage.gateway(), path);
    const border = page.getByRole("separator", { name: "Width of the sidebar" });
    await border.waitFor();
    expect(await width(page, ".side")).toBe(256);
    await border.hover();
    await page.mouse.down();
    await page.mouse.move(330, 300, { steps: 4 });
    await page.mouse.up();
    expect(Math.abs((await width(page, ".side")) - 330)).toBeLessThan(3);
    await page.reload();
    await border.waitFor();
    expect(Math.abs((await width(page, ".side")) - 330)).toBeLessThan(3);
    await border.hover();
    await page.mouse.down();
    await page.mouse.move(900, 300, { steps: 4 });
    await page.mouse.up();
    expect(await width(page, ".side")).toBe(400);
    await border.dblclick();
    expect(await width(page, ".side")).toBe(256);
    await border.focus();
    await page.keyboard.press("ArrowRight");
    expect(await width(page, ".side")).toBe(272);
  });

  test("[PGE5] three panes when wide, a drawer for the inspector below 1280, for the sidebar below 880, one pane on a phone", async () => {
    const { path } = await withThread();
    const page = await browser.open(stage.gateway(), path);
    const side = page.getByRole("navigation", { name: "Threads" });
    const insp = page.getByRole("complementary", { name: "Inspector" });
    await insp.waitFor();
    await side.waitFor();
    await page.setViewportSize({ width: 1024, height: 800 });
    await insp.waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Open the inspector" }).click();
    await insp.waitFor();
    expect(await width(page, ".insp")).toBe(400);
    await page.mouse.click(300, 400);
    await insp.waitFor({ state: "detached" });
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");
    for (const wide of [879, 640]) {
      await page.setViewportSize({ width: wide, height: 800 });
      await side.waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Threads" }).click();
      await side.waitFor();
      expect(await width(page, ".side")).toBe(320);
      await expect.poll(focused).toContain("Fix login");
      await page.keyboard.press("Escape");
      await side.waitFor({ state: "detached" });
      await expect.poll(focused).toBe("Threads");
      await page.keyboard.press("Enter");
      await side.waitFor();
      await page.mouse.click(500, 400);
      await side.waitFor({ state: "detached" });
      await page.keyboard.press("Control+\\");
      await row(page, "Fix login").click();
      await expect.poll(() => side.count()).toBe(1);
      await page.getByRole("navigation").getByRole("button", { name: "New thread" }).first().click();
      await side.waitFor({ state: "detached" });
      await page.goBack();
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("main").waitFor();
    expect(await page.locator(".side").count()).toBe(0);
    await page.goto(stage.gateway().url + path.replace(/\/thread.*/, ""));
    // The pane that is shown is the main one there.
    await page.locator(".side").waitFor();
    expect(await page.locator(".insp").count()).toBe(0);
  });

  test("[PGE13] [PGT13] what is gone leads to the tree at every width, and a phone's tree shows where one came from", async () => {
    const { path, scene } = await withThread();
    const home = path.replace(/\/thread.*/, "");
    const page = await browser.open(stage.gateway(), path, { viewport: { width: 720, height: 800 } });
    await page.getByRole("heading", { level: 1, name: "Fix login" }).waitFor();
    const folder = await scene.folder("Backend");
    for (const [wide, gone, says] of [
      [720, "/thread/thr_gone", "This thread is not here"],
      [390, "/thread/thr_gone", "This thread is not here"],
      [720, "/folder/fld_gone", "This folder is gone"],
      [390, "/folder/fld_gone", "This folder is gone"],
      [390, `/agents-md/${folder}`, "This folder is gone"],
    ] as const) {
      await page.setViewportSize({ width: wide, height: 800 });
      await page.goto(`${stage.gateway().url}${home}${gone}`);
      if (gone.endsWith(folder)) {
        await page.locator(".cm-content").waitFor();
        const { workspace_id } = scene;
        await scene.wire.result("thread/folder/delete", { workspace_id, folder_id: folder });
      }
      await page.getByRole("heading", { name: says }).waitFor();
      await page.getByRole("button", { name: "Threads" }).click();
      await row(page, "Fix login").waitFor();
    }
    await row(page, "Fix login").click();
    await page.getByRole("heading", { level: 1, name: "Fix login" }).waitFor();
    await page.getByRole("button", { name: "Threads" }).click();
    await expect.poll(() => row(page, "Fix login").getAttribute("aria-selected")).toBe("true");
    expect(await row(page, "Fix login").getAttribute("aria-current")).toBeNull();
  });

  test("[PGE6] F6 goes from pane to pane, Ctrl-I and Ctrl-\\ show and hide the panes beside main", async () => {
    const { path } = await withThread();
    const page = await browser.open(stage.gateway(), path);
    const pane = () =>
      page.evaluate(() => document.activeElement?.closest(".side, .main, .insp")?.classList[0] ?? "none");
    await page.locator(".insp").waitFor();
    await page.locator(".insp").getByRole("tab").first().waitFor();
    const panes: string[] = [];
    for (let press = 0; press < 3; press++) {
      await page.keyboard.press("F6");
      panes.push(await pane());
    }
    expect(new Set(panes)).toEqual(new Set(["side", "main", "insp"]));
    await page.keyboard.press("Control+i");
    await page.locator(".insp").waitFor({ state: "detached" });
    await page.keyboard.press("Control+\\");
    await page.locator(".side").waitFor({ state: "detached" });
    await page.keyboard.press("Control+\\");
    await page.keyboard.press("Control+i");
    await page.locator(".side").waitFor();
    await page.locator(".insp").waitFor();
  });

  test("[PGE6] a pane with no place for the focus is passed over", async () => {
    const { path } = await withThread();
    const page = await browser.open(stage.gateway(), path);
    await page.locator(".insp").getByRole("tab").first().waitFor();
    await page.locator(".insp").evaluate((pane) => {
      for (const child of pane.children) (child as HTMLElement).style.display = "none";
    });
    await page.getByRole("textbox", { name: "Message" }).focus();
    await page.keyboard.press("F6");
    const inSide = () => page.evaluate(() => document.activeElement?.closest(".side") !== null);
    expect(await inSide()).toBe(true);
  });

  test("[PGE12] while a dialog is open no command behind it runs, wherever the focus is", async () => {
    const { scene, path } = await withThread();
    const page = await browser.open(stage.gateway(), path);
    const insp = page.locator(".insp");
    await insp.waitFor();
    await page.locator(".main > .bar").click();
    await page.keyboard.press("?");
    const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await sheet.waitFor();
    const press = async () => {
      for (const key of ["i", "c", "Control+i", "Control+\\", "Control+Shift+o"])
        await page.keyboard.press(key);
    };
    await press();
    await sheet.getByText("Keyboard shortcuts").first().click();
    await press();
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
    expect([await insp.count(), await page.locator(".side").count()]).toEqual([1, 1]);
    const { workspace_id } = scene;
    expect((await scene.wire.result("thread/tree", { workspace_id })).threads).toHaveLength(1);
    await page.keyboard.press("Control+i");
    await insp.waitFor({ state: "detached" });
  });

  test("[PGE10] a browser that keeps nothing shows the page all the same, and what is chosen holds in the window", async () => {
    const { scene, path, id } = await withThread();
    const other = await scene.start({ title: "Elsewhere" });
    const page = await browser.open(stage.gateway(), "/");
    await page.addInitScript(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException("full", "QuotaExceededError");
      };
    });
    await page.goto(stage.gateway().url + path);
    await page.getByRole("heading", { level: 1, name: "Fix login" }).waitFor();
    scene.plays("One.", "Two.");
    await scene.answered(other.id, "First?");
    await row(page, /^Elsewhere, .*new answer$/).waitFor();
    await page.keyboard.press("Control+i");
    await page.locator(".insp").waitFor({ state: "detached" });
    await row(page, "Elsewhere").click();
    await row(page, /^Elsewhere, (?!.*new answer)/).waitFor();
    await scene.answered(id, "Second?");
    await row(page, /^Fix login, .*new answer$/).waitFor();
    expect(await row(page, /^Elsewhere, .*new answer$/).count()).toBe(0);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Command palette" }).getByText("Fix login").first().waitFor();
  });

  test("[PGE11] what was open last is known to every window, whichever noted it", async () => {
    const { scene, path, id } = await withThread();
    const [second, third] = [await scene.start({ title: "Second" }), await scene.start({ title: "Third" })];
    const page = await browser.open(stage.gateway(), path);
    await page.getByRole("heading", { level: 1, name: "Fix login" }).waitFor();
    const other = await browser.again(page, path.replace(id, second.id));
    await other.getByRole("heading", { level: 1, name: "Second" }).waitFor();
    await row(page, "Third").click();
    await page.getByRole("heading", { level: 1, name: "Third" }).waitFor();
    const kept = () => page.evaluate(() => JSON.parse(localStorage.getItem("heddle.recents") ?? "{}"));
    expect((await kept()).state.threads[scene.workspace_id]).toEqual([third.id, second.id, id]);
  });

  test("[PGE7] at no width from 360 to 2560 does the page scroll sideways", async () => {
    const { path } = await withThread(
      "A title that is long enough to be cut at every width that a phone can have",
    );
    const page = await browser.open(stage.gateway(), path);
    await page.getByRole("main").waitFor();
    for (const wide of [2560, 1440, 1280, 1279, 1024, 880, 879, 720, 640, 639, 390, 360]) {
      await page.setViewportSize({ width: wide, height: 800 });
      await page.getByRole("main").first().waitFor();
      await expect.poll(() => cutOff(page), { message: `${wide} px` }).toEqual([]);
      // Where nothing clips, what is too wide makes the page wider.
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(over, `${wide} px`).toBeLessThanOrEqual(0);
    }
  });
});
