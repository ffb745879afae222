import { describe, expect, inject, test } from "vitest";
import { axeFinds } from "../support/page/axe.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { cutOff } from "../support/page/cut.js";
import { DESK, PHONE, returning, SCREENS, type Screen } from "../support/page/harbor-screens.js";
import { harborStage } from "../support/page/harbor-stage.js";

/** The others have a screen of their own on a phone. */
const ALSO_NARROW = new Set(["error", "first", "settings", "empty"]);

describe.skipIf(inject("chromium") === "")("every screen [browser]", () => {
  const stage = harborStage();
  const browser = pageBrowser();

  const opened = async (screen: Screen) => {
    const harbor = stage.harbor();
    const gateway = stage.gateway();
    const page = await browser.open(gateway, screen.path(harbor), {
      viewport: screen.phone ? PHONE : DESK,
      ...returning(gateway.url, harbor),
      ...(screen.tolerates && { tolerates: screen.tolerates }),
    });
    await screen.show(page, harbor);
    return page;
  };

  // Each is opened once and then looked at in every way: to bring one about takes longer than to look at it.
  test.each(SCREENS)(
    "[PSC2] [PSC4] $name: in light and dark it shows what it is there for, and axe finds nothing",
    async (screen) => {
      const page = await opened(screen);
      await page.waitForLoadState("networkidle");
      await expect.poll(() => page.getByRole("main").count()).toBe(1);
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await shot(page, `screen-${screen.name}-${colorScheme}`);
        expect(await axeFinds(page), colorScheme).toEqual([]);
      }
      if (ALSO_NARROW.has(screen.name)) {
        await page.setViewportSize(PHONE);
        expect(await axeFinds(page), "at 390").toEqual([]);
      }
    },
  );

  test.each(
    SCREENS.filter(({ name }) => ["thread", "artifacts", "editor", "context", "first"].includes(name)),
  )("[PSC3] [PSC6] $name never scrolls sideways, and nothing in it is cut", async (screen) => {
    const page = await opened(screen);
    for (const width of [2560, 1920, 1440, 1280, 1279, 1024, 880, 879, 640, 639, 390, 360, 320]) {
      await page.setViewportSize({ width, height: 800 });
      const wider = () =>
        page.evaluate(() => [document.documentElement.scrollWidth, document.body.scrollWidth, innerWidth]);
      await expect.poll(wider, { message: `at ${width}` }).toEqual([width, width, width]);
      await expect.poll(() => cutOff(page), { message: `at ${width}` }).toEqual([]);
    }
  });
});
