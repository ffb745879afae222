import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { axeFinds } from "../support/page/axe.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { shownRows, threadPath } from "../support/page/inspector.js";
import { agentAt, apis, calls, runStage } from "../support/runs.js";
import { sqliteStore } from "../support/stores.js";

const config = (url: string) => ({
  agents: [agentAt(url, apis[0], { systemPrompt: "You are calm.", toolDenylist: ["*_delete"] })],
  plugins: {},
});

/** Where the rows of the list stand. */
const places = (page: Page) =>
  page
    .locator(".insp .sec[data-section]")
    .evaluateAll((rows) =>
      rows.map((row) => [row.getAttribute("data-section"), row.getBoundingClientRect().top]),
    );

describe.skipIf(inject("chromium") === "")("the inspector's pane [browser]", () => {
  const stage = runStage(sqliteStore, { config });
  const browser = pageBrowser();

  async function answered() {
    const scene = await stage.scene();
    await scene.saveDoc("Be brief.");
    const { id } = await scene.start({ title: "Webhooks" });
    scene.plays("One.", "Two.");
    await scene.answered(id, "One?");
    const run = await scene.answered(id, "Two?");
    return { scene, id, run };
  }

  test("[PIN50] while a run streams the rows stay where they are, and a newer step takes its place", async () => {
    const { scene, id } = await answered();
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    await page.getByText("Replay verified").waitFor();
    const before = await places(page);
    scene.plays(
      { steps: [{ gate: "pin50-first" }, ...calls("system_time").steps] },
      { steps: [{ text: "So" }, { gate: "pin50-second" }, { text: " late." }] },
    );
    const { run } = await scene.startRun(id, "What time is it?");
    await page.getByRole("button", { name: "Run 3, choose another" }).waitFor();
    await page.getByText("Recorded to the byte").waitFor();
    expect(await places(page)).toEqual(before);
    const told = await shownRows(page);
    scene.model.open("pin50-first");
    await page.getByRole("button", { name: "Step 2 of 2, choose another" }).waitFor();
    expect(await places(page)).toEqual(before);
    const history = (rows: typeof told) => rows.find(({ id: row }) => row === "+history")?.source;
    expect([history(told), history(await shownRows(page))]).toEqual(["5 messages", "7 messages"]);
    scene.model.open("pin50-second");
    await scene.ended(run.id);
    await page.getByText("Replay verified").waitFor();
    expect(await places(page)).toEqual(before);
  });

  test("[PIN51] on a phone it is a pane of its own, with a way back", async () => {
    const { scene, id, run } = await answered();
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    const page = await browser.open(stage.gateway(), threadPath(scene, id), phone);
    await page.goto(stage.gateway().url + threadPath(scene, id, "/context"));
    const pane = page.getByRole("main");
    await pane.getByText("Replay verified").waitFor();
    await page.getByRole("heading", { name: "Context of Webhooks", level: 1 }).waitFor({ state: "attached" });
    await shot(page, "inspector-phone");
    await pane.getByRole("tab", { name: "Runs" }).click();
    expect(new URL(page.url()).pathname).toBe(threadPath(scene, id, "/runs"));
    await pane.getByRole("link", { name: /Run 1/ }).click();
    await pane.getByRole("button", { name: "Run 1, choose another" }).waitFor();
    await pane.getByRole("button", { name: "Back to the thread" }).click();
    expect(new URL(page.url()).pathname).toBe(threadPath(scene, id));
    await page.goto(stage.gateway().url + threadPath(scene, id, `/context/${run.id}?full=1`));
    await page.getByRole("heading", { name: "AGENTS.md", level: 2 }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await shot(page, "inspector-phone-full");
  });

  test("[PIN51] below 1280 px it is a drawer that takes the focus and gives it back", async () => {
    const { scene, id, run } = await answered();
    const mid = { viewport: { width: 1024, height: 800 } };
    const page = await browser.open(stage.gateway(), threadPath(scene, id), mid);
    await page.locator(".main").waitFor();
    expect(await page.locator(".insp").count()).toBe(0);
    await page.keyboard.press("Control+i");
    await page.getByText("Replay verified").waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Context");
    expect(await page.locator(".insp").evaluate((pane) => pane.getBoundingClientRect().width)).toBe(400);
    await shot(page, "inspector-drawer");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator(".insp").count()).toBe(0);
    expect(await page.evaluate(() => document.activeElement?.closest(".insp"))).toBeNull();
    await page.goto(stage.gateway().url + threadPath(scene, id, `/context/${run.id}`));
    await page.getByRole("button", { name: "Run 2, choose another" }).waitFor();
  });

  test("[PIN56] its border is dragged within its bounds, reset and kept, and main keeps 480 px", async () => {
    const { scene, id } = await answered();
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    const widthOf = (part: string) =>
      page.locator(part).evaluate((pane) => Math.round(pane.getBoundingClientRect().width));
    const border = page.getByRole("separator", { name: "Width of the inspector" });
    await border.waitFor();
    expect(await widthOf(".insp")).toBe(368);
    const drag = async (to: number) => {
      await border.hover();
      await page.mouse.down();
      await page.mouse.move(to, 300, { steps: 4 });
      await page.mouse.up();
    };
    await drag(1000);
    expect(Math.abs((await widthOf(".insp")) - 440)).toBeLessThan(3);
    await drag(1400);
    expect(await widthOf(".insp")).toBe(320);
    await drag(100);
    expect(await widthOf(".insp")).toBe(640);
    await page.reload();
    await border.waitFor();
    expect(await widthOf(".insp")).toBe(640);
    // A narrower window, and a sidebar as wide as it may be: main gives nothing up.
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole("separator", { name: "Width of the sidebar" }).focus();
    for (let at = 0; at < 9; at++) await page.keyboard.press("ArrowRight");
    await expect.poll(() => widthOf(".side")).toBe(400);
    expect([await widthOf(".main"), await widthOf(".insp")]).toEqual([480, 400]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1280);
    await shot(page, "inspector-main-480");
    await page.setViewportSize({ width: 1279, height: 800 });
    await page.locator(".insp").waitFor({ state: "detached" });
    await page.setViewportSize({ width: 1440, height: 900 });
    await border.dblclick();
    expect(await widthOf(".insp")).toBe(368);
    await border.press("ArrowLeft");
    expect(await widthOf(".insp")).toBe(384);
  });

  test("[PIN52] everything can be done without a pointer", async () => {
    const { scene, id } = await answered();
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    await page.getByText("Replay verified").waitFor();
    const focused = () =>
      page.evaluate(() => {
        const { activeElement: at } = document;
        return at?.getAttribute("aria-label") ?? at?.textContent ?? "";
      });
    await page.getByRole("tab", { name: "Context" }).focus();
    const seen: string[] = [];
    for (let at = 0; at < 9; at++) {
      await page.keyboard.press("Tab");
      seen.push(await focused());
    }
    expect(seen.slice(0, 5)).toEqual([
      "Full width",
      "Close the inspector",
      "Run 2, choose another",
      "Compare",
      "Base prompt",
    ]);
    await page.getByRole("button", { name: "Base prompt" }).focus();
    await page.keyboard.press("ArrowDown");
    expect(await focused()).toBe("AGENTS.md");
    await page.keyboard.press("Enter");
    await page.getByLabel("Text of AGENTS.md").waitFor();
    await page.keyboard.press("End");
    expect(await focused()).toBe("History");
    await page.getByRole("tab", { name: "Context" }).focus();
    await page.keyboard.press("ArrowRight");
    expect(await focused()).toBe("Runs");
    const list = page.getByRole("list", { name: "Runs, newest first" });
    await list.getByRole("link").first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Run 1, choose another" }).waitFor();
    await page.keyboard.press("Shift+I");
    await page.getByRole("button", { name: "Available tools", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Available tools", level: 2 }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("tab", { name: "Context" }).waitFor();
  });

  test("[PIN53] artifacts have 684 px, and the thread keeps 420", async () => {
    const { scene, id } = await answered();
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    await page.getByRole("tab", { name: "Artifacts" }).click();
    const width = (of: string) => page.locator(of).evaluate((pane) => pane.getBoundingClientRect().width);
    await expect.poll(() => width(".insp")).toBe(684);
    await page.setViewportSize({ width: 1300, height: 800 });
    await expect.poll(() => width(".main")).toBe(420);
    await page.getByRole("tab", { name: "Context" }).click();
    await expect.poll(() => width(".insp")).toBe(368);
  });

  test("[PIN54] what can't be read says why, and the rest goes on", async () => {
    const { scene, id } = await answered();
    const page = await browser.open(stage.gateway());
    await page.routeWebSocket(/\/rpc/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((message) => {
        const { id: request, method } = JSON.parse(String(message));
        const error = { code: -32_603, message: "The disk is full.", data: { kind: "internal" } };
        if (method === "run/manifest") socket.send(JSON.stringify({ jsonrpc: "2.0", id: request, error }));
        else server.send(message);
      });
    });
    await page.goto(stage.gateway().url + threadPath(scene, id, "/context"));
    await page.getByRole("tabpanel").getByRole("alert").getByText("The disk is full.").waitFor();
    await page.getByRole("tab", { name: "Runs" }).click();
    await page.locator(".insp").getByRole("link", { name: /Run 2/ }).waitFor();
  });

  test.each(["light", "dark"] as const)(
    "[PIN55] axe has nothing to report, in the theme %s",
    async (colorScheme) => {
      const { scene, id, run } = await answered();
      const page = await browser.open(stage.gateway(), threadPath(scene, id), { colorScheme });
      await page.getByText("Replay verified").waitFor();
      await page.getByRole("button", { name: "Available tools", exact: true }).click();
      expect(await axeFinds(page, ".insp")).toEqual([]);
      await page.getByRole("tab", { name: "Runs" }).click();
      await page.getByRole("list", { name: "Runs, newest first" }).waitFor();
      expect(await axeFinds(page, ".insp")).toEqual([]);
      for (const tail of ["full=1", "full=1&show=text", "full=1&show=request", "full=1&preview=1"]) {
        await page.goto(stage.gateway().url + threadPath(scene, id, `/context/${run.id}?${tail}`));
        await page.locator(".full .tb, .full .words").first().waitFor();
        expect(await axeFinds(page, ".full"), tail).toEqual([]);
      }
    },
    120_000,
  );
});
