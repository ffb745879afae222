import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import type { Page } from "playwright-core";
import { beforeEach, describe, expect, inject, test } from "vitest";
import { Claude, Codex } from "../imports/sessions.js";
import { newId, old, talk } from "../imports/stage.js";
import { axeFinds } from "../support/page/axe.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { type RunScene, runStage } from "../support/runs.js";
import { temporaryDirectory } from "../support/stores.js";

describe.skipIf(inject("chromium") === "")("importing sessions in the page [browser]", () => {
  const home = temporaryDirectory();
  const stage = runStage(undefined, { options: { sessionEnv: { HOME: home } } });
  const browser = pageBrowser();
  beforeEach(() => rmSync(home, { recursive: true, force: true }));

  async function opened(scene: RunScene, options = {}): Promise<Page> {
    const page = await browser.open(stage.gateway(), `/w/${scene.workspace_id}/settings/workspace`, options);
    await page.getByRole("button", { name: "Import sessions…" }).click();
    await page.getByRole("dialog", { name: "Import sessions" }).waitFor();
    return page;
  }

  const begin = (page: Page) => page.getByRole("button", { name: /^Import \d+ sessions?$/ });

  test("[IMP100] the first visit, the palette and the settings open it; where nothing was found it says so", async () => {
    const scene = await stage.scene();
    const page = await opened(scene);
    await page.getByText("No sessions of Claude Code, Codex, pi or OpenCode were found").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search or run" }).fill(">import");
    await page.getByRole("option", { name: "Import sessions…" }).click();
    await page.getByRole("dialog", { name: "Import sessions" }).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    const first = await browser.again(page, `/w/${scene.workspace_id}`);
    await first.getByRole("heading", { name: "This works already." }).waitFor();
    await first.getByText("Agents are described in").waitFor();
    expect(await first.getByText("Bring your threads").count()).toBe(0);
    old(talk(home, temporaryDirectory()).save());
    await first.reload();
    await first.getByText("Found 1 Claude Code session of other projects.").waitFor();
    await first.getByRole("button", { name: "Import sessions…" }).waitFor();
    old(talk(home, scene.root).save());
    old(new Codex(home, scene.root, newId()).user("And this").says("Yes.").ends().save());
    await first.reload();
    await first.getByText("Found 1 Claude Code and 1 Codex sessions for this project.").waitFor();
    await shot(first, "import-first-visit");
    await first.getByRole("button", { name: "Import 2 threads" }).click();
    await first.getByRole("dialog", { name: "Import sessions" }).waitFor();
  });

  test("[PGE17] the dialog's next step has the focus: to begin, and to close when it is done", async () => {
    const scene = await stage.scene();
    old(talk(home, scene.root).save());
    const page = await opened(scene);
    await begin(page).waitFor();
    const at = () => page.evaluate(() => document.activeElement?.textContent ?? "");
    await expect.poll(at).toMatch(/^Import \d+ session/);
    await page.keyboard.press("Enter");
    await expect.poll(at).toBe("Close");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  });

  test("[IMP101] what is chosen is imported and appears in the tree; what was left behind is told, and again only what is new", async () => {
    const scene = await stage.scene();
    const session = talk(home, scene.root);
    session.lines.push({ type: "file-history-snapshot" });
    old(session.save());
    old(new Codex(home, scene.root, newId()).user("Not this one").says("No.").ends().save());
    const page = await opened(scene);
    const claude = page.getByRole("checkbox", { name: /^Claude Code/ });
    expect(await claude.isChecked()).toBe(true);
    await page.getByRole("checkbox", { name: /^Codex/ }).uncheck();
    await begin(page).click();
    await page.getByText("1 thread imported").waitFor();
    await page.getByText("Not carried over").click();
    await page.getByText("1 × snapshots of files").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("treeitem", { name: /Imported from Claude Code/ }).waitFor();
    expect((await scene.list()).map(({ title }) => title)).toEqual(["Look"]);
    await page.getByRole("button", { name: "Import sessions…" }).click();
    await page.getByText("1 session of this workspace, 1 imported before").waitFor();
    await page.getByRole("checkbox", { name: /^Codex/ }).uncheck();
    await begin(page).click();
    await page.getByText("1 thread unchanged").waitFor();
  });

  test("[IMP102] sessions of other directories are taken when asked for; what was left alone says why", async () => {
    const scene = await stage.scene();
    const session = talk(home, scene.root);
    talk(home, "/gone/away");
    await scene.wire.result("thread/import", { workspace_id: scene.workspace_id, from: "claude" });
    const whole = readFileSync(session.path, "utf8");
    writeFileSync(session.path, whole.replace("found it", "found another"));
    old(session);
    const page = await opened(scene);
    await page.getByRole("checkbox", { name: /other directories too/ }).check();
    await page.getByRole("button", { name: "Import 2 sessions" }).click();
    await page.getByText("1 thread imported, 1 left alone").waitFor();
    await page.getByText("another in the session now").waitFor();
  });

  test("[IMP102] the summary names the workspaces that have what was imported, and leads to them", async () => {
    const scene = await stage.scene();
    const other = temporaryDirectory();
    old(talk(home, scene.root).save());
    old(talk(home, other).save());
    const page = await opened(scene);
    await page.getByRole("checkbox", { name: /other directories too/ }).check();
    await page.getByRole("button", { name: "Import 2 sessions" }).click();
    await page.getByText("2 threads imported").waitFor();
    const dialog = page.getByRole("dialog", { name: "Import sessions" });
    const name = basename(other);
    await dialog.getByRole("link", { name: basename(scene.root) }).waitFor();
    await dialog.getByRole("link", { name }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("treeitem", { name: /Imported from Claude Code/ }).waitFor();
    expect(new URL(page.url()).pathname).not.toContain(scene.workspace_id);
    await page.getByRole("button", { name: `Workspace ${name}` }).click();
    await page.getByRole("menuitemradio", { name: new RegExp(name) }).waitFor();
  });

  test("[IMP103] how far it is shows while it goes on, and a refusal is told", async () => {
    const scene = await stage.scene();
    // More than one step takes: between two of them what was told last is seen, however busy the machine is.
    const many = Array.from({ length: 60 }, () => new Claude(home, scene.root, newId()));
    for (const each of many) old(each.user("a", null, `Session ${each.id}`).save());
    const page = await opened(scene);
    await page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(window, { seen });
      new MutationObserver(() => {
        const { value = 0, max = 0 } = document.querySelector("progress") ?? {};
        if (value > 0) seen.push(`${value} of ${max}`);
      }).observe(document.body, { subtree: true, childList: true, attributes: true });
    });
    await begin(page).click();
    await page.getByText("60 threads imported").waitFor();
    expect((await page.evaluate("window.seen")) as string[]).toContainEqual(
      expect.stringMatching(/^[1-5]?\d of 60$/),
    );
    await page.getByRole("button", { name: "Close" }).click();
    await scene.wire.result("workspace/delete", { workspace_id: scene.workspace_id });
    await page.getByRole("button", { name: "Import sessions…" }).click();
    await page.getByRole("dialog").getByRole("alert").waitFor();
  });

  test("[IMP104] axe finds nothing to report, in light, in dark and on a phone", async () => {
    const scene = await stage.scene();
    talk(home, scene.root);
    talk(home, "/gone/away");
    const looks = [
      { name: "import-light", colorScheme: "light" as const, viewport: { width: 1440, height: 900 } },
      { name: "import-dark", colorScheme: "dark" as const, viewport: { width: 1440, height: 900 } },
      { name: "import-phone", colorScheme: "light" as const, viewport: { width: 390, height: 844 } },
    ];
    for (const { name, ...options } of looks) {
      const page = await opened(scene, options);
      await page.getByRole("checkbox", { name: /^Claude Code/ }).waitFor();
      await shot(page, name);
      expect(await axeFinds(page, "dialog"), name).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    }
  });
});
