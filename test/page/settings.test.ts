import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { replace, told } from "../support/live-config.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { type RunScene, runStage } from "../support/runs.js";

const theme = (page: Page) => page.evaluate(() => document.documentElement.dataset.theme);

describe.skipIf(inject("chromium") === "")("the settings [browser]", () => {
  const browser = pageBrowser();
  const stage = runStage();

  async function opened(section = ""): Promise<[Page, RunScene]> {
    const scene = await stage.scene();
    const page = await browser.open(stage.gateway(), `/w/${scene.workspace_id}/settings${section}`);
    await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
    return [page, scene];
  }

  test("[PAR40] the theme applies at once, in every window, and is kept", async () => {
    const [page] = await opened();
    const other = await browser.again(page, new URL(page.url()).pathname);
    await other.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
    await page.getByRole("button", { name: "Dark", exact: true }).click();
    expect(await theme(page)).toBe("dark");
    await expect.poll(() => theme(other)).toBe("dark");
    await page.reload();
    await expect.poll(() => theme(page)).toBe("dark");
    await page.getByRole("button", { name: "System", exact: true }).click();
    await expect.poll(() => theme(other)).toBeUndefined();
  });

  test("[PAR41] density, single keys and brief answers are kept in this browser", async () => {
    const [page] = await opened();
    await page.getByRole("button", { name: "Roomy" }).click();
    expect(await page.evaluate(() => document.documentElement.dataset.density)).toBe("roomy");
    await page.getByRole("switch", { name: "Brief answers" }).click();
    await page.getByRole("switch", { name: "Single keys" }).click();
    await page.reload();
    const on = (name: string) => page.getByRole("switch", { name }).getAttribute("aria-checked");
    await expect.poll(() => on("Brief answers")).toBe("true");
    expect(await on("Single keys")).toBe("false");
  });

  test("[PAR42] each part has an address, and the palette leads there", async () => {
    const [page] = await opened();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search or run" }).fill(">settings hooks");
    await page.getByRole("option", { name: "Open settings, hooks" }).waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toMatch(/\/settings\/hooks$/);
    const heading = page.getByRole("heading", { name: "Hooks" });
    await expect.poll(() => heading.evaluate((each) => each === document.activeElement)).toBe(true);
    expect(await heading.evaluate((each) => each.getBoundingClientRect().top)).toBeLessThan(900);
    await page
      .getByText(/number 1 in/)
      .first()
      .waitFor();
  });

  test("[PAR43] what a project would run is shown word for word, trusted and revoked", async () => {
    const scene = await stage.scene();
    scene.write("heddle.config.json", {
      agents: [{ agentId: "team", displayName: "Team\u202e", chat: { provider: "demo" } }],
    });
    const path = `/w/${scene.workspace_id}/settings/trust`;
    const page = await browser.open(stage.gateway(), path);
    const card = page.getByRole("article", { name: "Agents of this project" });
    await card.getByText("Not trusted").waitFor();
    expect(await card.locator("pre").textContent()).toContain("Team\\u202e");
    await shot(page, "settings-trust");
    await card.getByRole("button", { name: "Trust exactly this" }).click();
    await card.getByText("Trusted", { exact: true }).waitFor();
    const ids = async () => {
      const { data } = await scene.wire.result("agent/list", { workspace_id: scene.workspace_id });
      return data.map(({ agent_id }) => agent_id);
    };
    await expect.poll(ids).toContain("team");
    await card.getByRole("button", { name: "Revoke trust" }).click();
    await card.getByText("Not trusted").waitFor();
    await expect.poll(ids).not.toContain("team");
  });

  test("[PAR43] content that changed since it was shown is not trusted, and that is said", async () => {
    const scene = await stage.scene();
    const named = (agentId: string) => ({ agents: [{ agentId, chat: { provider: "demo" } }] });
    scene.write("heddle.config.json", named("one"));
    const page = await browser.open(stage.gateway(), `/w/${scene.workspace_id}/settings/trust`);
    const trust = page.getByRole("button", { name: "Trust exactly this" });
    await trust.waitFor();
    scene.write("heddle.config.json", named("other"));
    await trust.click();
    await page.getByRole("alert").getByText("trust.content_changed").waitFor();
    await page.locator("pre").getByText(/other/).waitFor();
    await page.getByText("Not trusted").waitFor();
  });

  test("[PAR44] the configuration's place is told, with a sample, and why the last edit is not in effect", async () => {
    const [page, scene] = await opened("/agents");
    const file = stage.configFile();
    await page.getByText(file).waitFor();
    const { config_file } = await scene.wire.result("agent/list", { workspace_id: scene.workspace_id });
    expect(config_file).toBe(file);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy the sample" }).click();
    const sample = await page.evaluate(() => navigator.clipboard.readText());
    expect(JSON.parse(sample).agents).toHaveLength(3);
    const before = readFileSync(file, "utf8");
    onTestFinished(() => told(scene.wire, () => replace(file, before)).then(() => {}));
    await told(scene.wire, () => replace(file, '{ "agents": [ { } ] }'));
    await page.getByText("The last edit of the configuration is not in effect").waitFor();
    await page.getByText(/Until then the configuration before this edit is in effect/).waitFor();
    await shot(page, "settings-broken-config");
  });

  test("[PAR45] agents are listed with what is known of them, and a thread begins with one", async () => {
    const [page, scene] = await opened("/agents");
    await page.getByRole("button", { name: "New thread with Agent openai", exact: true }).click();
    await expect.poll(() => page.url()).toContain("/thread/");
    const id = page.url().split("/").at(-1) as string;
    expect((await scene.get(id)).agent_id).toBe("openai");
  });

  test("[PAR46] the workspace is renamed, its directory shown, and a refusal puts the name back", async () => {
    const [page, scene] = await opened("/workspace");
    await page.getByText(scene.root).waitFor();
    const name = page.getByRole("textbox", { name: "Name" });
    await name.fill("harbor");
    await name.press("Enter");
    await page.getByRole("navigation", { name: "Threads" }).getByText("harbor").waitFor();
    const { workspace } = await scene.wire.result("workspace/get", { workspace_id: scene.workspace_id });
    expect(workspace.name).toBe("harbor");
    await name.fill("  ");
    await name.blur();
    await expect.poll(() => name.inputValue()).toBe("harbor");
  });

  test("[PAR46] what is wrong with a project's files is said", async () => {
    const scene = await stage.scene();
    scene.write(".agent/config.json", "{ nonsense");
    const page = await browser.open(stage.gateway(), `/w/${scene.workspace_id}/settings/workspace`);
    await page.getByRole("img", { name: "Warning" }).first().waitFor();
  });

  test("[PAR47] thread files are read again, and what came of it is said", async () => {
    const scene = await stage.scene();
    await scene.start({ title: "One" });
    const page = await browser.open(stage.gateway(), `/w/${scene.workspace_id}/settings/workspace`);
    await page.getByRole("button", { name: "Read all again" }).click();
    await page.getByText(/^Read 1 thread: 0 added, 0 changed, 0 removed$/).waitFor();
    await shot(page, "settings-workspace");
  });

  test("[PAR48] tool servers, hooks, prompt packs and the version are shown", async () => {
    const [page] = await opened();
    await page.getByText(/No server is named\./).waitFor();
    await page.getByText(/This project has no prompt packs/).waitFor();
    const about = page.getByRole("region", { name: "About" });
    await about.getByText(/^\d+\.\d+\.\d+/).waitFor();
  });

  test("[PAR49] what can't be read says so, and can be tried again", async () => {
    const scene = await stage.scene();
    const page = await browser.open(stage.gateway(), "/", { tolerates: /./ });
    let broken = true;
    await page.routeWebSocket(/\/rpc/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((message) => {
        const call = JSON.parse(String(message));
        const error = { code: -32603, message: "broken", data: { kind: "internal" } };
        if (broken && call.method === "hook/list")
          socket.send(JSON.stringify({ jsonrpc: "2.0", id: call.id, error }));
        else server.send(message);
      });
    });
    await page.goto(`${stage.gateway().url}/w/${scene.workspace_id}/settings/hooks`);
    const hooks = page.getByRole("region", { name: "Hooks" });
    await hooks.getByText("Could not read the hooks.").waitFor();
    broken = false;
    await hooks.getByRole("button", { name: "Try again" }).click();
    await hooks
      .getByText(/number 1 in/)
      .first()
      .waitFor();
  });
});
