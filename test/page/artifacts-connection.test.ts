import type { Page, WebSocketRoute } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { between } from "../support/page/between.js";
import { pageBrowser } from "../support/page/browser.js";
import { type RunScene, runStage } from "../support/runs.js";

async function tool<T = { id: string }>(scene: RunScene, name: string, given: object = {}): Promise<T> {
  const { workspace_id } = scene;
  const result = await scene.wire.result("tool/call", { workspace_id, name, arguments: { ...given } });
  return JSON.parse(result.output) as T;
}

/** The page's connection, which can be cut and kept cut. */
async function cuttable(page: Page) {
  const open = new Set<WebSocketRoute>();
  let down = false;
  await page.routeWebSocket(/\/rpc/, (socket) => {
    if (down) return void socket.close();
    const server = socket.connectToServer();
    open.add(socket);
    server.onClose(() => open.delete(socket));
  });
  await page.reload();
  return {
    cut: async () => {
      down = true;
      for (const socket of open) await socket.close();
      open.clear();
    },
    mend: () => {
      down = false;
    },
  };
}

describe.skipIf(inject("chromium") === "")("artifacts and the connection [browser]", () => {
  const config = { plugins: { bash: { enabled: false }, agents: { enabled: false } } };
  const stage = runStage(undefined, { config: () => config });
  const browser = pageBrowser();

  async function opened(scene: RunScene, name: string): Promise<Page> {
    const { id } = await scene.start({ title: "Shopping" });
    const path = `/w/${scene.workspace_id}/thread/${id}/artifacts`;
    const page = await browser.open(stage.gateway(), path, { tolerates: /WebSocket|ERR_/ });
    await page.getByRole("button", { name: "Open a list, note or view" }).click();
    await page.getByRole("menuitem", { name, exact: true }).click();
    await page.getByRole("region", { name }).waitFor();
    return page;
  }

  test("[PAT50] a new connection is told of the panels again", async () => {
    const scene = await stage.scene();
    const { id } = await tool(scene, "lists_create", { name: "Groceries", items: [{ title: "Tea" }] });
    const page = await opened(scene, "Groceries");
    const { cut, mend } = await cuttable(page);
    await page.getByRole("option", { name: "Tea" }).click();
    const seen = () => tool(scene, "panels_selected", { includeContext: true });
    const wanted = {
      panels: [{ selected: true, context: { id, name: "Groceries", selection: [expect.any(String)] } }],
    };
    await expect.poll(seen).toMatchObject(wanted);
    await cut();
    await expect.poll(seen).toMatchObject({ panels: [] });
    mend();
    await expect.poll(seen).toMatchObject(wanted);
  });

  test("[PAT22] what was written without a connection is saved when there is one", async () => {
    const scene = await stage.scene();
    const { id } = await tool(scene, "notes_create", { title: "Why", content: "Before." });
    const page = await opened(scene, "Why");
    const { cut, mend } = await cuttable(page);
    await page.getByRole("button", { name: "Edit the note" }).click();
    await cut();
    await page.getByLabel("Text of Why").fill("Written offline.");
    await page.getByLabel("Text of Why").press("Control+s");
    expect(await page.getByLabel("Text of Why").inputValue()).toBe("Written offline.");
    mend();
    await expect
      .poll(async () => (await tool<{ content: string }>(scene, "notes_read", { note: id })).content)
      .toBe("Written offline.");
    await page.getByText("Saved, v2").waitFor();
  });

  test("[PAT21] a window takes over what another could not save once that one is gone, and not before", async () => {
    const scene = await stage.scene();
    const { id } = await tool(scene, "notes_create", { title: "Why", content: "Before." });
    const content = async () => (await tool<{ content: string }>(scene, "notes_read", { note: id })).content;
    const page = await opened(scene, "Why");
    const gateway = await between(page);
    await page.getByRole("button", { name: "Edit the note" }).click();
    gateway.refuse("tool/call", { code: -32603, message: "Broken.", data: { kind: "internal" } });
    await page.getByLabel("Text of Why").fill("Mine.");
    await page.getByText("Not saved: Broken.").waitFor();
    const other = await browser.again(page, new URL(page.url()).pathname);
    await other.getByRole("button", { name: "Edit the note" }).click();
    expect(await other.getByLabel("Text of Why").inputValue()).toBe("Before.");
    expect(await content()).toBe("Before.");
    await page.close();
    await expect.poll(content).toBe("Mine.");
    await expect.poll(() => other.getByLabel("Text of Why").inputValue()).toBe("Mine.");
  });

  test("[PAT11] an item that could not be added stays in the field", async () => {
    const scene = await stage.scene();
    await tool(scene, "lists_create", { name: "Full", items: [{ title: "Tea" }] });
    const page = await opened(scene, "Full");
    await page.routeWebSocket(/\/rpc/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((message) => {
        const { id } = JSON.parse(String(message)) as { id: number };
        const result = { status: "failed", output: "A list has at most 2000 items.", duration_ms: 1 };
        if (String(message).includes("lists_item_add"))
          socket.send(JSON.stringify({ jsonrpc: "2.0", id, result }));
        else server.send(message);
      });
    });
    await page.reload();
    const field = page.getByLabel("Add an item");
    await field.fill("Do not lose me");
    await field.press("Enter");
    await page.getByRole("alert").getByText("A list has at most 2000 items.").waitFor();
    expect(await field.inputValue()).toBe("Do not lose me");
  });

  test("[PAT42] what is deleted while it is shown says so", async () => {
    const scene = await stage.scene();
    const { id } = await tool(scene, "lists_create", { name: "Gone", items: [{ title: "Tea" }] });
    const page = await opened(scene, "Gone");
    await page.getByRole("option", { name: "Tea" }).waitFor();
    await tool(scene, "lists_delete", { list: id });
    await page.getByText("“Gone” was deleted.").waitFor();
  });
});
