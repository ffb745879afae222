import type { ParsedParams, Result } from "../protocol/index.js";
import type { RunsDeps } from "./deps.js";
import { findRun } from "./find.js";
import { runToWire } from "./wire.js";

export async function getRun(deps: RunsDeps, params: ParsedParams<"run/get">): Promise<Result<"run/get">> {
  return { run: runToWire(await findRun(deps, params)) };
}
