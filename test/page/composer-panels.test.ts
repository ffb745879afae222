import { describe, expect, inject, test } from "vitest";
import { pageBrowser, shot } from "../support/page/browser.js";
import { ComposerPage, saidIn } from "../support/page/composer.js";
import { agentAt, runStage } from "../support/runs.js";

describe.skipIf(inject("chromium") === "")("what is selected beside the thread [browser]", () => {
  const plugins = { bash: { enabled: false }, agents: { enabled: false } };
  const stage = runStage(undefined, { config: (url) => ({ plugins, agents: [agentAt(url)] }) });
  const browser = pageBrowser();

  test("[PCM44] what is selected goes along, is shown above the field with its line, and can be left out", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const items = ["Date picker", "Checkout copy", "Bundle"].map((title) => ({ title }));
    const given = { workspace_id, name: "lists_create", arguments: { name: "Release 4.2", items } };
    const list = JSON.parse((await scene.wire.result("tool/call", given)).output);
    const thread = await scene.start({ title: "Release checklist" });
    scene.plays({ steps: [{ text: "Moved." }, { gate: "panels" }] }, "Said so.", "Plain.");
    const page = await browser.open(stage.gateway(), `/w/${workspace_id}/thread/${thread.id}/artifacts`);
    const composer = new ComposerPage(page);
    await page.getByRole("button", { name: "Open a list, note or view" }).click();
    await page.getByRole("menuitem", { name: "Release 4.2", exact: true }).click();
    await page.getByRole("option", { name: /Date picker/ }).click();
    await page.getByRole("option", { name: /Checkout copy/ }).click({ modifiers: ["Shift"] });
    const dock = page.locator(".dock");
    await dock.getByText("2 selected in Release 4.2 go along").waitFor();
    const line = await dock.locator(".raw").innerText();
    expect(line).toMatch(
      new RegExp(
        `^<context panel-id="p1" .*id="${list.id}" name="Release 4.2" selection="itm_[^,]+,itm_[^,]+" />$`,
      ),
    );
    await composer.field.fill("Move these to 4.2.1 and say so in the changelog");
    await shot(page, "composer-artifacts-light");
    await page.emulateMedia({ colorScheme: "dark" });
    await shot(page, "composer-artifacts-dark");
    await composer.field.press("Enter");
    await expect
      .poll(async () => (await saidIn(scene, thread.id))[0])
      .toBe(`${line}\nMove these to 4.2.1 and say so in the changelog`);
    // A queued one shows and edits the words alone, and keeps its line.
    await composer.button("Stop").waitFor();
    await composer.send("say so");
    await composer.row("say so").getByRole("button", { name: "Edit" }).click();
    const editor = page.getByRole("textbox", { name: "Edit the message" });
    await expect.poll(() => editor.inputValue()).toBe("say so");
    await editor.fill("say so twice");
    await editor.press("Enter");
    await editor.waitFor({ state: "detached" });
    await dock.getByRole("button", { name: "Leave out" }).click();
    await dock.locator(".raw").waitFor({ state: "detached" });
    await composer.send("nothing else");
    scene.model.open("panels");
    await expect
      .poll(async () => (await saidIn(scene, thread.id)).filter((_, at) => at % 2 === 0))
      .toEqual([expect.any(String), `${line}\nsay so twice`, "nothing else"]);
  });
});
