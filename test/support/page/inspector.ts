import type { Page } from "playwright-core";
import type { Manifest } from "../../../src/protocol/index.js";
import type { ServerTurn } from "../model-server/script.js";
import type { RunScene } from "../runs.js";

/** The address of a thread, or of something of it. */
export function threadPath({ workspace_id }: RunScene, thread_id: string, tail = ""): string {
  return `/w/${workspace_id}/thread/${thread_id}${tail}`;
}

/** A turn of one text for which the provider counts tokens. */
export const counted = (text: string, input: number, output = 7): ServerTurn => ({
  steps: [{ text }, { usage: { input, output } }],
});

export interface ShownRow {
  readonly id: string;
  readonly title: string;
  readonly tokens: number;
  readonly source: string;
}

/** The rows of the list as they stand. */
export function shownRows(page: Page): Promise<ShownRow[]> {
  return page.locator(".insp .sec[data-section]").evaluateAll((rows) =>
    rows.map((row) => {
      const text = (of: string) => row.querySelector(of)?.textContent?.trim() ?? "";
      return {
        id: row.getAttribute("data-section") ?? "",
        title: text(".h"),
        tokens: Number(text(".tok").replace(/[^\d]/g, "")),
        source: text(".src"),
      };
    }),
  );
}

/** What the rows must say by the manifest: its sections, the definitions, the history. */
export function tokensOf({ sections, history, window, tools }: Manifest): Record<string, number> {
  const listed = sections.map(({ id, tokens_estimate }) => [id, tokens_estimate] as const);
  const sum = listed.reduce((all, [, tokens]) => all + tokens, history.tokens_estimate);
  const rest = window.tokens_estimate - sum;
  const offered = tools.some((tool) => tool.offered);
  return Object.fromEntries([
    ...listed,
    ...(offered ? [["+definitions", rest] as const] : []),
    ["+history", history.tokens_estimate + (offered ? 0 : rest)] as const,
  ]);
}

/** The texts of elements, to the character. */
export function textsOf(page: Page, selector: string): Promise<string[]> {
  return page.locator(selector).evaluateAll((found) => found.map(({ textContent }) => textContent ?? ""));
}
