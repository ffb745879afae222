import { lstatSync, statSync } from "node:fs";

export const NO_FILE = "none";

/**
 * Tells one state of a file from another without reading it, also where it is a link and what it leads to was changed.
 * Clocks of file systems are coarse: a file that was changed a moment ago may change again and look the same.
 */
export function stampOf(file: string): string {
  try {
    return [lstatSync(file, { bigint: true }), statSync(file, { bigint: true })]
      .map(({ dev, ino, size, mtimeNs, ctimeNs }) => [dev, ino, size, mtimeNs, ctimeNs].join(":"))
      .join(" ");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A link that leads nowhere is not the same as no file.
    if (code === "ENOENT") return isLink(file) ? `link:${code}` : NO_FILE;
    // A directory that is a file now, a loop of links, a disk that is away: whoever looks again and again must not end of it.
    return `unreadable:${code}`;
  }
}

function isLink(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** How long a file must have rested until its stamp tells it from any other state. */
export const STAMP_REST_MS = 100;

export function restedAt(file: string, now: number): boolean {
  try {
    return now - Number(statSync(file, { bigint: true }).ctimeMs) > STAMP_REST_MS;
  } catch {
    return false;
  }
}
