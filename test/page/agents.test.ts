import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { pageBrowser, shot } from "../support/page/browser.js";
import { agentAt, apis, calls, type RunScene, runStage, says } from "../support/runs.js";
import { sqliteStore } from "../support/stores.js";

/** One that asks before it runs commands, one that only keeps notes, one without a key. */
const config = (url: string) => ({
  agents: [
    agentAt(url, apis[0], {
      agentId: "coder",
      displayName: "Coder",
      description: "Writes and tests code in this project.",
      systemPrompt: "You write code.",
      toolDenylist: ["lists_delete"],
      toolApprovals: { ask: ["bash", "files_write"] },
      color: "walnut",
    }),
    agentAt(url, apis[0], {
      agentId: "notes",
      displayName: "Notes",
      toolAllowlist: ["notes_*"],
      agentAllowlist: [],
      color: "orchil",
    }),
    { agentId: "keyless", displayName: "Keyless", chat: { provider: "anthropic", model: "claude" } },
    { agentId: "secret", displayName: "Secret", uiVisible: false, chat: { provider: "demo" } },
  ],
  plugins: {},
});

describe.skipIf(inject("chromium") === "")("the agent switcher [browser]", () => {
  const browser = pageBrowser();
  const stage = runStage(sqliteStore, { config });

  async function opened(more: { colorScheme?: "dark" } = {}): Promise<[Page, RunScene, string]> {
    const scene = await stage.scene();
    const thread = await scene.start({ agent_id: "coder", title: "Webhooks book twice" });
    const page = await browser.open(stage.gateway(), `/w/${scene.workspace_id}/thread/${thread.id}`, more);
    await picker(page).click();
    await page.getByRole("dialog", { name: "Agents" }).waitFor();
    return [page, scene, thread.id];
  }
  const picker = (page: Page) => page.getByRole("button", { name: /^Agent: / });
  const option = (page: Page, name: string) => page.getByRole("option", { name });
  const agents = (page: Page) => page.getByRole("listbox", { name: "Agents" }).getByRole("option");
  const threadOf = (page: Page) => new URL(page.url()).pathname.split("/")[4] as string;

  test("[PAR30] the thread's agent stands in its header; opened, it says what it is and may use", async () => {
    const [page] = await opened();
    expect(await picker(page).textContent()).toContain("Coder");
    const facts = page.getByRole("region", { name: "Coder" });
    await facts.getByText(/^\d+ tools: /).waitFor();
    const text = (await facts.innerText()).replace(/\s+/g, " ");
    expect(text).toContain("openai-compatible, qwen3");
    expect(text).toContain("Writes and tests code in this project.");
    expect(text).toMatch(/Asks for.*bash.*files_write/);
    expect(text).toMatch(/Refused.*lists_delete/);
    expect(text).toMatch(/May ask.*Notes/);
    await facts.getByText("System prompt").click();
    await facts.getByText("You write code.").waitFor();
    await shot(page, "agents-light");
  });

  test("[PAR39] in a narrow header the agent's name is whole, and the path beside it is cut first", async () => {
    const scene = await stage.scene();
    const deep = await scene.folder(
      "A folder with a rather long name",
      await scene.folder("Another long one"),
    );
    const bare = await scene.start({ agent_id: "coder", title: "At the root" });
    const placed = await scene.start({ agent_id: "coder", title: "Deep", folder_id: deep });
    const page = await browser.open(stage.gateway(), `/w/${scene.workspace_id}/thread/${bare.id}`);
    const isCut = (selector: string) =>
      page.locator(selector).evaluate((each) => each.scrollWidth > each.clientWidth);
    for (const width of [720, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(`${stage.gateway().url}/w/${scene.workspace_id}/thread/${bare.id}`);
      await page.locator(".agent-line .ag").waitFor();
      expect(await isCut(".agent-line .ag"), `${width}`).toBe(false);
      await page.goto(`${stage.gateway().url}/w/${scene.workspace_id}/thread/${placed.id}`);
      await page.locator(".agent-line .ag + .cut").waitFor();
      expect(await isCut(".agent-line .ag"), `${width} with a path`).toBe(false);
      expect(await isCut(".agent-line .ag + .cut"), `${width}, the path`).toBe(width === 320);
    }
  });

  test("[PAR31] agents are found by name, one that is hidden is not listed", async () => {
    const [page] = await opened();
    expect(await agents(page).count()).toBe(3);
    await page.getByRole("combobox", { name: "Find an agent" }).fill("not");
    await option(page, "Notes").waitFor();
    expect(await agents(page).count()).toBe(1);
    await page.getByRole("region", { name: "Notes" }).getByText("notes_*").waitFor();
    await page.getByRole("combobox", { name: "Find an agent" }).fill("nobody");
    await page.getByText("Nothing matches “nobody”").waitFor();
  });

  test("[PAR32] an agent that can't be asked is listed with the reason, and can't be switched to", async () => {
    const [page, , id] = await opened({ colorScheme: "dark" });
    await option(page, "Keyless").click();
    const facts = page.getByRole("region", { name: "Keyless" });
    await facts.getByText(/It needs an API key/).waitFor();
    expect(await page.getByRole("button", { name: "New thread with Keyless" }).isDisabled()).toBe(true);
    await page.getByRole("combobox", { name: "Find an agent" }).press("Enter");
    expect(threadOf(page)).toBe(id);
    await shot(page, "agents-unavailable-dark");
  });

  test("[PAR33] Enter goes to an agent's latest thread, which knows the way back", async () => {
    const [page, scene, id] = await opened();
    const latest = await scene.start({ agent_id: "notes", title: "Reading list" });
    await page.getByRole("combobox", { name: "Find an agent" }).fill("notes");
    await page.keyboard.press("Enter");
    await expect.poll(() => threadOf(page)).toBe(latest.id);
    expect(await picker(page).textContent()).toContain("Notes");
    const back = page.getByRole("button", { name: "Back to Webhooks book twice" });
    await back.waitFor();
    await shot(page, "agents-back");
    await back.click();
    await expect.poll(() => threadOf(page)).toBe(id);
    await expect.poll(async () => (await scene.get(latest.id)).attributes?.returnTo).toBeUndefined();
  });

  test("[PAR34] a new thread with an agent begins with the modifier, in the same folder", async () => {
    const scene = await stage.scene();
    const { folder } = await scene.wire.result("thread/folder/create", {
      workspace_id: scene.workspace_id,
      name: "Backend",
    });
    const thread = await scene.start({ agent_id: "coder", folder_id: folder.id });
    const page = await browser.open(stage.gateway(), `/w/${scene.workspace_id}/thread/${thread.id}`);
    await picker(page).click();
    await page.getByRole("combobox", { name: "Find an agent" }).fill("notes");
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => threadOf(page)).not.toBe(thread.id);
    expect(await scene.get(threadOf(page))).toMatchObject({ agent_id: "notes", folder_id: folder.id });
  });

  test("[PAR35] a conversation can be continued by another agent in a fork", async () => {
    const scene = await stage.scene();
    scene.plays("Four.");
    const thread = await scene.start({ agent_id: "coder", title: "Sums" });
    await scene.answered(thread.id, "What is two and two?");
    const page = await browser.open(stage.gateway(), `/w/${scene.workspace_id}/thread/${thread.id}`);
    await picker(page).click();
    await option(page, "Notes").click();
    await page.getByRole("button", { name: "Continue in a fork" }).click();
    await expect.poll(() => threadOf(page)).not.toBe(thread.id);
    expect(await scene.get(threadOf(page))).toMatchObject({ agent_id: "notes", message_count: 2 });
  });

  test("[PAR36] model and effort of the thread are changed, and cleared again", async () => {
    const [page, scene, id] = await opened();
    await page.getByRole("textbox", { name: "Model" }).fill("qwen3-large");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await scene.get(id)).config.model).toBe("qwen3-large");
    await page.getByRole("combobox", { name: "Effort" }).selectOption("high");
    await expect.poll(async () => (await scene.get(id)).config.reasoning_effort).toBe("high");
    await page.getByRole("textbox", { name: "Model" }).fill("");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await scene.get(id)).config).toEqual({ reasoning_effort: "high" });
  });

  test("[PAR37] a tool that was always allowed is taken back", async () => {
    const scene = await stage.scene();
    scene.plays(calls("bash", { command: "true" }), says("Done."));
    const thread = await scene.start({ agent_id: "coder" });
    const { run } = await scene.startRun(thread.id, "Run it");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    await scene.wire.result("run/approve", { run_id: run.id, tool_call_id: "call_1", decision: "always" });
    await scene.ended(run.id);
    const page = await browser.open(stage.gateway(), `/w/${scene.workspace_id}/thread/${thread.id}`);
    await picker(page).click();
    await page.getByRole("button", { name: "Ask again for bash" }).click();
    await expect.poll(async () => (await scene.get(thread.id)).granted_tools ?? []).toEqual([]);
    await expect.poll(() => page.getByText("is always allowed").count()).toBe(0);
  });

  test("[PAR38] Escape and a press elsewhere close it, and the focus goes back", async () => {
    const [page] = await opened();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Agents" }).waitFor({ state: "detached" });
    await expect.poll(() => picker(page).evaluate((button) => button === document.activeElement)).toBe(true);
    await picker(page).click();
    await page.getByRole("dialog", { name: "Agents" }).waitFor();
    await page.mouse.click(700, 500);
    await page.getByRole("dialog", { name: "Agents" }).waitFor({ state: "detached" });
  });
});

const COLOURS = ["teal", "#3366cc", "yellow", "#102030"];

describe.skipIf(inject("chromium") === "")("the colours of agents [browser]", () => {
  const browser = pageBrowser();
  const coloured = (url: string) => ({
    agents: COLOURS.map((color, at) =>
      agentAt(url, apis[0], { agentId: `agent${at}`, displayName: `Agent ${at}`, color }),
    ),
    plugins: {},
  });
  const stage = runStage(sqliteStore, { config: coloured });

  /** Hue of the agent's name, and its least contrast with what it may stand on. */
  const look = (page: Page) =>
    page.locator(".agent-line .ag").evaluate((name) => {
      const canvas = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
      const rgb = (color: string) => {
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
      };
      const light = (color: string) => {
        const [r, g, b] = rgb(color).map((each) => ((each / 255 + 0.055) / 1.055) ** 2.4) as [
          number,
          number,
          number,
        ];
        return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
      };
      const { color } = getComputedStyle(name);
      const grounds = ["--bg", "--bg-side", "--bg-active", "--bg-select"].map((token) => {
        const probe = document.body.appendChild(document.createElement("i"));
        probe.style.color = `var(${token})`;
        const [one, other] = [light(getComputedStyle(probe).color), light(color)];
        probe.remove();
        return Math.max(one, other) / Math.min(one, other);
      });
      const [r, g, b] = rgb(color) as [number, number, number];
      const [most, least] = [Math.max(r, g, b), Math.min(r, g, b)];
      const part =
        most === r
          ? (g - b) / (most - least)
          : most === g
            ? 2 + (b - r) / (most - least)
            : 4 + (r - g) / (most - least);
      return { hue: (part * 60 + 360) % 360, contrast: Math.min(...grounds) };
    });

  test("[PAR50] an agent wears the colour it was given, and can be read in both themes", async () => {
    const scene = await stage.scene();
    const hues = [180, 220, 60, 210];
    for (const colorScheme of ["light", "dark"] as const) {
      for (const [at, hue] of hues.entries()) {
        const { id } = await scene.start({ agent_id: `agent${at}` });
        const page = await browser.open(stage.gateway(), `/w/${scene.workspace_id}/thread/${id}`, {
          colorScheme,
          viewport: { width: 720, height: 800 },
        });
        const { hue: shown, contrast } = await look(page);
        expect(Math.abs(shown - hue), `${COLOURS[at]} ${colorScheme}`).toBeLessThan(6);
        expect(contrast, `${COLOURS[at]} ${colorScheme}`).toBeGreaterThanOrEqual(4.5);
      }
    }
  });
});
