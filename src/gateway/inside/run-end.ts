import type { RunsDeps } from "../../runs/index.js";
import { findRun } from "../../runs/index.js";
import type { RunRow } from "../../store/index.js";

/** The run, once it has ended; undefined when the signal fires first. */
export async function runEnd(
  deps: Pick<RunsDeps, "ends" | "store">,
  run_id: string,
  signal: AbortSignal,
): Promise<RunRow | undefined> {
  let stop = () => {};
  const ended = new Promise<RunRow | undefined>((resolve) => {
    const unlisten = deps.ends.on((row) => row.id === run_id && resolve(row));
    const leave = () => resolve(undefined);
    signal.addEventListener("abort", leave, { once: true });
    stop = () => {
      unlisten();
      signal.removeEventListener("abort", leave);
    };
    if (signal.aborted) leave();
  });
  try {
    // After that: whatever ends from now on is heard of.
    const row = await findRun(deps, { run_id });
    return row.last_seq === null ? await ended : row;
  } finally {
    stop();
  }
}
