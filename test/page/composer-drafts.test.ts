import { describe, expect, inject, test } from "vitest";
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
