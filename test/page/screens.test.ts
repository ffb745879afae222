import { describe, expect, inject, test } from "vitest";
import { pageBrowser, shot } from "../support/page/browser.js";
import { DESK, PHONE, returning, SCREENS, type Screen } from "../support/page/harbor-screens.js";
import { harborStage } from "../support/page/harbor-stage.js";

describe.skipIf(inject("chromium") === "")("every screen [browser]", () => {
  const stage = harborStage();
  const browser = pageBrowser();

  const opened = async (screen: Screen, options: object = {}) => {
    const harbor = stage.harbor();
    const gateway = stage.gateway();
    const page = await browser.open(gateway, screen.path(harbor), {
      viewport: screen.phone ? PHONE : DESK,
      ...returning(gateway.url, harbor),
      ...(screen.tolerates && { tolerates: screen.tolerates }),
      ...options,
    });
    await screen.show(page, harbor);
    return page;
  };

  describe.each(["light", "dark"] as const)("%s", (colorScheme) => {
    test.each(SCREENS)("[PSC2] $name", async (screen) => {
      const page = await opened(screen, { colorScheme });
      await page.waitForLoadState("networkidle");
      await shot(page, `screen-${screen.name}-${colorScheme}`);
      await expect.poll(() => page.getByRole("main").count()).toBe(1);
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    });
  });

  test.each(
    SCREENS.filter(({ name }) => ["thread", "artifacts", "editor", "context", "first"].includes(name)),
  )("[PSC3] $name never scrolls sideways", async (screen) => {
    const page = await opened(screen);
    for (const width of [2560, 1920, 1440, 1280, 1279, 1024, 880, 879, 640, 639, 390, 360]) {
      await page.setViewportSize({ width, height: 800 });
      const wider = () =>
        page.evaluate(() => [document.documentElement.scrollWidth, document.body.scrollWidth, innerWidth]);
      await expect.poll(wider, { message: `at ${width}` }).toEqual([width, width, width]);
    }
  });
});
