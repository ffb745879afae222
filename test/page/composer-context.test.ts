import { describe, expect, inject, test } from "vitest";
import { agentNamed, playByAgent, requestsOf } from "../support/agents.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { ComposerPage, saidIn, threadPath } from "../support/page/composer.js";
import { runStage } from "../support/runs.js";

const config = (url: string) => ({
  agents: [
    agentNamed(url, "general"),
    agentNamed(url, "journal", { toolAllowlist: ["files_read"] }),
    { agentId: "keyless", displayName: "Keyless", chat: { provider: "anthropic", model: "x" } },
  ],
});

describe.skipIf(inject("chromium") === "")("what goes along [browser]", () => {
  const stage = runStage(undefined, { config });
  const browser = pageBrowser();
  const open = async (thread: { workspace_id: string; id: string }, options = {}) => {
    const composer = new ComposerPage(await browser.open(stage.gateway(), threadPath(thread), options));
    await composer.field.waitFor();
    return composer;
  };

  test("[PCM40] the foot names the AGENTS.md in effect at its version, and follows it", async () => {
    const scene = await stage.scene();
    const { workspace_id, wire } = scene;
    const { folder } = await wire.result("thread/folder/create", { workspace_id, name: "Backend" });
    const thread = await scene.start({ folder_id: folder.id });
    const { page } = await open(thread);
    const link = (name: string) => page.locator(".foot").getByRole("link", { name, exact: true });
    await link("No AGENTS.md applies").waitFor();
    expect(await link("No AGENTS.md applies").getAttribute("href")).toBe(`/w/${workspace_id}/agents-md`);
    await scene.saveDoc("For all.");
    await link("AGENTS.md v1").waitFor();
    await scene.saveDoc("For the back end.", folder.id);
    await scene.saveDoc("For the back end, too.", folder.id);
    await link("Backend/AGENTS.md v2").waitFor();
    expect(await link("Backend/AGENTS.md v2").getAttribute("href")).toBe(
      `/w/${workspace_id}/agents-md/${folder.id}?version=2`,
    );
  });

  test("[PCM41] the tools that apply are counted, and listed with those that are refused and why", async () => {
    const scene = await stage.scene();
    const thread = await scene.start({ agent_id: "journal" });
    const { page } = await open(thread);
    const { data } = await scene.wire.result("tool/list", {
      workspace_id: scene.workspace_id,
      thread_id: thread.id,
    });
    const offered = data.filter((tool) => tool.offered);
    const refused = data.filter((tool) => !tool.offered);
    expect(refused.length).toBeGreaterThan(0);
    const button = page.getByRole("button", { name: new RegExp(`^${offered.length} tools? appl`) });
    await button.click();
    const list = page.getByRole("dialog", { name: "Tools" });
    await list.getByText(`${refused.length} refused`).waitFor();
    expect(await list.innerText()).toContain(refused[0]?.reason);
    await shot(page, "composer-tools-light");
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "detached" });
    expect(await button.evaluate((each) => each === document.activeElement)).toBe(true);
  });

  test("[PCM42] it says about how many tokens would be sent, asked only when typing has paused", async () => {
    const scene = await stage.scene();
    const thread = await scene.start();
    const composer = await open(thread);
    const { page } = composer;
    const tokens = page.getByText(/^about [\d,]+ tokens$/);
    await tokens.waitFor();
    const figure = async () => Number((await tokens.innerText()).replace(/\D/g, ""));
    const before = await figure();
    const asked = async () => {
      const { manifest } = await scene.preview(thread.id, { content: "word ".repeat(200) });
      return manifest.window.tokens_estimate;
    };
    await composer.field.fill("word ".repeat(200));
    expect(await figure()).toBe(before);
    await expect.poll(figure).toBe(await asked());
    expect(await figure()).toBeGreaterThan(before + 150);
    await composer.field.fill("");
    await expect.poll(figure).toBe(before);
    await scene.saveDoc("Speak softly, and never of money. ".repeat(30));
    await expect.poll(figure).toBeGreaterThan(before + 100);
  });

  test("[PCM43] Brief adds its mode to the context line, which stands before the message and not in the field", async () => {
    const scene = await stage.scene();
    const thread = await scene.start({ agent_id: "general" });
    playByAgent(scene.model, { general: ["Yes.", "Yes, and this is why."] });
    const composer = await open(thread);
    await composer.button("Brief").click();
    expect(await composer.button("Brief").getAttribute("aria-pressed")).toBe("true");
    await composer.send("Is it so?");
    await expect
      .poll(() => saidIn(scene, thread.id))
      .toEqual(['<context mode="brief" />\nIs it so?', "Yes."]);
    await composer.button("Brief").click();
    await composer.send("Why?");
    await expect.poll(async () => (await saidIn(scene, thread.id))[2]).toBe("Why?");
  });

  test("[PCM45] @ addresses another agent: the message goes to its own thread, the page follows, and there is a way back", async () => {
    const scene = await stage.scene();
    const from = await scene.start({ agent_id: "general", title: "Webhooks book twice" });
    playByAgent(scene.model, { journal: ["Noted.", "Noted again."] });
    const composer = await open(from);
    const { page } = composer;
    await composer.field.pressSequentially("mail@jo");
    const list = page.getByRole("listbox", { name: "Send to another agent" });
    expect(await list.count()).toBe(0);
    await composer.field.fill("");
    await composer.field.pressSequentially("@");
    await list.waitFor();
    expect(await list.getByRole("option").allInnerTexts()).toEqual([
      expect.stringContaining("JOURNAL"),
      expect.stringContaining("Keyless"),
    ]);
    await shot(page, "composer-mention-light");
    await composer.field.press("Escape");
    await list.waitFor({ state: "detached" });
    await composer.field.pressSequentially("jo");
    expect(await list.count()).toBe(0);
    await composer.field.fill("");
    await composer.field.pressSequentially("@jour");
    await composer.field.press("Enter");
    await page.getByText("To JOURNAL, in its own thread").waitFor();
    const field = page.getByRole("textbox", { name: "Message to another agent" });
    expect(await field.getAttribute("placeholder")).toBe("Message JOURNAL");
    expect(await field.inputValue()).toBe("");
    await page.reload();
    await page.getByText("To JOURNAL, in its own thread").waitFor();
    await field.pressSequentially("Write down that webhooks book twice.");
    await field.press("Enter");
    await page.waitForURL((url) => !url.pathname.includes(from.id));
    const there = page.url().split("/").at(-1) as string;
    await expect.poll(() => saidIn(scene, there)).toEqual(["Write down that webhooks book twice.", "Noted."]);
    expect(await scene.get(there)).toMatchObject({ agent_id: "journal", attributes: { returnTo: from.id } });
    expect(requestsOf(scene.model, "journal")).toHaveLength(1);
    await shot(page, "composer-arrived-light");
    await page.getByRole("button", { name: "Back to Webhooks book twice" }).click();
    await page.waitForURL((url) => url.pathname.includes(from.id));
    expect(await composer.field.inputValue()).toBe("");
    expect(await saidIn(scene, from.id)).toEqual([]);
  });

  test("[PCM46] where nothing can be sent it says why, and keeps what is typed", async () => {
    const scene = await stage.scene();
    const thread = await scene.start({ agent_id: "keyless" });
    const composer = await open(thread);
    const { page } = composer;
    await page.getByText(/^Keyless can't answer\..*What you type is kept\./).waitFor();
    await composer.field.fill("later then");
    await composer.field.press("Enter");
    expect(await composer.button("Send").isDisabled()).toBe(true);
    expect(await composer.field.inputValue()).toBe("later then");
    expect(await scene.runs(thread.id)).toEqual([]);
    await shot(page, "composer-blocked-light");
  });
});
