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
    // A link that leads nowhere is not the same as no file.
    const { code } = error as NodeJS.ErrnoException;
    return lstatSync(file, { throwIfNoEntry: false }) ? `link:${code}` : NO_FILE;
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
