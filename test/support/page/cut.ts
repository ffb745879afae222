import type { Page } from "playwright-core";

/**
 * What nobody can get to see: words and controls that reach beyond the window, or beyond a part of the page that clips them,
 * where nothing scrolls. What ends in an ellipsis is cut on purpose.
 */
export function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    type Box = { left: number; right: number };
    const SLACK = 1;
    /** What a machine reads keeps its lines, and is scrolled sideways; prose and controls never are. */
    const SIDEWAYS = "pre, .diff, .md-table, .cm-scroller";
    const says = (each: Element) =>
      [...each.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== "",
      );
    const isMeant = (each: Element) =>
      says(each) ||
      each.matches("button, a[href], input, textarea, select, summary, [role=option], [role=treeitem]");
    const isShown = (each: Element) =>
      each.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
      each.closest(".sr, [aria-hidden=true]") === null;
    const outOf = (box: Box, edge: Box) => box.left < edge.left - SLACK || box.right > edge.right + SLACK;
    const clips = (at: Element) => getComputedStyle(at).overflowX !== "visible" && at !== document.body;
    const isFixed = (at: Element) => getComputedStyle(at).position === "fixed";
    /** What it stands in, from the inside out; what floats over the page stands in nothing. */
    const above = (each: Element): Element[] =>
      each.parentElement && !isFixed(each) ? [each.parentElement, ...above(each.parentElement)] : [];
    /** Who takes away what reaches beyond it: its name, `purpose` for an ellipsis, `nobody` for what scrolls. */
    const taker = (at: Element): string => {
      const { overflowX, textOverflow } = getComputedStyle(at);
      if (textOverflow === "ellipsis") return "purpose";
      return /auto|scroll/.test(overflowX) && at.matches(SIDEWAYS) ? "nobody" : at.className || at.tagName;
    };
    const cutBy = (each: Element): string => {
      let seen: Box = each.getBoundingClientRect();
      for (const at of above(each).filter(clips)) {
        const edge = at.getBoundingClientRect();
        const by = outOf(seen, edge) ? taker(at) : "nobody";
        if (by !== "nobody") return by;
        seen = { left: Math.max(seen.left, edge.left), right: Math.min(seen.right, edge.right) };
      }
      return outOf(seen, { left: 0, right: innerWidth }) ? "the window" : "nobody";
    };
    return [...document.body.querySelectorAll("*")]
      .filter((each) => isMeant(each) && isShown(each) && each.getBoundingClientRect().width > 1)
      .map((each) => ({ each, by: cutBy(each) }))
      .filter(({ by }) => by !== "nobody" && by !== "purpose")
      .map(({ each, by }) => {
        const name = each.getAttribute("aria-label") ?? each.textContent?.trim().slice(0, 40);
        return `<${each.tagName.toLowerCase()} class="${each.className}"> ${name}, by ${by}`;
      });
  });
}
