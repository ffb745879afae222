import { describe, expect, inject, test } from "vitest";
import { pageBrowser } from "../support/page/browser.js";
import { runStage } from "../support/runs.js";

describe.skipIf(inject("chromium") === "")("the page [browser]", () => {
  const stage = runStage();
  const browser = pageBrowser();

  test("[PGE1] the printed address opens the page, signed in", async () => {
    const page = await browser.open(stage.gateway());
    await page.locator(".side").waitFor();
    expect(new URL(page.url()).search).toBe("");
  });
});
