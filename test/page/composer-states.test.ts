import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { axeFinds } from "../support/page/axe.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { busyThread, ComposerPage, patientAgents, saidIn, threadPath } from "../support/page/composer.js";
import { CUT, lineTo } from "../support/page/line.js";
import { freshRepository, ownGit, Workshop } from "../support/repository.js";
import { runStage } from "../support/runs.js";

/** What axe has to say about the composer and what belongs to it, in both themes. */
async function complaints(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const said = await axeFinds(page, { include: [[".dock"], [".menu"], [".offline"]] });
    found.push(...said.map((each) => `${colorScheme} ${each}`));
  }
  await page.emulateMedia({ colorScheme: "light" });
  return found;
}

describe.skipIf(inject("chromium") === "")("states of the composer [browser]", () => {
  const stage = runStage(undefined, { config: patientAgents });
  const browser = pageBrowser();

  test("[PCM70] axe has nothing to say of the queue, the lists, the images and the banner, in both themes", async () => {
    const scene = await stage.scene();
    const thread = await busyThread(scene, "axe");
    for (const at of [1, 2, 3, 4]) await scene.startRun(thread.id, `message ${at}`);
    const line = await lineTo(stage.gateway());
    const page = await browser.open(line.gateway, threadPath(thread), { tolerates: CUT });
    const composer = new ComposerPage(page);
    await composer.button("1 more").waitFor();
    await composer.attach("dot.png");
    await composer.images.getByRole("img").waitFor();
    await page.getByRole("button", { name: /tools apply$/ }).click();
    await page.getByRole("dialog", { name: "Tools" }).waitFor();
    expect(await complaints(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await composer.field.fill("@");
    await page.getByRole("listbox").waitFor();
    expect(await complaints(page)).toEqual([]);
    await composer.field.press("Enter");
    const field = page.getByRole("textbox", { name: "Message to another agent" });
    await field.waitFor();
    line.cut();
    await page.getByText("The gateway does not answer.").waitFor();
    await field.fill("to somebody else");
    await field.press("Enter");
    await composer.button("2 more").click();
    await composer.row("to somebody else").waitFor();
    await composer.row("to somebody else").getByRole("button", { name: "Edit" }).click();
    await page.getByRole("textbox", { name: "Edit the message" }).waitFor();
    expect(await complaints(page)).toEqual([]);
    await shot(page, "composer-all-light");
    await page.emulateMedia({ colorScheme: "dark" });
    await shot(page, "composer-all-dark");
    for (const { id, status } of await scene.runs(thread.id))
      if (status === "queued") await scene.wire.result("run/cancel", { run_id: id });
    scene.model.open("axe");
  });

  test("[PCM4] words that a window handed over without an answer are in the field again", async () => {
    const scene = await stage.scene();
    const thread = await busyThread(scene, "unheard");
    const line = await lineTo(stage.gateway());
    const page = await browser.open(line.gateway, threadPath(thread), { tolerates: CUT });
    const composer = new ComposerPage(page);
    await composer.button("Stop").waitFor();
    line.deafen();
    await composer.field.fill("Use the event id");
    await composer.field.press("Control+Enter");
    await expect.poll(() => composer.field.inputValue()).toBe("");
    const { href } = new URL(page.url());
    await page.goto("about:blank");
    line.mend();
    await page.goto(href);
    await expect.poll(() => composer.field.inputValue()).toBe("Use the event id");
    scene.plays("Done.");
    scene.model.open("unheard");
  });

  test("[PCM34] what the gateway is too busy for is tried again by itself", async () => {
    const scene = await stage.scene();
    const thread = await busyThread(scene, "busy", "Done.");
    const waiting = [];
    for (let at = 0; at < 100; at++) waiting.push(await scene.startRun(thread.id, `message ${at}`));
    const composer = new ComposerPage(await browser.open(stage.gateway(), threadPath(thread)));
    await composer.button("97 more").waitFor();
    await composer.button("97 more").click();
    await composer.send("one too many");
    await composer.row("one too many").getByText("Waiting, the gateway is busy").waitFor();
    for (const { run } of waiting) await scene.wire.result("run/cancel", { run_id: run.id });
    await expect
      .poll(() => composer.rows().allInnerTexts())
      .toEqual([expect.stringMatching(/one too many\s*Next/)]);
    scene.model.open("busy");
    await expect
      .poll(async () => (await saidIn(scene, thread.id)).slice(2))
      .toEqual(["one too many", "Done."]);
  });

  test("[PCM47] a worktree that is not set up says what would run; Trust and run sets it up, with its steps", async () => {
    ownGit();
    const shop = await Workshop.open(stage.gateway(), freshRepository({ "shared.txt": "s" }));
    const command = "echo installing && sleep 1 && exit 3";
    shop.configure({
      worktreeHooks: { postSetupCommands: [{ command: "echo one\n: run echo two \u202e" }, { command }] },
    });
    const { thread } = await shop.startInWorktree();
    const page = await browser.open(stage.gateway(), threadPath(thread));
    await page.getByText("The project wants to set this worktree up and is not trusted to.").waitFor();
    await page.getByText(`run ${command}`).waitFor();
    expect(await page.locator(".setup pre").innerText()).toBe(
      `run echo one\n> : run echo two ⟨U+202E⟩\nrun ${command}`,
    );
    await shot(page, "composer-untrusted-light");
    await page.getByRole("button", { name: "Trust and run" }).click();
    await page.getByText("The worktree is being set up; what you send waits for it.").waitFor();
    await page.getByText(/Step 2 of 2/).waitFor();
    await page.getByText("The worktree's set-up failed. The agent works in it as it is.").waitFor();
    await shot(page, "composer-setup-failed-light");
    expect(await complaints(page)).toEqual([]);
    await page.getByRole("button", { name: "Put away" }).click();
    await page.getByText("The worktree's set-up failed.").waitFor({ state: "detached" });
  });
});
