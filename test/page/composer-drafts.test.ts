import { describe, expect, inject, test } from "vitest";
import { between } from "../support/page/between.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { ComposerPage, saidIn, threadPath } from "../support/page/composer.js";
import { runStage } from "../support/runs.js";

describe.skipIf(inject("chromium") === "")("what is typed [browser]", () => {
  const stage = runStage();
  const browser = pageBrowser();
  const open = async (thread: { workspace_id: string; id: string }, options = {}) => {
    const composer = new ComposerPage(await browser.open(stage.gateway(), threadPath(thread), options));
    await composer.field.waitFor();
    return composer;
  };
  const stored = ({ page }: ComposerPage) =>
    page.evaluate(() => Object.keys(localStorage).filter((key) => /draft|outbox/.test(key)));

  test("[PCM30] text and images are kept per thread, with every key, across a reload", async () => {
    const scene = await stage.scene();
    const [one, two] = [await scene.start(), await scene.start()];
    scene.plays("Fine.");
    const composer = await open(one);
    await composer.field.pressSequentially("not sent yet");
    await composer.attach("dot.png");
    await composer.images.first().waitFor();
    await composer.page.reload();
    await expect.poll(() => composer.field.inputValue()).toBe("not sent yet");
    await composer.images.getByRole("img").waitFor();
    await composer.page.goto(new URL(threadPath(two), composer.page.url()).href);
    await composer.field.waitFor();
    expect(await composer.field.inputValue()).toBe("");
    await composer.page.goBack();
    await expect.poll(() => composer.field.inputValue()).toBe("not sent yet");
    await composer.field.press("Enter");
    await expect.poll(() => saidIn(scene, one.id)).toEqual(["not sent yet", "Fine."]);
    expect(scene.model.requests[0]?.body).toContain(composer.imageData);
    await expect.poll(() => stored(composer)).toEqual([]);
  });

  test("[PCM30] a draft that the browser has no room for costs no other thread its own", async () => {
    const scene = await stage.scene();
    const [one, two] = [await scene.start(), await scene.start()];
    const composer = await open(one);
    await composer.field.fill("words of the first");
    const { page } = composer;
    await page.evaluate((room) => {
      let filler = "";
      for (let size = 2 ** 23; size >= 1; size /= 2) {
        try {
          localStorage.setItem("filler", filler + "x".repeat(size));
          filler += "x".repeat(size);
        } catch {
          // Full: a smaller piece may fit.
        }
      }
      localStorage.setItem("filler", filler.slice(room));
    }, 20_000);
    await page.goto(new URL(threadPath(two), page.url()).href);
    await composer.field.fill("y".repeat(30_000));
    expect(await stored(composer)).toEqual([`heddle.draft.${one.id}`]);
    await page.goto(new URL(threadPath(one), page.url()).href);
    await expect.poll(() => composer.field.inputValue()).toBe("words of the first");
  });

  test("[PCM31] what is typed in one window stands in the others, and goes from all of them when it is sent", async () => {
    const scene = await stage.scene();
    const thread = await scene.start();
    scene.plays("Yes.");
    const composer = await open(thread);
    const other = new ComposerPage(await browser.again(composer.page, threadPath(thread)));
    await other.field.waitFor();
    await composer.field.pressSequentially("typed here");
    await expect.poll(() => other.field.inputValue()).toBe("typed here");
    await other.field.press("End");
    await other.field.pressSequentially(", and there");
    await expect.poll(() => composer.field.inputValue()).toBe("typed here, and there");
    await other.field.press("Enter");
    await expect.poll(() => saidIn(scene, thread.id)).toEqual(["typed here, and there", "Yes."]);
    await expect.poll(() => composer.field.inputValue()).toBe("");
    expect(await scene.runs(thread.id)).toHaveLength(1);
  });

  test("[PCM32] a message that is refused stays with the reason, and can be edited and tried again", async () => {
    const scene = await stage.scene();
    const thread = await scene.start();
    scene.plays("Now it works.");
    const composer = await open(thread);
    // A NUL is no text: the gateway refuses it.
    await composer.field.evaluate((field: HTMLTextAreaElement) => {
      const set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set;
      set?.call(field, "broken \u0000 text");
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await composer.field.press("Enter");
    const row = composer.row("broken");
    await row.getByText("Not sent").waitFor();
    expect(await row.getByRole("alert").innerText()).toContain("invalid_params");
    await shot(composer.page, "composer-refused-light");
    await composer.page.reload();
    await row.getByText("Not sent").waitFor();
    await composer.button("Try again").click();
    await row.getByText("Not sent").waitFor();
    await row.getByRole("button", { name: "Edit" }).click();
    const editor = composer.page.getByRole("textbox", { name: "Edit the message" });
    await editor.fill("whole text");
    await editor.press("Enter");
    await expect.poll(() => saidIn(scene, thread.id)).toEqual(["whole text", "Now it works."]);
    await composer.queue.waitFor({ state: "detached" });
  });

  const REFUSED = { code: -32602, message: "Not now.", data: { kind: "invalid_params" } };

  test("[PCM32] what was refused is tried again and removed while another message is on its way", async () => {
    const scene = await stage.scene();
    const thread = await scene.start();
    scene.plays("Three.", "One.");
    const composer = await open(thread);
    const gateway = await between(composer.page);
    await composer.field.waitFor();
    gateway.refuse("run/start", REFUSED);
    await composer.send("the first");
    await composer.row("the first").getByText("Not sent").waitFor();
    await composer.send("the second");
    await composer.row("the second").getByText("Not sent").waitFor();
    gateway.refuse("run/start", undefined);
    gateway.hold();
    await composer.send("the third");
    await expect.poll(() => gateway.sent("run/start").length).toBe(3);
    await composer.row("the first").getByRole("button", { name: "Try again" }).click();
    await composer.row("the second").getByRole("button", { name: "Remove" }).click();
    gateway.release();
    await composer.page.getByText("Removed from the queue").waitFor();
    await expect.poll(() => saidIn(scene, thread.id)).toEqual(["the third", "Three.", "the first", "One."]);
    expect(await composer.page.getByText("It was sent before").count()).toBe(0);
    await composer.queue.waitFor({ state: "detached" });
  });

  test("[PCM34] two windows together ask a busy gateway no more often than one", async () => {
    const scene = await stage.scene();
    const thread = await scene.start();
    scene.plays("At last.");
    const composer = await open(thread);
    const other = new ComposerPage(await browser.again(composer.page, threadPath(thread)));
    const gateways = [await between(composer.page), await between(other.page)];
    await Promise.all([composer.field.waitFor(), other.field.waitFor()]);
    const busy = { code: -32001, message: "Busy.", data: { kind: "overloaded" } };
    for (const gateway of gateways) gateway.refuse("run/start", busy);
    const asked = () => gateways.flatMap((gateway) => gateway.sent("run/start")).length;
    await composer.send("patiently");
    await expect.poll(asked).toBeGreaterThanOrEqual(1);
    const since = Date.now();
    await other.row("patiently").getByText("Waiting, the gateway is busy").waitFor();
    await expect.poll(asked).toBeGreaterThanOrEqual(3);
    expect(Date.now() - since).toBeGreaterThan(1_500);
    for (const gateway of gateways) gateway.refuse("run/start", undefined);
    await expect.poll(() => saidIn(scene, thread.id)).toEqual(["patiently", "At last."]);
    expect(await scene.runs(thread.id)).toHaveLength(1);
  });

  test("[PCM33] images come by paste, drop and button, and can be removed; other files are refused with a reason", async () => {
    const scene = await stage.scene();
    const thread = await scene.start();
    scene.plays("Two dots.");
    const composer = await open(thread);
    const { page, imageData } = composer;
    const give = (kind: "paste" | "drop", name: string, type: string) =>
      composer.field.evaluate(
        (field, { kind: how, name: called, type: of, data }) => {
          const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
          const carried = new DataTransfer();
          carried.items.add(new File([bytes], called, { type: of }));
          const given = { bubbles: true, cancelable: true };
          field.dispatchEvent(
            how === "paste"
              ? new ClipboardEvent("paste", { ...given, clipboardData: carried })
              : new DragEvent("drop", { ...given, dataTransfer: carried }),
          );
        },
        { kind, name, type, data: imageData },
      );
    await give("paste", "pasted.png", "image/png");
    await expect.poll(() => composer.images.count()).toBe(1);
    await give("drop", "dropped.webp", "image/webp");
    await expect.poll(() => composer.images.count()).toBe(2);
    await composer.attach("third.gif", "image/gif");
    await expect.poll(() => composer.images.count()).toBe(3);
    await shot(page, "composer-images-light");
    await page.getByRole("button", { name: "Remove image 3" }).click();
    await expect.poll(() => composer.images.count()).toBe(2);
    await give("drop", "notes.txt", "text/plain");
    await page
      .getByText("“notes.txt” was not added: only PNG, JPEG, GIF and WebP images can go along.")
      .waitFor();
    await composer.attach("huge.png", "image/png", Buffer.alloc(5_300_000));
    await page.getByText("“huge.png” was not added: it has 5.3 MB, and an image may have 5.").waitFor();
    expect(await composer.images.count()).toBe(2);
    await composer.field.press("Enter");
    await expect.poll(() => saidIn(scene, thread.id)).toHaveLength(2);
    const [question] = await scene.messages(thread.id);
    expect(question?.content).toMatchObject([
      { type: "image", mimeType: "image/png" },
      { type: "image", mimeType: "image/webp" },
    ]);
    expect(scene.model.requests[0]?.body.split(imageData)).toHaveLength(3);
    expect(await composer.images.count()).toBe(0);
  });
});
