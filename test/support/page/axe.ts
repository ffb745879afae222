import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults, Result, RunOptions } from "axe-core";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** All other rules say the same in both themes: they are asked in the light one, and take most of the time. */
const ABOUT_COLOURS = { type: "rule" as const, values: ["color-contrast", "link-in-text-block"] };
const BRIEF: RunOptions = { resultTypes: ["violations"] };

/** A selector, or what is looked at and what is left out. */
type Part = string | { readonly include?: string[][]; readonly exclude?: string[] };

/** What axe finds in a part of the page as it is now, each with the first elements it found it in. */
export async function axeFinds(page: Page, part?: Part): Promise<string[]> {
  if (await page.evaluate(() => !("axe" in globalThis))) await page.evaluate(AXE);
  const isDark = await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches);
  const violations: Result[] = await page.evaluate(
    async ({ within, options }) => {
      type Run = (within: unknown, options: RunOptions) => Promise<AxeResults>;
      const { axe } = globalThis as unknown as { axe: { run: Run } };
      return (await axe.run(within ?? document, options)).violations;
    },
    { within: part, options: isDark ? { ...BRIEF, runOnly: ABOUT_COLOURS } : BRIEF },
  );
  return violations.map(({ id, impact, nodes }) => {
    const where = nodes
      .slice(0, 3)
      .map(({ html, failureSummary }) => `${html.slice(0, 160)} ${failureSummary}`);
    return `${impact} ${id} (${nodes.length}): ${where.join(" | ")}`;
  });
}
