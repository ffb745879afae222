import { VERSION } from "../../../base/index.js";
import type { Check } from "./check.js";

/** As `engines` in package.json has it. */
export function checkNode(version = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const fits = (major === 20 && minor >= 19) || (major === 22 && minor >= 14) || major >= 24;
  const detail = `Node.js ${version}, Heddle ${VERSION}`;
  return fits
    ? { name: "runtime", verdict: "ok", detail }
    : {
        name: "runtime",
        verdict: "broken",
        detail,
        advice: "Heddle needs Node.js 20.19, 22.14 or 24 and later",
      };
}

export async function checkSqlite(): Promise<Check> {
  try {
    const { sqliteEngine } = await import("../../../store/index.js");
    return { name: "sqlite", verdict: "ok", detail: sqliteEngine() };
  } catch (error) {
    return {
      name: "sqlite",
      verdict: "broken",
      detail: `no SQLite can be loaded: ${(error as Error).message}`,
      advice: "install Heddle again on this machine, or use Node.js 22.14 or later, which brings its own",
    };
  }
}
