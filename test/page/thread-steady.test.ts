import type { Locator, Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { playByAgent } from "../support/agents.js";
import { between } from "../support/page/between.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { line, textMessage } from "../support/threads.js";
import { pathOf, said, soon, threadStage } from "./thread-scenes.js";

const widthOf = async (button: Locator) => (await button.boundingBox())?.width ?? Number.NaN;

/** Where what must not move stands. */
const frame = (page: Page) =>
  page
    .locator("main > header, .scroll, .composer, .queue")
    .evaluateAll((parts) => parts.map((part) => JSON.stringify(part.getBoundingClientRect())));

/** Whatever moves comes to its end; only the ring and the caret go on for ever. */
async function settled(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const limited = (each: Animation) =>
      each.effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY;
    const running = document.getAnimations();
    await Promise.all(running.filter(limited).map(({ finished }) => finished));
    return running.filter((each) => !limited(each)).map((each) => (each as CSSAnimation).animationName);
  });
}

describe.skipIf(inject("chromium") === "")("what stays as it is [browser]", () => {
  const stage = threadStage();
  const browser = pageBrowser();

  test("[PTH67] a button that waits for the gateway shows it after a moment, keeps its width, and is not pressed twice", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Waits" });
    playByAgent(scene.model, { claude: [{ steps: [{ status: 400, body: {} }] }, "Better now."] });
    await scene.ask(id, "Will you?");
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    const gateway = await between(page);
    const again = said(page).getByRole("button", { name: "Try again" });
    await again.waitFor();
    const width = await widthOf(again);
    gateway.hold();
    await again.dblclick();
    expect(await again.getAttribute("aria-busy")).toBe("true");
    await again.locator(".st-run").waitFor();
    expect(Math.abs((await widthOf(again)) - width)).toBeLessThan(1);
    await shot(page, "thread-button-waits");
    await again.press("Enter");
    gateway.release();
    await said(page).getByText("Better now.").waitFor();
    expect(gateway.sent("run/start")).toHaveLength(1);
    const message = said(page).getByRole("article", { name: "You" }).last();
    await message.hover();
    const fork = message.getByRole("button", { name: "Fork from here" });
    gateway.hold();
    await fork.dblclick();
    await fork.locator(".st-run").waitFor();
    await message.focus();
    await page.keyboard.press("f");
    gateway.release();
    await page.getByRole("heading", { level: 1, name: /\(fork\)/ }).waitFor();
    expect(gateway.sent("thread/fork")).toHaveLength(1);
  });

  test("[PTH8] a selection and an open menu stay as they are while a run is said and ends", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Streams on" });
    const more = Array.from({ length: 20 }, (_, n) => `Line ${n} of what comes.\n\n`);
    const steps = [
      { text: "It begins here.\n\n" },
      { gate: "more" },
      { text: more },
      { gate: "rest" },
      { text: "End." },
    ];
    playByAgent(scene.model, { claude: [{ steps }] });
    const { run } = await scene.startRun(id, "Words to be selected, all of them.");
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    await said(page).getByText("It begins here.").waitFor();
    await said(page).getByText("Words to be selected").selectText();
    const selected = () => page.evaluate(() => String(getSelection()));
    const words = await selected();
    expect(words).toContain("all of them");
    await page.getByRole("button", { name: "More" }).press("Enter");
    const menu = page.getByRole("menu");
    await menu.waitFor();
    const [box, held] = [await menu.boundingBox(), await frame(page)];
    stage.model().open("more");
    await said(page).getByText("Line 19 of what comes.").waitFor();
    expect([await selected(), await menu.boundingBox(), await frame(page)]).toEqual([words, box, held]);
    stage.model().open("rest");
    await scene.ended(run.id);
    await page.locator(".turn.live").waitFor({ state: "detached" });
    expect([await selected(), await menu.boundingBox()]).toEqual([words, box]);
    await shot(page, "thread-menu-while-streaming");
  });

  test("[PTH9] with motion what opens comes to rest and moves nothing beside it; the ring and the caret alone go on", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Moves" });
    playByAgent(scene.model, { claude: [{ steps: [{ text: "So far" }, { gate: "motion" }] }] });
    await scene.startRun(id, "Go on.");
    const page = await browser.open(stage.gateway(), pathOf(scene, id), {
      reducedMotion: "no-preference",
      viewport: { width: 1024, height: 800 },
    });
    await said(page).getByText("So far").waitFor();
    const lasts = page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--d-mid"));
    expect(Number.parseFloat(await lasts)).toBeGreaterThan(0);
    const held = await frame(page);
    const LOOPS = new Set(["turn", "blink"]);
    const opens: (readonly [open: () => Promise<unknown>, shown: Locator])[] = [
      [() => page.getByRole("button", { name: "More" }).click(), page.getByRole("menu")],
      [() => page.keyboard.press("Control+k"), page.getByRole("dialog")],
      [
        () => page.getByRole("button", { name: "Open the inspector" }).click(),
        page.getByRole("tab", { name: "Context", selected: true }),
      ],
    ];
    for (const [open, shown] of opens) {
      await open();
      await shown.waitFor();
      const loops = await settled(page);
      expect(loops.filter((name) => !LOOPS.has(name))).toEqual([]);
      expect(loops).toContain("blink");
      expect(await frame(page)).toEqual(held);
      await page.keyboard.press("Escape");
      await shown.waitFor({ state: "detached" });
    }
    expect(await frame(page)).toEqual(held);
    stage.model().open("motion");
  });

  test("[PTH10] how long was thought is said in whole seconds, also after a reload; [PTH43] what is cut says so and can be had whole", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Thinks" });
    const thought = (at: number, ms: number | undefined, text = `Thought ${at}`) =>
      line({
        ...textMessage(`m${at}`, ""),
        role: "agent",
        content: [
          { type: "thinking", text },
          { type: "text", text: `Said ${at}.` },
        ],
        ...(ms !== undefined && { heddle: { thinkingMs: { 0: ms } } }),
      });
    const input = JSON.stringify({ command: `echo ${"x".repeat(9_000)}THE_END` });
    const call = line({
      ...textMessage("call", ""),
      role: "agent",
      content: [{ type: "tool_call_ref", toolCallId: "c" }],
      toolCalls: [{ toolCallId: "c", name: "bash", status: "completed", input, output: "done" }],
    });
    const long = `${"A thought that goes on and on. ".repeat(2_000)}THE_LAST`;
    const log = [thought(0, 6_240), thought(1, 420), thought(2, 75_400), thought(3, undefined, long), call];
    scene.foreign(id, { envelope: scene.text(id), log: log.join("") });
    await soon(async () => (await scene.get(id)).message_count).toBe(log.length);
    playByAgent(scene.model, {
      claude: [{ steps: [{ thinking: "Hm." }, { gate: "hm" }, { text: "I have it." }, { gate: "more" }] }],
    });
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    const { run } = await scene.startRun(id, "And now?");
    await said(page).getByRole("button", { name: "Thinking" }).waitFor();
    await page.waitForTimeout(1_100);
    stage.model().open("hm");
    const thoughts = () =>
      said(page)
        .getByRole("button", { name: /^Thought/ })
        .allTextContents();
    await said(page).getByText("I have it.").waitFor();
    await page.reload();
    await soon(async () => (await thoughts()).at(-1)).toMatch(/^Thought for [1-9] s$/);
    stage.model().open("more");
    await scene.ended(run.id);
    const told = ["Thought for 6 s", "Thought for 0.4 s", "Thought for 1:15", "Thought"];
    for (const _ of ["as it comes", "after a reload"]) {
      await said(page).getByText("I have it.").waitFor();
      await soon(async () => (await thoughts()).slice(0, 4)).toEqual(told);
      expect((await thoughts())[4]).toMatch(/^Thought for [1-9] s$/);
      await page.reload();
    }
    await said(page).getByRole("button", { name: "Thought", exact: true }).click();
    await said(page).getByText("40,000 of 62,008 characters").waitFor();
    expect(await said(page).getByText("THE_LAST").count()).toBe(0);
    await said(page).getByRole("button", { name: "Show all" }).click();
    await said(page).getByText("THE_LAST").waitFor();
    await said(page).getByRole("button", { name: "Thought", exact: true }).click();
    await said(page).getByRole("button", { name: /bash/ }).click();
    await said(page)
      .getByText(/^8,000 of 9,0\d\d characters$/)
      .waitFor();
    expect(await said(page).locator(".call-in").getByText("THE_END").count()).toBe(0);
    await shot(page, "thread-long-input");
    await said(page).getByRole("button", { name: "Show all" }).click();
    await said(page).locator(".call-in").getByText("THE_END").waitFor();
    await said(page)
      .getByText(/^9,0\d\d characters$/)
      .waitFor();
  });
});
