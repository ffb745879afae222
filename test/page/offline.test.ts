import { describe, expect, inject, test } from "vitest";
import { pageBrowser, shot } from "../support/page/browser.js";
import { ComposerPage, saidIn, threadPath } from "../support/page/composer.js";
import { CUT, lineTo } from "../support/page/line.js";
import { runStage } from "../support/runs.js";

describe.skipIf(inject("chromium") === "")("without a connection [browser]", () => {
  const stage = runStage();
  const browser = pageBrowser();

  /** A thread in a browser whose line to the gateway can be cut. */
  async function far(options = {}) {
    const scene = await stage.scene();
    const thread = await scene.start({ title: "Webhooks book twice" });
    const line = await lineTo(stage.gateway());
    const page = await browser.open(line.gateway, threadPath(thread), { tolerates: CUT, ...options });
    const composer = new ComposerPage(page);
    await composer.field.waitFor();
    const banner = page.getByText("The gateway does not answer.");
    const cut = async () => {
      line.cut();
      await banner.waitFor();
    };
    return { scene, thread, line, page, composer, banner, cut };
  }

  test("[PCM60] a banner says that the gateway does not answer and when it is tried again; Try now tries at once", async () => {
    const { line, page, banner, cut } = await far();
    await cut();
    await page.getByText(/Trying again (in [1-5] s|now)\./).waitFor();
    const bar = await page.locator(".main > .bar").boundingBox();
    const box = await page.locator(".offline").boundingBox();
    expect(box?.y).toBe((bar?.y ?? 0) + (bar?.height ?? 0));
    // Long pauses between attempts: it is the button that brings it back.
    await page.getByText(/Trying again in [3-5] s\./).waitFor();
    line.mend();
    await page.getByRole("button", { name: "Try now" }).click();
    await banner.waitFor({ state: "detached", timeout: 1_500 });
  });

  test("[PCM67] the banner stands in every view once, below its header, and on a phone in every pane", async () => {
    const { thread, page, banner, cut } = await far();
    await cut();
    const below = async (bar: string) => {
      await expect.poll(() => banner.count()).toBe(1);
      const header = await page.locator(bar).boundingBox();
      const box = await page.locator(".offline").boundingBox();
      expect(box?.y, page.url()).toBe((header?.y ?? 0) + (header?.height ?? 0));
      return { header, box };
    };
    const go = (path: string) =>
      page.evaluate((to) => {
        history.pushState(null, "", to);
        dispatchEvent(new PopStateEvent("popstate"));
      }, path);
    await below(".main > .bar");
    await page.setViewportSize({ width: 390, height: 844 });
    await below(".main > .bar");
    await shot(page, "composer-offline-phone-light");
    await go(`/w/${thread.workspace_id}`);
    const { header, box } = await below(".side > .bar");
    expect(box?.width).toBe(390);
    const next = await page.locator(".side > .bar + *").boundingBox();
    expect(next?.y).toBeGreaterThanOrEqual((header?.y ?? 0) + (header?.height ?? 0) + (box?.height ?? 0));
  });

  test("[PTH6] a thread that was not read before the connection was lost says so, and comes when it is back", async () => {
    const { scene, thread, line, page, cut } = await far();
    const other = await scene.start({ title: "Never opened" });
    await scene.append(other.id, "Words of the other thread");
    await page.getByText("Never opened").first().waitFor();
    await cut();
    await page.getByRole("treeitem", { name: /Never opened/ }).click();
    const told = page.getByText("This was not read before the connection was lost.");
    await told.waitFor();
    expect(await page.locator(".scroll .skel").count()).toBe(0);
    await page.getByRole("treeitem", { name: new RegExp(thread.title) }).click();
    await told.waitFor({ state: "detached" });
    await page.getByRole("treeitem", { name: /Never opened/ }).click();
    await told.waitFor();
    line.mend();
    await page.getByText("Words of the other thread").waitFor();
    await told.waitFor({ state: "detached" });
  });

  test("[PGT14] with a new connection workspaces have the names that they were given meanwhile", async () => {
    const { scene, line, page, cut } = await far();
    await cut();
    const { workspace_id } = scene;
    await scene.wire.result("workspace/update", { workspace_id, name: "renamed meanwhile" });
    line.mend();
    await page.getByRole("button", { name: "Workspace renamed meanwhile" }).waitFor();
  });

  test("[PCM61] what is sent waits in the browser and goes out in order when the gateway is back, once each", async () => {
    const { scene, thread, line, page, composer, banner, cut } = await far();
    scene.plays("One.", "Two.", "Three.");
    await cut();
    expect(await composer.button("Keep for later").isDisabled()).toBe(true);
    await composer.send("Then add a line to the changelog, under Fixed.");
    await composer.send("second");
    await composer.send("third");
    await expect.poll(() => composer.rows().count()).toBe(3);
    expect(await composer.row("second").innerText()).toContain("Not sent yet, kept in this browser");
    await page.getByText("Sent when the gateway is back").waitFor();
    await composer.field.fill("And check that the outbox row is written in the same transaction");
    await shot(page, "composer-offline-light");
    await page.emulateMedia({ colorScheme: "dark" });
    await shot(page, "composer-offline-dark");
    line.mend();
    await banner.waitFor({ state: "detached" });
    await expect
      .poll(() => saidIn(scene, thread.id))
      .toEqual([
        "Then add a line to the changelog, under Fixed.",
        "One.",
        "second",
        "Two.",
        "third",
        "Three.",
      ]);
    expect(await scene.runs(thread.id)).toHaveLength(3);
    expect(
      await page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes("outbox"))),
    ).toEqual([]);
  });

  test("[PCM62] what waits outlasts a reload, and is edited and removed there", async () => {
    const { scene, thread, line, page, composer, cut } = await far();
    scene.plays("Fine.");
    await cut();
    await composer.send("keep me");
    await composer.send("drop me");
    await composer.row("drop me").getByRole("button", { name: "Remove" }).click();
    await composer.row("drop me").waitFor({ state: "detached" });
    await composer.row("keep me").getByRole("button", { name: "Edit" }).click();
    const editor = page.getByRole("textbox", { name: "Edit the message" });
    await editor.fill("keep me, edited");
    await editor.press("Enter");
    await composer.row("keep me, edited").waitFor();
    line.mend();
    await page.reload();
    await expect.poll(() => saidIn(scene, thread.id)).toEqual(["keep me, edited", "Fine."]);
    expect(await scene.runs(thread.id)).toHaveLength(1);
  });

  test("[PCM62] what was removed comes back with Undo, with its image", async () => {
    const { scene, thread, line, composer, cut } = await far();
    scene.plays("A dot.");
    await cut();
    await composer.attach("dot.png");
    await composer.images.first().waitFor();
    await composer.send("look at this");
    await composer.row("look at this").getByRole("button", { name: "Remove" }).click();
    await composer.queue.waitFor({ state: "detached" });
    await composer.button("Undo").click();
    await composer.row("look at this").waitFor();
    line.mend();
    await expect.poll(() => saidIn(scene, thread.id)).toEqual(["look at this", "A dot."]);
    expect(scene.model.requests.at(-1)?.body).toContain(composer.imageData);
  });

  test("[PCM35] a message whose image is lost says so, and goes without it when the person says so", async () => {
    const { scene, thread, line, page, composer, cut } = await far();
    scene.plays("I see no image.");
    await cut();
    await composer.attach("dot.png");
    await composer.images.first().waitFor();
    await composer.send("look at this");
    await composer.row("look at this").waitFor();
    await page.evaluate(
      () =>
        new Promise<void>((resolve) => {
          const request = indexedDB.open("heddle");
          request.onsuccess = () => {
            const work = request.result.transaction("images", "readwrite");
            work.objectStore("images").clear();
            work.oncomplete = () => resolve();
          };
        }),
    );
    line.mend();
    await page.reload();
    const row = composer.row("look at this");
    await row.getByText("An image of this message is not in this browser any more.").waitFor();
    expect(await scene.runs(thread.id)).toEqual([]);
    await shot(page, "composer-image-lost-light");
    await row.getByRole("button", { name: "Send without it" }).click();
    await expect.poll(() => saidIn(scene, thread.id)).toEqual(["look at this", "I see no image."]);
    await composer.queue.waitFor({ state: "detached" });
  });

  test("[PCM63] a message that was taken but not acknowledged is sent again under the same key, and runs once", async () => {
    const { scene, thread, line, page, composer, cut } = await far();
    scene.plays("Heard.");
    line.deafen();
    await composer.send("only once");
    await expect.poll(async () => (await scene.runs(thread.id)).length).toBe(1);
    await cut();
    await composer.row("only once").waitFor();
    expect(await composer.row("only once").getByRole("button", { name: "Edit" }).isDisabled()).toBe(true);
    line.mend();
    await page.reload();
    await composer.field.waitFor();
    await expect
      .poll(() =>
        page.evaluate(() => Object.keys(localStorage).filter((key) => key.includes("outbox")).length),
      )
      .toBe(0);
    await expect.poll(() => saidIn(scene, thread.id)).toEqual(["only once", "Heard."]);
    expect(await scene.runs(thread.id)).toHaveLength(1);
  });

  test("[PCM64] several windows send what waits once, whichever of them is back first", async () => {
    const { scene, thread, line, page, composer, cut } = await far();
    scene.plays("One.", "Two.", "Three.", "Four.");
    const other = new ComposerPage(await browser.again(page, threadPath(thread), CUT));
    await other.field.waitFor();
    await cut();
    await other.page.getByText("The gateway does not answer.").waitFor();
    await composer.send("from the first");
    await other.row("from the first").waitFor();
    await other.send("from the second");
    await composer.row("from the second").waitFor();
    await composer.send("again the first");
    await other.row("again the first").waitFor();
    line.mend();
    await Promise.all(
      [composer, other].map(({ page: each }) =>
        each.getByText("The gateway does not answer.").waitFor({ state: "detached" }),
      ),
    );
    await expect
      .poll(() => saidIn(scene, thread.id))
      .toEqual(["from the first", "One.", "from the second", "Two.", "again the first", "Three."]);
    await expect.poll(() => other.queue.count()).toBe(0);
    expect(await scene.runs(thread.id)).toHaveLength(3);
  });

  test("[PCM65] what a window left behind is sent by another", async () => {
    const { scene, thread, line, page, composer, cut } = await far();
    scene.plays("Yes.");
    await cut();
    await composer.send("from a window that is gone");
    await composer.rows().first().waitFor();
    await page.close();
    line.mend();
    const other = await browser.again(page, `/w/${thread.workspace_id}`, CUT);
    await other.locator(".side").waitFor();
    await expect.poll(() => saidIn(scene, thread.id)).toEqual(["from a window that is gone", "Yes."]);
    expect(await scene.runs(thread.id)).toHaveLength(1);
  });

  test("[PCM66] after a restart of the gateway what waited is sent, with its images", async () => {
    const { scene, thread, line, page, composer, cut } = await far();
    await cut();
    await composer.attach("dot.png");
    await composer.images.first().waitFor();
    await composer.send("look at this");
    await composer.row("look at this").waitFor();
    await stage.restart();
    scene.plays("A dot.");
    line.lead(stage.gateway());
    line.mend();
    await page.getByText("The gateway does not answer.").waitFor({ state: "detached" });
    const again = await stage.again(scene);
    await expect
      .poll(() => saidIn(again, thread.id))
      .toEqual([expect.stringContaining("look at this"), "A dot."]);
    expect(scene.model.requests.at(-1)?.body).toContain(composer.imageData);
    expect(await again.runs(thread.id)).toHaveLength(1);
  });
});
