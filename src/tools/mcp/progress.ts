import { clipped } from "../quoted.js";

const MOST_OF_ONE = 2 * 1024;
const MOST_OF_ALL = 64 * 1024;

/** What a server says of its progress, as far as anybody reads it: one that never stops talking must cost nobody memory. */
export function boundedProgress(show: (text: string) => void): (text: string) => void {
  let left = MOST_OF_ALL;
  return (text) => {
    if (left <= 0) return;
    const shown = `${clipped(text.trimEnd(), MOST_OF_ONE)}\n`;
    left -= shown.length;
    show(left > 0 ? shown : `${shown}(what it says of its progress from here on is not shown)\n`);
  };
}
