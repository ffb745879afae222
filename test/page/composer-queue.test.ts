import { describe, expect, inject, test } from "vitest";
import { between } from "../support/page/between.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { busyThread, ComposerPage, patientAgents, saidIn, threadPath } from "../support/page/composer.js";
import { runStage } from "../support/runs.js";

describe.skipIf(inject("chromium") === "")("the queue [browser]", () => {
  const stage = runStage(undefined, { config: patientAgents });
  const browser = pageBrowser();
  const open = async (thread: { workspace_id: string; id: string }, options = {}) => {
    const composer = new ComposerPage(await browser.open(stage.gateway(), threadPath(thread), options));
    await composer.button("Stop").waitFor();
    return composer;
  };

  test("[PCM20] a queued message is edited in place, all of it; its image stays", async () => {
    const scene = await stage.scene();
    const thread = await busyThread(scene, "edit", "Done.");
    const composer = await open(thread);
    const long = `${"word ".repeat(150)}end`;
    await composer.attach("dot.png");
    await composer.images.first().waitFor();
    await composer.send(long);
    await composer.row("word").getByRole("button", { name: "Edit" }).click();
    const editor = composer.page.getByRole("textbox", { name: "Edit the message" });
    await expect.poll(() => editor.inputValue()).toBe(long);
    await editor.press("End");
    await editor.pressSequentially(", and more");
    await editor.press("Enter");
    await editor.waitFor({ state: "detached" });
    await expect.poll(() => composer.field.evaluate((field) => field === document.activeElement)).toBe(true);
    scene.model.open("edit");
    await expect.poll(async () => (await saidIn(scene, thread.id))[2]).toBe(`${long}, and more`);
    await expect.poll(() => scene.model.requests[1]?.body ?? "").toContain(composer.imageData);
  });

  test("[PCM21] Escape leaves a queued message as it was; Up in an empty field edits the last one", async () => {
    const scene = await stage.scene();
    const thread = await busyThread(scene, "up", "Done.", "Done too.");
    const composer = await open(thread);
    await composer.send("the first");
    await composer.row("the first").waitFor();
    await composer.send("the last");
    await composer.row("the last").waitFor();
    await composer.field.press("ArrowUp");
    const editor = composer.page.getByRole("textbox", { name: "Edit the message" });
    await expect.poll(() => editor.inputValue()).toBe("the last");
    await editor.fill("something else");
    await editor.press("Escape");
    await composer.row("the last").waitFor();
    expect(await composer.row("something else").count()).toBe(0);
    scene.model.open("up");
  });

  test("[PCM22] a queued message is removed, and comes back with Undo", async () => {
    const scene = await stage.scene();
    const thread = await busyThread(scene, "remove", "Done.");
    const composer = await open(thread);
    await composer.send("take me out");
    await composer.row("take me out").getByRole("button", { name: "Remove" }).click();
    await composer.queue.waitFor({ state: "detached" });
    const [, removed] = (await scene.runs(thread.id)).sort((a, b) => a.number - b.number);
    expect(removed?.status).toBe("cancelled");
    await composer.button("Undo").click();
    await composer.row("take me out").waitFor();
    scene.model.open("remove");
    await expect
      .poll(async () => (await saidIn(scene, thread.id)).slice(2))
      .toEqual(["take me out", "Done."]);
  });

  test("[PCM23] more than three fold; what others queue and remove shows at once", async () => {
    const scene = await stage.scene();
    const thread = await busyThread(scene, "fold");
    const composer = await open(thread);
    const started = [];
    for (let at = 1; at <= 7; at++) started.push(await scene.startRun(thread.id, `message ${at}`));
    await composer.button("4 more").waitFor();
    expect(await composer.rows().allInnerTexts()).toEqual([
      expect.stringContaining("4 more"),
      expect.stringContaining("message 3"),
      expect.stringContaining("message 2"),
      expect.stringContaining("message 1"),
    ]);
    await shot(composer.page, "composer-fold-light");
    await composer.button("4 more").click();
    await composer.row("message 7").waitFor();
    await composer.button("Show fewer").click();
    for (const { run } of started.slice(1)) await scene.wire.result("run/cancel", { run_id: run.id });
    await expect.poll(() => composer.rows().count()).toBe(1);
    scene.plays("Done.");
    scene.model.open("fold");
  });

  test("[PCM25] an edit that was begun is there after a reload and in another thread, also where its message has begun", async () => {
    const scene = await stage.scene();
    const thread = await busyThread(scene, "kept", "Done.");
    const other = await scene.start({ title: "Elsewhere" });
    const composer = await open(thread);
    const { page } = composer;
    for (const words of ["first", "second"]) await composer.send(words);
    const editor = page.getByRole("textbox", { name: "Edit the message" });
    await composer.row("second").getByRole("button", { name: "Edit" }).click();
    await expect.poll(() => editor.inputValue()).toBe("second");
    await editor.fill("second, as it should be");
    await page.reload();
    await expect.poll(() => editor.inputValue()).toBe("second, as it should be");
    await page.getByRole("treeitem", { name: /Elsewhere/ }).click();
    await page.getByRole("heading", { level: 1, name: "Elsewhere" }).waitFor();
    expect(await editor.count()).toBe(0);
    expect(await composer.field.inputValue()).toBe("");
    await page.goBack();
    await expect.poll(() => editor.inputValue()).toBe("second, as it should be");
    await shot(page, "composer-edit-kept");
    await editor.press("Enter");
    await editor.waitFor({ state: "detached" });
    await composer.row("second, as it should be").waitFor();
    await page.reload();
    await composer.row("first").getByRole("button", { name: "Edit" }).click();
    await expect.poll(() => editor.inputValue()).toBe("first");
    await editor.fill("first, too late");
    await page.goto(stage.gateway().url + threadPath(other));
    scene.model.open("kept");
    await expect
      .poll(async () => (await saidIn(scene, thread.id)).includes("second, as it should be"))
      .toBe(true);
    await page.goto(stage.gateway().url + threadPath(thread));
    await expect.poll(() => composer.field.inputValue()).toBe("first, too late");
    expect((await saidIn(scene, thread.id)).filter((words) => words === "first")).toHaveLength(1);
  });

  test("[PCM24] an edit of a message that has begun meanwhile is put into the field", async () => {
    const scene = await stage.scene();
    const thread = await busyThread(scene, "late", "Done.");
    const composer = await open(thread);
    await composer.send("as it was");
    await composer.row("as it was").getByRole("button", { name: "Edit" }).click();
    const editor = composer.page.getByRole("textbox", { name: "Edit the message" });
    await expect.poll(() => editor.inputValue()).toBe("as it was");
    await editor.fill("as it should be");
    // The row goes with the run's beginning; what was typed must not go with it.
    scene.model.open("late");
    await expect.poll(() => composer.field.inputValue()).toBe("as it should be");
    expect((await saidIn(scene, thread.id))[2]).toBe("as it was");
  });

  test("[PCM24] an edit that is being saved as its message begins is put into the field once", async () => {
    const scene = await stage.scene();
    const thread = await busyThread(scene, "race", "Done.");
    const composer = await open(thread);
    const gateway = await between(composer.page);
    await composer.button("Stop").waitFor();
    await composer.send("as it was");
    await composer.row("as it was").getByRole("button", { name: "Edit" }).click();
    const editor = composer.page.getByRole("textbox", { name: "Edit the message" });
    await expect.poll(() => editor.inputValue()).toBe("as it was");
    await editor.fill("as it should be");
    gateway.hold();
    scene.model.open("race");
    await expect.poll(async () => (await saidIn(scene, thread.id))[2]).toBe("as it was");
    await editor.press("Enter");
    gateway.release();
    await composer.page.getByText("It was sent before it was edited.").first().waitFor();
    await expect.poll(() => gateway.sent("run/update").length).toBe(1);
    await expect.poll(() => composer.field.inputValue()).toBe("as it should be");
    await composer.page.getByText("Done.", { exact: true }).last().waitFor();
    expect(await composer.field.inputValue()).toBe("as it should be");
  });
});
