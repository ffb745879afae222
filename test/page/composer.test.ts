import { describe, expect, inject, test } from "vitest";
import { pageBrowser, shot } from "../support/page/browser.js";
import { busyThread, ComposerPage, patientAgents, saidIn, threadPath } from "../support/page/composer.js";
import { runStage } from "../support/runs.js";

describe.skipIf(inject("chromium") === "")("the composer [browser]", () => {
  const stage = runStage(undefined, { config: patientAgents });
  const browser = pageBrowser();
  const open = async (thread: { workspace_id: string; id: string }, options = {}) =>
    new ComposerPage(await browser.open(stage.gateway(), threadPath(thread), options));

  test("[PCM1] Enter sends what was written, and the field is empty for the next", async () => {
    const scene = await stage.scene();
    const thread = await scene.start();
    scene.plays("Hello to you.");
    const composer = await open(thread);
    await composer.field.waitFor();
    expect(await composer.field.getAttribute("placeholder")).toBe("Message Agent openai-compatible");
    expect(await composer.button("Send").isDisabled()).toBe(true);
    await composer.send("Hello");
    await expect.poll(() => saidIn(scene, thread.id)).toEqual(["Hello", "Hello to you."]);
    expect(await composer.field.inputValue()).toBe("");
    expect(await composer.queue.count()).toBe(0);
  });

  test("[PCM2] Shift-Enter is a new line", async () => {
    const scene = await stage.scene();
    const thread = await scene.start();
    scene.plays("Yes.");
    const composer = await open(thread);
    await composer.field.pressSequentially("one");
    await composer.field.press("Shift+Enter");
    await composer.field.pressSequentially("two");
    await composer.field.press("Enter");
    await expect.poll(() => saidIn(scene, thread.id)).toEqual(["one\ntwo", "Yes."]);
  });

  test("[PCM5] while the agent answers, Enter queues; the next stands nearest to the field", async () => {
    const scene = await stage.scene();
    const thread = await busyThread(scene, "five", "Changelog.", "Tagged.");
    const composer = await open(thread);
    await composer.button("Stop").waitFor();
    expect(await composer.field.getAttribute("placeholder")).toMatch(
      /^Queue a message, or (⌘|Ctrl )⏎ to steer the run$/,
    );
    await composer.send("Then add a line to the changelog, under Fixed.");
    await composer.row("changelog").waitFor();
    await composer.send("Then tag it.");
    await composer.row("tag it").waitFor();
    expect(await composer.rows().allInnerTexts()).toEqual([
      expect.stringContaining("Then tag it."),
      expect.stringMatching(/under Fixed\.\s*Next/),
    ]);
    await shot(composer.page, "composer-queue-light");
    scene.model.open("five");
    await expect
      .poll(() => saidIn(scene, thread.id))
      .toEqual([
        "Make the handler idempotent.",
        "I look. Done.",
        "Then add a line to the changelog, under Fixed.",
        "Changelog.",
        "Then tag it.",
        "Tagged.",
      ]);
    await composer.queue.waitFor({ state: "detached" });
  });

  test("[PCM3] an Enter that ends a composition sends nothing", async () => {
    const scene = await stage.scene();
    const thread = await scene.start();
    scene.plays("はい。");
    const composer = await open(thread);
    await composer.field.fill("にほん");
    const press = (given: { readonly isComposing?: boolean; readonly keyCode?: number }) =>
      composer.field.evaluate(
        (field, init) => field.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, ...init })),
        { key: "Enter", ...given },
      );
    await press({ isComposing: true });
    await press({ keyCode: 229 });
    expect(await composer.field.inputValue()).toBe("にほん");
    expect(await scene.runs(thread.id)).toEqual([]);
    await composer.field.press("Enter");
    await expect.poll(() => saidIn(scene, thread.id)).toEqual(["にほん", "はい。"]);
  });

  test("[PCM4] Ctrl-Enter steers the run: the model is told with its next step", async () => {
    const scene = await stage.scene();
    const thread = await busyThread(scene, "steer", "So be it.");
    const composer = await open(thread);
    await composer.button("Stop").waitFor();
    await composer.field.fill("Use the event id");
    await composer.field.press("Control+Enter");
    await expect.poll(() => composer.field.inputValue()).toBe("");
    // The field is empty before the gateway has answered.
    const handed = () => Object.keys(localStorage).filter((key) => key.startsWith("heddle.handed."));
    await expect.poll(() => composer.page.evaluate(handed)).toEqual([]);
    // What a long step keeps from being told is not gone: it waits, in other windows too.
    const other = new ComposerPage(await browser.again(composer.page, threadPath(thread)));
    for (const window of [composer, other])
      await expect
        .poll(() => window.rows().allInnerTexts())
        .toEqual([expect.stringMatching(/^Use the event id\s*With the next step$/)]);
    await shot(composer.page, "composer-steering-light");
    scene.model.open("steer");
    const second = JSON.parse((await scene.model.request(1)).body);
    expect(second.messages.at(-1)).toMatchObject({ role: "user", content: "Use the event id" });
    await composer.button("Stop").waitFor({ state: "detached" });
    await expect.poll(() => composer.rows().count()).toBe(0);
    expect(await scene.runs(thread.id)).toHaveLength(1);
    // Nothing runs any more: the same keys send.
    scene.plays("Sent.");
    await composer.field.fill("And now?");
    await composer.field.press("Control+Enter");
    await expect.poll(async () => (await saidIn(scene, thread.id)).slice(-2)).toEqual(["And now?", "Sent."]);
  });

  test("[PCM6] Stop and its keys end the run at the model; what waits begins", async () => {
    const scene = await stage.scene();
    const thread = await busyThread(scene, "never", "Next.");
    const composer = await open(thread);
    await composer.button("Stop").waitFor();
    await composer.send("after it");
    await composer.row("after it").waitFor();
    await composer.page.keyboard.press("Control+.");
    const { byClient } = await (await scene.model.request(0)).closed;
    expect(byClient).toBe(true);
    await expect.poll(async () => (await saidIn(scene, thread.id)).slice(2)).toEqual(["after it", "Next."]);
    await composer.button("Stop").waitFor({ state: "detached" });
    scene.plays({ steps: [{ text: "I look." }, { gate: "never" }] });
    await composer.send("once more");
    await composer.button("Stop").click();
    expect((await (await scene.model.request(2)).closed).byClient).toBe(true);
    await composer.button("Stop").waitFor({ state: "detached" });
  });

  test("[PCM7] the field grows with its text, to 40 % of the height, and shrinks again", async () => {
    const scene = await stage.scene();
    const composer = await open(await scene.start());
    const height = async () => (await composer.field.boundingBox())?.height ?? 0;
    const one = await height();
    await composer.field.fill("a\nb\nc");
    expect(await height()).toBe(one + 40);
    await composer.field.fill("line\n".repeat(80));
    expect(await height()).toBeLessThanOrEqual(360);
    expect(await height()).toBeGreaterThan(300);
    await composer.field.fill("");
    expect(await height()).toBe(one);
  });

  test("[PCM8] all of it works by keyboard: tab order, Escape leaves the field, the palette leads back", async () => {
    const scene = await stage.scene();
    const thread = await busyThread(scene, "keys", "Done.");
    await scene.saveDoc("Speak softly.");
    const composer = await open(thread);
    const { page } = composer;
    const focused = () =>
      page.evaluate(() => {
        const at = document.activeElement;
        return at?.getAttribute("aria-label") ?? at?.textContent ?? "";
      });
    await composer.send("queued");
    await composer.row("queued").waitFor();
    await composer.field.press("Escape");
    expect(await focused()).not.toBe("Message");
    await composer.row("queued").getByRole("button", { name: "Edit" }).focus();
    const order = [];
    for (let at = 0; at < 9; at++) {
      order.push(await focused());
      await page.keyboard.press("Tab");
    }
    expect(order).toEqual([
      "Edit",
      "Remove",
      "Message",
      "Attach images",
      "Brief",
      "AGENTS.md v1",
      expect.stringMatching(/^and \d+ tools apply$/),
      expect.stringContaining("Stop"),
      expect.anything(),
    ]);
    await page.keyboard.press("Control+k");
    await page.keyboard.type(">write a message");
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("Message");
    scene.model.open("keys");
  });

  test("[PCM9] on a phone it is as wide as the window, with targets for a finger", async () => {
    const scene = await stage.scene();
    const thread = await busyThread(scene, "phone", "Done.");
    await scene.saveDoc("Speak softly.");
    const composer = await open(thread, {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    await composer.button("Stop").waitFor();
    await scene.startRun(thread.id, "Then add a line to the changelog, under Fixed.");
    await composer.row("changelog").waitFor();
    await composer.page.getByRole("link", { name: "AGENTS.md v1" }).waitFor();
    for (const name of ["Stop", "Queue", "Attach images", "Remove"]) {
      const box = await composer.button(name).boundingBox();
      expect(box?.height, name).toBeGreaterThanOrEqual(40);
    }
    const dock = await composer.page.locator(".composer").boundingBox();
    expect(dock?.width).toBe(374);
    const overflow = await composer.page.evaluate(() => document.documentElement.scrollWidth);
    expect(overflow).toBe(390);
    await shot(composer.page, "composer-phone-light");
    await composer.page.emulateMedia({ colorScheme: "dark" });
    await shot(composer.page, "composer-phone-dark");
    scene.model.open("phone");
  });
});
