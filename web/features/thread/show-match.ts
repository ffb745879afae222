import type { Sought } from "../../state/sought.js";
import { drawnMatches } from "./find-paint.js";

/** What stands in a cut part is drawn a few frames after it is looked for. */
const FRAMES_TO_OPEN = 8;
const MOST_FRAMES = 40;
/** The field of the search lies over the top. */
const TOP_ROOM = 56;
const BOTTOM_ROOM = 24;

/** Scrolls to a match in a message that is drawn, until it stands still in view; where none is drawn, nothing moves. */
export async function showMatch(box: HTMLElement, { words, message, match }: Sought): Promise<void> {
  if (message === undefined || words.trim() === "") return;
  let still = 0;
  for (let look = 0; look < MOST_FRAMES && still < 2; look++) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const range = drawnMatches(message, words).at(match);
    if (!range && look >= FRAMES_TO_OPEN) return;
    still = range && look > 1 && !bring(box, range) ? still + 1 : 0;
  }
}

/** Whether anything had to be scrolled. */
function bring(box: HTMLElement, range: Range): boolean {
  const around = ancestorsOf(range.startContainer.parentElement, box).filter(
    (each) => each.scrollHeight > each.clientHeight && getComputedStyle(each).overflowY !== "visible",
  );
  return around.map((each) => center(each, range, each === box)).includes(true);
}

function ancestorsOf(element: HTMLElement | null, box: HTMLElement): HTMLElement[] {
  if (!element || element === box) return [box];
  return [element, ...ancestorsOf(element.parentElement, box)];
}

function center(scrolls: HTMLElement, range: Range, isBox: boolean): boolean {
  const { top, bottom } = range.getBoundingClientRect();
  const view = scrolls.getBoundingClientRect();
  const [above, below] = isBox ? [TOP_ROOM, BOTTOM_ROOM] : [0, 0];
  if (top >= view.top + above && bottom <= view.bottom - below) return false;
  const before = scrolls.scrollTop;
  scrolls.scrollTop += (top + bottom) / 2 - (view.top + view.bottom) / 2;
  return scrolls.scrollTop !== before;
}
