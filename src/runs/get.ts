import type { ParsedParams, Result } from "../protocol/index.js";
import type { RunsDeps } from "./deps.js";
import { requireRun } from "./find.js";
import { runsToWire } from "./wire.js";

export async function getRun(deps: RunsDeps, params: ParsedParams<"run/get">): Promise<Result<"run/get">> {
  return deps.store.read(function* () {
    const [run] = yield* runsToWire([yield* requireRun(params)]);
    return { run } as Result<"run/get">;
  });
}
