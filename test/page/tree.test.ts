import { describe, expect, inject, test } from "vitest";
import { pageBrowser } from "../support/page/browser.js";
import { choose, harbor, openFolders, row, rowNames, treeStage } from "../support/page/tree.js";
import { runStage } from "../support/runs.js";
import { sqliteStore } from "../support/stores.js";

describe.skipIf(inject("chromium") === "")("the tree [browser]", () => {
  const stage = runStage(sqliteStore, treeStage);
  const browser = pageBrowser();

  test("[PGT1] documents, folders and threads stand in the order of the tree, with counts of what is hidden", async () => {
    const { ws } = await harbor(stage);
    const page = await browser.open(stage.gateway(), `/w/${ws}`);
    await row(page, "Backend").waitFor();
    const closed = [
      "AGENTS.md",
      "Backend",
      "Web",
      "Release 4.2",
      "Release 4.3",
      "Decisions",
      "Weekly review",
    ];
    expect(await rowNames(page)).toEqual(closed);
    expect(await row(page, "Backend").locator(".m").innerText()).toBe("6");
    await openFolders(page, "Backend", "Payments");
    expect((await rowNames(page)).slice(1, 8)).toEqual([
      "Backend",
      "AGENTS.md",
      "Payments",
      "AGENTS.md",
      "Webhooks book twice",
      "Refund rounding in JPY",
      "Migration dry run",
    ]);
    const level = row(page, "Webhooks book twice");
    expect(await level.getAttribute("aria-level")).toBe("3");
    expect(await level.getAttribute("aria-posinset")).toBe("2");
    expect(await level.getAttribute("aria-setsize")).toBe("5");
    expect(await row(page, "AGENTS.md, draft, of Payments").innerText()).toContain("draft");
    expect(await row(page, "AGENTS.md, v1, of the root").innerText()).toContain("v1");
  });

  test("[PGT2] what another client makes, renames, moves, pins and deletes shows by itself", async () => {
    const { scene, ws, folders, threads } = await harbor(stage);
    const page = await browser.open(stage.gateway(), `/w/${ws}`);
    await openFolders(page, "Release 4.2");
    const { id } = await scene.start({ title: "From elsewhere", folder_id: folders["Release 4.2"] });
    await row(page, "From elsewhere").waitFor({ timeout: 1_500 });
    await scene.update(id, { title: "Renamed elsewhere" });
    await row(page, "Renamed elsewhere").waitFor({ timeout: 1_500 });
    await scene.update(threads.Changelog as string, { pinned: true });
    await expect
      .poll(() => rowNames(page))
      .toEqual([
        "AGENTS.md",
        "Backend",
        "Web",
        "Release 4.2",
        "Changelog",
        "Renamed elsewhere",
        "Release checklist",
        "Release 4.3",
        "Decisions",
        "Weekly review",
      ]);
    await scene.wire.result("thread/move", { workspace_id: ws, thread_id: id });
    await expect
      .poll(async () => (await rowNames(page)).slice(-3))
      .toEqual(["Renamed elsewhere", "Decisions", "Weekly review"]);
    await scene.wire.result("thread/delete", { workspace_id: ws, thread_id: id });
    await row(page, "Renamed elsewhere").waitFor({ state: "detached" });
    await scene.saveDoc("Only fixes.", folders["Release 4.2"]);
    await row(page, "AGENTS.md, v1, of Release 4.2").waitFor();
  });

  test("[PGT3] an AGENTS.md has a row while its editor is open, before there is a file", async () => {
    const { ws, folders } = await harbor(stage);
    const page = await browser.open(stage.gateway(), `/w/${ws}`);
    await choose(page, "Release 4.3", "Create AGENTS.md");
    await expect.poll(() => page.url()).toContain(`/agents-md/${folders["Release 4.3"]}`);
    const doc = row(page, "AGENTS.md, new, of Release 4.3");
    await doc.waitFor();
    expect(await doc.getAttribute("aria-current")).toBe("page");
    await row(page, "Decisions").click();
    await doc.waitFor({ state: "detached" });
  });

  test("[PGT4] open folders, selection and scroll are as they were after a reload, and another window opens folders with this one", async () => {
    const { ws } = await harbor(stage);
    const page = await browser.open(stage.gateway(), `/w/${ws}`, { viewport: { width: 1440, height: 420 } });
    const other = await browser.again(page, `/w/${ws}`);
    await openFolders(page, "Backend", "Payments", "Web", "Release 4.2");
    await row(other, "Refund rounding in JPY").waitFor();
    await row(page, "Decisions").focus();
    await page.keyboard.press("Space");
    const tree = page.getByRole("tree");
    await tree.evaluate((place) => place.scrollTo(0, 150));
    const kept = () => page.evaluate(() => localStorage.getItem("heddle.prefs") ?? "");
    await expect.poll(kept).toMatch(/"scroll":150/);
    await expect.poll(kept).toMatch(/"picked":\["t:/);
    await page.reload();
    await row(page, "Decisions").waitFor();
    expect(await row(page, "Decisions").getAttribute("aria-selected")).toBe("true");
    await expect.poll(() => tree.evaluate((place) => place.scrollTop)).toBe(150);
    await row(page, "Web").waitFor();
  });

  test("[PGT5] rows in view stay where they are when others come above them", async () => {
    const { ws, scene, folders } = await harbor(stage);
    const page = await browser.open(stage.gateway(), `/w/${ws}`, { viewport: { width: 1440, height: 420 } });
    await openFolders(page, "Backend", "Payments", "Web", "Release 4.2");
    const tree = page.getByRole("tree");
    await tree.evaluate((place) => place.scrollTo(0, 200));
    const web = row(page, "Checkout copy");
    const before = (await web.boundingBox())?.y;
    await scene.start({ title: "Above all", folder_id: folders.Payments });
    await expect.poll(() => tree.evaluate((place) => place.scrollTop)).toBe(228);
    expect((await web.boundingBox())?.y).toBe(before);
  });

  test("[PGT6] what is open has a row in view, in folders that open for it", async () => {
    const { ws, threads } = await harbor(stage);
    const page = await browser.open(stage.gateway(), `/w/${ws}/thread/${threads["Webhooks book twice"]}`);
    const current = row(page, "Webhooks book twice");
    await current.waitFor();
    expect(await current.getAttribute("aria-current")).toBe("page");
    await row(page, "Backend").click();
    await current.waitFor({ state: "detached" });
  });

  test("[PGT7] threads can be grouped by agent instead", async () => {
    const { ws, scene } = await harbor(stage);
    const page = await browser.open(stage.gateway(), `/w/${ws}`);
    await page.getByRole("button", { name: "Group by agent" }).click();
    await row(page, "Codex, 3 threads").waitFor();
    expect((await rowNames(page)).slice(0, 5)).toEqual([
      "Claude Code",
      "Webhooks book twice",
      "Idempotency keys audit",
      "Fix login redirect loop",
      "Bundle over 150 KB",
    ]);
    await scene.start({ title: "One more", agent_id: "codex" });
    await row(page, "Codex, 4 threads").waitFor();
    await row(page, "Claude Code, 4 threads").click();
    await row(page, "Webhooks book twice").waitFor({ state: "detached" });
    await page.reload();
    await row(page, "Codex, 4 threads").waitFor();
    expect(await row(page, "Claude Code, 4 threads").getAttribute("aria-expanded")).toBe("false");
    await page.getByRole("button", { name: "Group by agent" }).click();
    await row(page, "Backend").waitFor();
  });

  test("[PGT8] a workspace without threads says so and offers one", async () => {
    const scene = await stage.scene();
    const page = await browser.open(stage.gateway(), `/w/${scene.workspace_id}`);
    await page.getByText("No threads yet").waitFor();
    await page.getByRole("navigation").getByRole("button", { name: "New thread" }).last().click();
    await row(page, "New thread").waitFor();
    await expect.poll(() => page.url()).toContain("/thread/");
  });

  test("[PGT9] a tree that can't be read says so, and is read when asked again", async () => {
    const { ws } = await harbor(stage);
    const page = await browser.open(stage.gateway(), "/");
    let refuse = true;
    await page.routeWebSocket(/\/rpc/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((data) => {
        const { id, method } = JSON.parse(String(data)) as { id: number; method: string };
        const error = { code: -32603, message: "The disk is full.", data: { kind: "internal" } };
        if (method === "thread/tree" && refuse) socket.send(JSON.stringify({ jsonrpc: "2.0", id, error }));
        else server.send(data);
      });
    });
    await page.goto(`${stage.gateway().url}/w/${ws}`);
    const alert = page.getByRole("alert").filter({ hasText: "Could not read the tree." });
    await alert.waitFor();
    refuse = false;
    await alert.getByRole("button", { name: "Try again" }).click();
    await row(page, "Backend").waitFor();
  });

  test("[PGT9] a tree that nobody answered for is read again by itself, and one that is shown stays", async () => {
    const { ws } = await harbor(stage);
    const page = await browser.open(stage.gateway(), "/", { tolerates: /already in CLOSING or CLOSED/ });
    let asked = 0;
    let attempts = 0;
    let away = false;
    let changed = () => {};
    await page.routeWebSocket(/\/rpc/, (socket) => {
      attempts++;
      if (away) return void socket.close();
      const server = socket.connectToServer();
      const params = { workspace_id: ws };
      changed = () => socket.send(JSON.stringify({ jsonrpc: "2.0", method: "thread/tree/changed", params }));
      socket.onMessage((data) => {
        if (!String(data).includes('"thread/tree"') || ++asked === 2 || asked === 4) return server.send(data);
        away = asked === 3;
        void server.close();
        void socket.close();
      });
    });
    const alert = page.getByRole("alert").filter({ hasText: "Could not read the tree." });
    await page.goto(`${stage.gateway().url}/w/${ws}`);
    await row(page, "Backend").waitFor();
    expect([asked, await alert.count()]).toEqual([2, 0]);
    // Something changed that can't be told in parts, and the connection goes while it is read.
    changed();
    await expect.poll(() => attempts).toBeGreaterThan(3);
    expect(await alert.count()).toBe(0);
    expect(await row(page, "Backend").count()).toBe(1);
    away = false;
    await expect.poll(() => asked).toBe(4);
    await expect.poll(() => alert.count()).toBe(0);
    await row(page, "Backend").waitFor();
  });

  test("[PGT10] a tree that takes long is announced by rows of its shape, which do not move", async () => {
    const { ws } = await harbor(stage);
    const page = await browser.open(stage.gateway(), "/");
    let letGo = () => {};
    const held = new Promise<void>((done) => {
      letGo = done;
    });
    await page.routeWebSocket(/\/rpc/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage(async (data) => {
        if (String(data).includes('"thread/tree"')) await held;
        server.send(data);
      });
    });
    await page.goto(`${stage.gateway().url}/w/${ws}`);
    await expect.poll(() => page.locator(".skel-row").count()).toBe(6);
    letGo();
    await row(page, "Backend").waitFor();
    expect(await page.locator(".skel-row").count()).toBe(0);
  });

  test("[PGT11] the workspace switcher opens another workspace or a project, and shows why a path is refused", async () => {
    const { ws } = await harbor(stage);
    const another = await stage.scene();
    const page = await browser.open(stage.gateway(), `/w/${ws}`);
    await page.getByRole("button", { name: "Workspace harbor" }).click();
    await page.getByRole("menuitem", { name: "Open a project…" }).click();
    const dialog = page.getByRole("dialog", { name: "Open a project" });
    await dialog.getByRole("textbox").fill("not/absolute");
    await page.keyboard.press("Enter");
    await expect.poll(() => dialog.getByRole("alert").innerText()).toContain("workspace.path_invalid");
    await dialog.getByRole("textbox").fill(another.root);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain(`/w/${another.workspace_id}`);
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^Workspace/ }).click();
    await page
      .getByRole("menuitemradio", { name: /harbor/ })
      .first()
      .click();
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/w\//);
    await row(page, "Backend").waitFor();
  });

  test("[PGT14] workspaces that are made and named elsewhere are in the list", async () => {
    const { ws } = await harbor(stage);
    const page = await browser.open(stage.gateway(), `/w/${ws}`);
    await page.getByRole("button", { name: "Workspace harbor" }).waitFor();
    const wire = await stage.gateway().wire();
    const { workspace } = await wire.result("workspace/create", { name: "made elsewhere" });
    await page.getByRole("button", { name: "Workspace harbor" }).click();
    await page.getByRole("menuitemradio", { name: "made elsewhere" }).waitFor();
    await page.keyboard.press("Escape");
    await wire.result("workspace/update", { workspace_id: ws, name: "haven" });
    await page.evaluate(() => dispatchEvent(new Event("focus")));
    await page.getByRole("button", { name: "Workspace haven" }).waitFor();
    await wire.result("workspace/delete", { workspace_id: workspace.id });
    await wire.result("workspace/update", { workspace_id: ws, name: "harbor" });
    wire.close();
  });

  test("[PGT12] a folder says what applies in it and what to do first; so does the root when nothing is open", async () => {
    const { ws, folders } = await harbor(stage);
    const page = await browser.open(stage.gateway(), `/w/${ws}`);
    await page.getByRole("heading", { level: 1, name: "harbor" }).waitFor();
    await page.getByText("13 threads, 4 folders.").waitFor();
    await page.getByRole("button", { name: "New thread with Claude Code" }).waitFor();
    await row(page, "Release 4.3").click();
    await page.getByRole("heading", { name: "Release 4.3 is empty" }).waitFor();
    await page.getByRole("link", { name: "root AGENTS.md v1" }).waitFor();
    await page.getByRole("button", { name: "Move threads here" }).click();
    const dialog = page.getByRole("dialog", { name: "Move threads to Release 4.3" });
    await dialog.getByRole("combobox").fill("check");
    await page.keyboard.press("Enter");
    await dialog.getByRole("combobox").fill("changelog");
    await page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Move 2 threads" }).click();
    await page.getByText("Moved 2 threads to Release 4.3").waitFor();
    await row(page, "Changelog").waitFor();
    await page.goto(`${stage.gateway().url}/w/${ws}/folder/${folders.Payments}`);
    await page.getByRole("link", { name: "Backend/AGENTS.md v1" }).waitFor();
    await page.goto(`${stage.gateway().url}/w/${ws}/folder/fld_gone`);
    await page.getByRole("heading", { name: "This folder is gone" }).waitFor();
  });
});
