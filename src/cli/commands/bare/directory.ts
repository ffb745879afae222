import { existsSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { isThreadId } from "../../../atsf/index.js";
import { cliError } from "../../errors.js";
import { asArgument } from "../agents-md/scope.js";

/** The directory that was named, links resolved. */
export async function directoryGiven(given = "."): Promise<string> {
  const found = await stat(given).catch(() => undefined);
  if (found?.isDirectory()) return realpath(given);
  const told = found ? "is not a directory" : "does not exist";
  // Someone who means a thread of the current directory names it where the directory should be.
  const here = !found && isThreadId(given) && existsSync(join(".agent", "threads", given));
  const hint = here ? ` For a thread of this directory: heddle atsf show . ${given}` : "";
  throw cliError({ kind: "file.unreadable", path: given }, `${asArgument(given)} ${told}.${hint}`);
}
