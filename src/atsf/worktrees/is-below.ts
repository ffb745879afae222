import { isAbsolute, relative, sep } from "node:path";

/** Whether a path is a directory or stands below it, by their names alone. */
export function isBelow(directory: string, path: string): boolean {
  const way = relative(directory, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
