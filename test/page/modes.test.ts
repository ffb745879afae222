import type { Locator, Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { type OpenOptions, pageBrowser, shot } from "../support/page/browser.js";
import { cutOff } from "../support/page/cut.js";
import { returning, SCREENS } from "../support/page/harbor-screens.js";
import { harborStage } from "../support/page/harbor-stage.js";

const RATIO_OF_TEXT = 7;
const RATIO_OF_SHAPES = 3;

/** How much the colour of an element, or of what stands before or after it, differs from another colour on the screen. */
function contrast(
  of: Locator,
  property: string,
  { part, ground }: { part?: "::before" | "::after"; ground: string },
): Promise<number> {
  return of.evaluate(
    (element, [name, pseudo, behind]) => {
      const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      const light = (colour: string) => {
        if (!canvas) return 0;
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const [r = 0, g = 0, b = 0] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) => {
          const part = value / 255;
          return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const own = light(getComputedStyle(element, pseudo).getPropertyValue(name as string));
      const other = light(
        getComputedStyle(document.querySelector(behind as string) ?? document.body).backgroundColor,
      );
      return (Math.max(own, other) + 0.05) / (Math.min(own, other) + 0.05);
    },
    [property, part, ground] as const,
  );
}

const outlined = (of: Locator) =>
  of.evaluate((element) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 1;
  });

/** How far the second line of a text begins behind the first, in characters. */
const hangOf = (of: Locator) =>
  of.evaluate((element) => {
    const range = document.createRange();
    const texts = [...element.childNodes].filter((node) => !(node instanceof Element && node.matches(".sr")));
    range.setStartBefore(texts[0] as Node);
    range.setEndAfter(texts.at(-1) as Node);
    const lines = [...range.getClientRects()].filter(({ width }) => width > 1);
    const probe = document.createElement("span");
    probe.textContent = "0".repeat(10);
    probe.style.cssText = "position:absolute;padding:0;text-indent:0";
    element.append(probe);
    const character = probe.getBoundingClientRect().width / 10;
    probe.remove();
    const [first, second] = [lines[0], lines.find(({ top }) => top > (lines[0]?.top ?? 0) + 4)];
    return first && second ? Math.round((second.left - first.left) / character) : undefined;
  });

describe.skipIf(inject("chromium") === "")("as somebody needs it [browser]", () => {
  const stage = harborStage({ archived: 4 });
  const browser = pageBrowser();

  const opened = async (name: string, options: OpenOptions = {}): Promise<Page> => {
    const screen = SCREENS.find((each) => each.name === name);
    if (!screen) throw new Error(`There is no screen ${name}.`);
    const [harbor, gateway] = [stage.harbor(), stage.gateway()];
    const page = await browser.open(gateway, screen.path(harbor), {
      ...returning(gateway.url, harbor),
      ...options,
    });
    await screen.show(page, harbor);
    return page;
  };

  test.each(["light", "dark"] as const)(
    "[PSC7] in forced colours, %s, what is selected, on, marked or in focus is still seen",
    async (colorScheme) => {
      const page = await opened("artifacts", { forcedColors: "active", colorScheme });
      const ground = "body";
      const rows = page.locator(".tr");
      expect(await outlined(rows.and(page.locator(".sel")).first())).toBe(true);
      await expect.poll(() => outlined(page.locator(".items li.sel").first())).toBe(true);
      for (const mark of [".st-run", ".st-ask", ".st-new"]) {
        const shape = rows.locator(mark).first();
        const property = mark === ".st-run" ? "border-top-color" : "background-color";
        expect(await contrast(shape, property, { part: "::before", ground }), mark).toBeGreaterThan(
          RATIO_OF_SHAPES,
        );
      }
      for (const shape of [rows.locator(".tick").first(), page.locator(".side-foot .dot")])
        expect(await contrast(shape, "background-color", { ground })).toBeGreaterThan(RATIO_OF_SHAPES);
      const tab = page.locator(".insp [role=tab][aria-selected=true]");
      expect(await contrast(tab, "background-color", { part: "::after", ground })).toBeGreaterThan(
        RATIO_OF_SHAPES,
      );
      await rows.first().focus();
      await page.keyboard.press("Shift+F10");
      await expect.poll(() => outlined(page.locator(".menu-item:focus"))).toBe(true);
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Search or run" }).fill("webh");
      await page.locator(".pal mark").first().waitFor();
      await expect.poll(() => outlined(page.locator(".pal .o.sel"))).toBe(true);
      expect(await contrast(page.locator(".pal mark").first(), "color", { ground })).toBeGreaterThan(
        RATIO_OF_TEXT,
      );
      await page.keyboard.press("Escape");
      await page.goto(`${stage.gateway().url}/w/${stage.harbor().ws}/settings`);
      const keys = page.getByRole("switch", { name: "Single keys" });
      await keys.waitFor();
      expect(await outlined(page.locator(".seg [aria-pressed=true]").first())).toBe(true);
      const [on, off] = [keys.locator(".toggle"), page.locator(".toggle:not(.on)").first()];
      expect(await contrast(on, "background-color", { ground })).toBeGreaterThan(RATIO_OF_SHAPES);
      expect(await contrast(off, "border-top-color", { ground })).toBeGreaterThan(RATIO_OF_SHAPES);
      await page.getByRole("button", { name: "Show keys" }).focus();
      expect(await outlined(page.locator(":focus"))).toBe(true);
      await shot(page, `mode-forced-settings-${colorScheme}`);
    },
  );

  test.each(["light", "dark"] as const)(
    "[PSC8] who wants more contrast, %s, reads all text and sees all lines well",
    async (colorScheme) => {
      const page = await opened("thread", { contrast: "more", colorScheme });
      for (const text of [".side .tr .t", ".side-foot > .cut", ".sec .src", ".turn-head", ".insp .small"])
        for (const each of (await page.locator(text).all()).slice(0, 3)) {
          const ground = text.startsWith(".turn") ? ".main" : ".side";
          expect(await contrast(each, "color", { ground }), text).toBeGreaterThanOrEqual(RATIO_OF_TEXT);
        }
      const line = page.locator(".main > .bar");
      expect(await contrast(line, "border-bottom-color", { ground: ".main" })).toBeGreaterThan(
        RATIO_OF_SHAPES,
      );
      await shot(page, `mode-contrast-${colorScheme}`);
    },
  );

  test("[PSC6] at 320 pixels, which is 1280 zoomed to 400 %, nothing is cut or scrolls sideways, and what there is can be used", async () => {
    const zoomed = { viewport: { width: 320, height: 640 } };
    for (const name of ["settings", "empty", "conflict"]) {
      const page = await opened(name);
      await page.setViewportSize(zoomed.viewport);
      await expect.poll(() => cutOff(page), { message: name }).toEqual([]);
      await shot(page, `mode-zoom-${name}`);
      await page.context().close();
    }
    const page = await browser.open(stage.gateway(), `/w/${stage.harbor().ws}`, zoomed);
    await page.getByRole("treeitem", { name: /^Decisions/ }).click();
    await page.getByRole("textbox", { name: /^Message/ }).fill("Zoomed.");
    await page.getByRole("button", { name: "Send", exact: true }).click({ trial: true });
    await page.getByRole("button", { name: "Threads" }).click();
    await page.getByRole("treeitem", { name: /^Decisions/ }).waitFor();
  });

  test("[PED54] a list item that wraps goes on below its text: in what is inherited, in a difference, in a conflict", async () => {
    const editor = await opened("editor");
    expect(await hangOf(editor.locator(".inh > span", { hasText: "A change that a port" }))).toBe(2);
    const changed = editor.locator(".doc-diff .a > .hang", { hasText: "Every webhook handler is" });
    expect(await hangOf(changed.first())).toBe(2);
    const conflict = await opened("conflict");
    for (const column of [".mine", ".merged-shown", ".theirs"])
      expect(await hangOf(conflict.locator(`${column} p`, { hasText: "Every control works" })), column).toBe(
        2,
      );
  });
});
