import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { pageBrowser } from "../support/page/browser.js";
import { DESK, PHONE, returning, SCREENS } from "../support/page/harbor-screens.js";
import { harborStage } from "../support/page/harbor-stage.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds, each with the first elements it found it in. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  return violations.map(({ id, impact, nodes }) => {
    const where = nodes.slice(0, 3).map(({ html }) => html.slice(0, 160));
    return `${impact} ${id} (${nodes.length}): ${where.join(" | ")}`;
  });
}

describe.skipIf(inject("chromium") === "")("accessibility of every screen [browser]", () => {
  const stage = harborStage({ archived: 20 });
  const browser = pageBrowser();

  const check = async (name: string, options: object) => {
    const screen = SCREENS.find((each) => each.name === name) as (typeof SCREENS)[number];
    const harbor = stage.harbor();
    const gateway = stage.gateway();
    const page = await browser.open(gateway, screen.path(harbor), {
      viewport: screen.phone ? PHONE : DESK,
      ...returning(gateway.url, harbor),
      ...(screen.tolerates && { tolerates: screen.tolerates }),
      ...options,
    });
    await screen.show(page, harbor);
    expect(await findings(page)).toEqual([]);
  };

  describe.each(["light", "dark"] as const)("%s", (colorScheme) => {
    test.each(SCREENS.map(({ name }) => name))("[PSC4] %s", (name) => check(name, { colorScheme }));
  });

  const NARROW = ["error", "first", "settings", "empty"];
  test.each(NARROW)("[PSC4] %s at 390", (name) => check(name, { viewport: PHONE }));
});
