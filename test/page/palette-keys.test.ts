import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { sqliteStore } from "../support/stores.js";

/** Every area and key there is, as the sheet shows them where Ctrl is the modifier. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  Anywhere: [
    "Ctrl K",
    ">",
    "@",
    "#",
    "/",
    "Ctrl I",
    "Ctrl \\",
    "F6",
    "⇧F6",
    "Ctrl .",
    "Ctrl F",
    "Ctrl ⇧O",
    "?",
  ],
  "Not in a text field": ["C", "⇧C", "E", "W", "I", "⇧I", "/"],
  Tree: ["↑", "↓", "←", "→", "⏎", "R", "M", "Alt ↑", "Alt ↓", "Space", "⇧↑", "⇧↓", "Delete"],
  Messages: ["↑", "↓", "⏎", "Y", "R", "F", "X", "End"],
  "Approval, when it has focus": ["A", "⇧A", "D"],
  Composer: ["⏎", "Ctrl ⏎", "⇧⏎", "↑", "@", "esc"],
  "Artifact list": ["↑", "↓", "Space", "⇧↑", "⇧↓", "Ctrl A", "X", "⏎", "Alt ↑", "Alt ↓", "Delete"],
  "Editor, conflict": ["Ctrl S", "F7", "⇧F7", "esc", "Tab"],
};

describe.skipIf(inject("chromium") === "")("the keys sheet [browser]", () => {
  const browser = pageBrowser();
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(sqliteStore);
  });
  afterAll(() => gateway?.stop());

  test("[PAR20] ? shows every key, by where it works", async () => {
    const page = await browser.open(gateway);
    await page.getByRole("button", { name: /Search or run/ }).waitFor();
    await page.keyboard.press("?");
    const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await sheet.waitFor();
    for (const [area, keys] of Object.entries(KEYS)) {
      const region = sheet.getByRole("region", { name: area, exact: true });
      expect(await region.locator("kbd").allTextContents(), area).toEqual(keys);
    }
    await shot(page, "keys");
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
  });

  test("[PAR21] on a Mac the modifier is ⌘", async () => {
    const page = await browser.open(gateway);
    await page.addInitScript(() => Object.defineProperty(navigator, "platform", { get: () => "MacIntel" }));
    await page.reload();
    await page.getByRole("button", { name: /Search or run/ }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("⌘K", { exact: true }).waitFor();
  });

  test("[PAR22] single keys that are switched off are shown so, and can be switched on there", async () => {
    const page = await browser.open(gateway, `/w/${gateway.home}/settings`);
    await page.getByRole("switch", { name: "Single keys" }).click();
    await page.keyboard.press("?");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.getByRole("button", { name: "Show keys" }).click();
    await page.getByText("Single keys are switched off.").waitFor();
    await page.getByRole("button", { name: "Switch single keys on" }).click();
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  });
});
