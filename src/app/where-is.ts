import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** Where a program is that would be started by this command; undefined when it is not there, or can't be executed. */
export function whereIs(command: string, path: string): string | undefined {
  if (/[\\/]/.test(command)) return isProgram(command) ? command : undefined;
  return (
    path
      .split(delimiter)
      // A relative entry means another directory for everyone.
      .filter(isAbsolute)
      .map((directory) => join(directory, command))
      .find(isProgram)
  );
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
