import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { playByAgent } from "../support/agents.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { calls } from "../support/runs.js";
import { pathOf, said, soon, threadStage } from "./thread-scenes.js";

describe.skipIf(inject("chromium") === "")("reading a thread [browser]", () => {
  const stage = threadStage();
  const browser = pageBrowser();

  async function long(count: number) {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Long one" });
    for (let n = 0; n < count; n++) {
      const role = n % 2 === 0 ? "user" : "agent";
      await scene.append(id, {
        id: `m${n}`,
        role,
        content: `Message number ${n}${n === 7 ? " with a walrus" : ""}`,
      });
    }
    return { scene, id, path: pathOf(scene, id) };
  }

  test("[PTH30] a thread opens at its end, and older messages are there before one arrives at them, without a leap", async () => {
    const { path } = await long(160);
    const page = await browser.open(stage.gateway(), path);
    await said(page).getByText("Message number 159", { exact: true }).waitFor();
    const box = page.locator(".scroll");
    expect(await box.evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight)).toBeLessThan(2);
    // Upwards screen by screen: each message in view has the one before it above it.
    for (let step = 0; step < 60; step++) {
      await box.evaluate((e) => e.scrollBy(0, -400));
      await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
      );
      const numbers = await said(page)
        .locator("[data-item]")
        .evaluateAll((items) => items.map((item) => Number(item.getAttribute("data-item")?.slice(1))));
      expect(numbers).toEqual(numbers.map((_, at) => (numbers[0] as number) + at));
      if (await box.evaluate((e) => e.scrollTop === 0)) break;
    }
    await said(page).getByText("Message number 0", { exact: true }).waitFor();
  });

  test("[PTH31] an address that names a message opens there and marks it; one that is not there says so and opens at the end", async () => {
    const { path } = await long(200);
    const page = await browser.open(stage.gateway(), `${path}/message/m40`);
    await page.locator('[data-item="m40"][data-hit]').waitFor();
    const seen = () =>
      page.locator('[data-item="m40"]').evaluate((e) => {
        const box = (document.querySelector(".scroll") as HTMLElement).getBoundingClientRect();
        const { top, bottom } = e.getBoundingClientRect();
        return top >= box.top && bottom <= box.bottom;
      });
    await soon(seen).toBe(true);
    const other = await browser.open(stage.gateway(), `${path}/message/gone`);
    await other.getByText("That message is not in this thread.").waitFor();
    await said(other).getByText("Message number 199", { exact: true }).waitFor();
  });

  test("[PTH31] what is opened beside a message that an address led to leaves it where it is", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Long with a run" });
    playByAgent(scene.model, { claude: ["An answer of old."] });
    const run = await scene.answered(id, "A question of old?");
    for (let n = 0; n < 80; n++) await scene.append(id, `Message number ${n}`);
    const page = await browser.open(stage.gateway(), `${pathOf(scene, id)}/message/${run.agent_message_id}`);
    const message = page.locator(`[data-item="${run.agent_message_id}"]`);
    await page.locator(`[data-item="${run.agent_message_id}"][data-hit]`).waitFor();
    const top = () => page.locator(".scroll").evaluate((e) => e.scrollTop);
    const before = await top();
    await message.getByRole("link", { name: "Run 1" }).click();
    await soon(async () => new URL(page.url()).pathname).toContain(`/context/${run.id}`);
    await page.getByRole("tab", { name: "Runs" }).click();
    await soon(async () => new URL(page.url()).pathname).toContain("/runs");
    await page.waitForTimeout(200);
    expect(await top()).toBe(before);
  });

  test("[PTH32] find looks through all of the thread, also where it is not loaded, and goes from match to match", async () => {
    const { path } = await long(180);
    const page = await browser.open(stage.gateway(), path);
    await said(page).getByText("Message number 179", { exact: true }).waitFor();
    await page.keyboard.press("ControlOrMeta+f");
    const field = page.getByRole("search", { name: "Find in thread" }).getByRole("textbox");
    await field.fill("walrus");
    await page.getByText("1 of 1").waitFor();
    await page.locator('[data-item="m7"][data-hit]').waitFor();
    await field.fill("number");
    await page.getByText("1 of 180").waitFor();
    await field.press("Enter");
    await page.getByText("2 of 180").waitFor();
    await field.press("Shift+Enter");
    await page.getByText("1 of 180").waitFor();
    await field.fill("heffalump");
    await page.getByText("Nothing matches").waitFor();
    await shot(page, "thread-find");
    await field.press("Escape");
    await field.waitFor({ state: "detached" });
  });

  /** A long answer with the word near its beginning, twice in one line, and where it is cut. */
  async function longAnswer() {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Long answer" });
    const line = (n: number) => {
      if (n === 20) return "Here a **wal**rus, there a walrus.";
      return n === 280 ? "At last the walrus of the end." : `Paragraph ${n} of a long answer.`;
    };
    const content = Array.from({ length: 300 }, (_, n) => line(n)).join("\n\n");
    for (let n = 0; n < 30; n++) await scene.append(id, `Before it ${n}`);
    await scene.append(id, { id: "long", role: "agent", content });
    await scene.append(id, { id: "other", role: "user", content: "No walruses, only a walrus" });
    return pathOf(scene, id);
  }

  /** What is marked as the match one stands at, and whether it is in view. */
  const here = (page: Page) =>
    page.evaluate(() => {
      const [range] = [...(CSS.highlights.get("found-here") ?? [])] as Range[];
      if (!range) return undefined;
      const box = (document.querySelector(".scroll") as HTMLElement).getBoundingClientRect();
      const { top, bottom } = range.getBoundingClientRect();
      const around = range.startContainer.parentElement?.closest("p")?.textContent;
      return { around, inView: top >= box.top && bottom <= box.bottom };
    });

  test("[PTH32] every match of a long message is led to, also in what is cut", async () => {
    const path = await longAnswer();
    const page = await browser.open(stage.gateway(), path);
    await said(page).getByText("only a walrus").waitFor();
    await page.keyboard.press("ControlOrMeta+f");
    const finder = page.getByRole("search", { name: "Find in thread" });
    const field = finder.getByRole("textbox");
    await field.fill("walrus");
    const stand = async (words: string, around: string) => {
      await finder.getByText(words, { exact: true }).waitFor();
      await soon(() => here(page)).toEqual({ around, inView: true });
    };
    await stand("1 of 2, match 1 of 2", "No walruses, only a walrus");
    await field.press("Enter");
    await field.press("Enter");
    await stand("2 of 2, match 1 of 3", "Here a walrus, there a walrus.");
    await field.press("Enter");
    await stand("2 of 2, match 2 of 3", "Here a walrus, there a walrus.");
    await finder.getByRole("button", { name: "Next match" }).click();
    await stand("2 of 2, match 3 of 3", "At last the walrus of the end.");
    await field.press("Enter");
    await stand("1 of 2, match 1 of 2", "No walruses, only a walrus");
    await field.press("Shift+Enter");
    await stand("2 of 2, match 3 of 3", "At last the walrus of the end.");
  });

  test("[PTH32] a hit of the palette leads to its match in a long message", async () => {
    const path = await longAnswer();
    const page = await browser.open(stage.gateway(), path);
    await said(page).getByText("only a walrus").waitFor();
    await page.keyboard.press("ControlOrMeta+k");
    await page.getByRole("combobox").fill("walrus of the end");
    await page.getByRole("option", { name: /^Paragraph 0 of a long answer/ }).click();
    await soon(() => here(page)).toEqual({ around: "At last the walrus of the end.", inView: true });
  });

  test("[PTH32] only what messages hold is marked, and what is folded is opened for it", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Marked" });
    scene.write("kept.txt", "a step nobody sees");
    playByAgent(scene.model, { claude: [calls("files_read", { path: "kept.txt" }), "No such word here."] });
    await scene.answered(id, "Read it");
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    await said(page).getByText("step 2").waitFor();
    await page.keyboard.press("ControlOrMeta+f");
    await page.getByRole("search", { name: "Find in thread" }).getByRole("textbox").fill("step");
    await said(page).getByText("a step nobody sees").waitFor();
    const marked = () =>
      page.evaluate(() =>
        ["found", "found-here"].flatMap((name) =>
          ([...(CSS.highlights.get(name) ?? [])] as Range[]).map(
            (range) => range.startContainer.parentElement?.closest(".turn-head, .out")?.className,
          ),
        ),
      );
    await soon(marked).toEqual(["out"]);
  });

  test("[PTH12] of a run that was steered only its last message says a step", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Steered" });
    playByAgent(scene.model, {
      claude: [{ steps: [{ text: "I look." }, { gate: "steer" }, { text: " Done." }] }, "So be it."],
    });
    const { run } = await scene.startRun(id, "Look at it.");
    await scene.model.request(0);
    await scene.wire.result("run/steer", { run_id: run.id, content: "Use the event id" });
    scene.model.open("steer");
    expect((await scene.ended(run.id)).steps).toBe(2);
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    await said(page).getByText("So be it.").waitFor();
    const heads = () => said(page).locator(".turn-head").allInnerTexts();
    await soon(heads).toEqual([expect.not.stringContaining("step"), expect.stringMatching(/step 2\s*Run 1/)]);
  });

  test("[PTH33] arrows go from message to message, and letters act on the one that has the focus", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Keys" });
    playByAgent(scene.model, {
      claude: ["First answer.", calls("files_list", {}), "Second answer.", "Third answer."],
    });
    await scene.answered(id, "First question?");
    const second = await scene.answered(id, "Second question?");
    const page = await browser.open(stage.gateway(), pathOf(scene, id), {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await said(page).getByText("Second answer.").waitFor();
    const items = said(page).getByRole("article");
    await items.last().focus();
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute("data-item"));
    expect(await focused()).toBe(second.agent_message_id);
    await page.keyboard.press("Enter");
    await soon(() =>
      items
        .last()
        .getByRole("button", { name: /files_list/ })
        .getAttribute("aria-expanded"),
    ).toBe("true");
    await page.keyboard.press("y");
    await soon(() => page.evaluate(() => navigator.clipboard.readText())).toContain("Second answer.");
    await page.keyboard.press("x");
    await soon(async () => new URL(page.url()).pathname).toContain(`/context/${second.id}`);
    await items.last().focus();
    await page.keyboard.press("ArrowUp");
    expect(await focused()).toBe(second.user_message_id);
    await page.keyboard.press("r");
    const field = page.getByRole("textbox", { name: "Edit the message" });
    await soon(() => field.inputValue()).toBe("Second question?");
    await field.fill("Another question?");
    await field.press("Enter");
    await soon(async () => page.url().includes(id)).toBe(false);
    await said(page).getByText("Third answer.").waitFor();
    await said(page).getByText("Another question?").waitFor();
    await said(page).getByText("First answer.").waitFor();
    expect(await said(page).getByText("Second question?").count()).toBe(0);
    expect((await scene.messages(id)).length).toBe(4);
  });

  test("[PTH38] the link of a message can be copied, and leads to it", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Linked" });
    playByAgent(scene.model, { claude: ["One.", "Two."] });
    await scene.answered(id, "First?");
    const run = await scene.answered(id, "Second?");
    const page = await browser.open(stage.gateway(), pathOf(scene, id), {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const last = said(page).getByRole("article").last();
    await last.hover();
    await last.getByRole("button", { name: "Copy link" }).click();
    await page.getByText("Copied the link").waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(link).toBe(`${stage.gateway().url}${pathOf(scene, id)}/message/${run.agent_message_id}`);
    await page.goto(link);
    await said(page).getByText("Two.").waitFor();
  });

  test("[PTH34] a message forks the thread after it", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Root" });
    playByAgent(scene.model, { claude: ["One.", "Two."] });
    await scene.answered(id, "First?");
    await scene.answered(id, "Second?");
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    const first = said(page).getByRole("article").nth(1);
    await first.hover();
    await first.getByRole("button", { name: "Fork from here" }).click();
    await page.getByRole("heading", { level: 1, name: "Root (fork)" }).waitFor();
    await said(page).getByText("One.").waitFor();
    expect(await said(page).getByText("Second?").count()).toBe(0);
  });

  test("[PTH39] a fork's message leads to its run in the thread where that took place, and says which", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Origin of it" });
    playByAgent(scene.model, { claude: ["One."] });
    const run = await scene.answered(id, "First?");
    const fork = await scene.fork(id);
    const page = await browser.open(stage.gateway(), pathOf(scene, fork.id));
    const context = `${pathOf(scene, id)}/context/${run.id}`;
    const path = async () => new URL(page.url()).pathname;
    const link = said(page).getByRole("link", { name: "Run 1 of Origin of it" });
    expect(await link.getAttribute("href")).toBe(context);
    const message = said(page).getByRole("article").last();
    const ways = [
      () => link.click(),
      () => message.focus().then(() => page.keyboard.press("x")),
      () => message.getByRole("button", { name: "Show its context" }).click(),
    ];
    for (const way of ways) {
      await link.waitFor();
      await message.hover();
      await way();
      await soon(path).toBe(context);
      await said(page).getByRole("link", { name: "Run 1", exact: true }).waitFor();
      expect(await page.getByText("There is no such run").count()).toBe(0);
      await page.goBack();
    }
  });

  test("[PTH35] a failed run says what happened and what to do, and can be tried again", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Fails" });
    playByAgent(scene.model, {
      claude: [{ steps: [{ status: 400, body: { error: { message: "no such model" } } }] }, "Better now."],
    });
    const run = await scene.ask(id, "Try this.");
    expect(run.status).toBe("failed");
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    const card = said(page).locator(".fail");
    await card.waitFor();
    await card.getByText(run.error?.code as string).waitFor();
    await page.getByText("Run 1 failed", { exact: true }).waitFor();
    await shot(page, "thread-failed");
    await card.getByRole("button", { name: "Try again" }).click();
    await said(page).getByText("Better now.").waitFor();
  });

  test("[PTH36] the name is changed in place by a double click, and can be undone", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Old name" });
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    await page.getByRole("heading", { level: 1, name: "Old name" }).dblclick();
    const field = page.getByRole("textbox", { name: "Name of the thread" });
    await field.fill("New name");
    // As Safari tells of the Enter that ended a composition.
    await field.evaluate((element) =>
      element.dispatchEvent(
        new KeyboardEvent("keydown", { key: "Enter", keyCode: 229, bubbles: true, cancelable: true }),
      ),
    );
    expect(await field.inputValue()).toBe("New name");
    expect((await scene.get(id)).title).toBe("Old name");
    await field.press("Enter");
    await page.getByRole("heading", { level: 1, name: "New name" }).waitFor();
    await soon(async () => (await scene.get(id)).title).toBe("New name");
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("heading", { level: 1, name: "Old name" }).waitFor();
  });

  test("[PTH37] what another program writes, and a log that was emptied, show by themselves", async () => {
    const { scene, id, path } = await long(4);
    const page = await browser.open(stage.gateway(), path);
    await said(page).getByText("Message number 3", { exact: true }).waitFor();
    await scene.append(id, "From elsewhere");
    await said(page).getByText("From elsewhere").waitFor();
    await scene.wire.result("thread/clear", { thread_id: id });
    await said(page).getByText("Nothing has been said here yet").waitFor();
  });
});
