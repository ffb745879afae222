import { runs, type Unit, workspaces } from "../../store/index.js";
import type { PromptsDeps } from "../deps.js";
import { applyNow } from "./apply.js";
import type { WaitedRun } from "./events.js";
import { readRecord } from "./state.js";
import type { PackKey } from "./turns.js";

interface OfThread {
  readonly workspace_id: string;
  readonly thread_id: string;
}

/** Called after a run of a thread has ended: applies what waited for it. Never throws; what fails is reported. */
export async function runEnded(deps: PromptsDeps, ended: OfThread): Promise<void> {
  await settleAll(
    deps,
    (run) => run.workspace_id === ended.workspace_id && run.thread_id === ended.thread_id,
  );
}

/** At start-up: what waited for runs that ended with the program, or whose end was never told, is applied. */
export async function applyWaiting(deps: PromptsDeps): Promise<void> {
  await settleAll(deps, () => true);
}

async function settleAll(deps: PromptsDeps, concerns: (run: WaitedRun) => boolean): Promise<void> {
  try {
    for (const key of await deps.packs.waiting()) {
      await deps.packs.run(key, () => settle(deps, key, concerns)).catch((error) => failed(deps, error));
    }
  } catch (error) {
    failed(deps, error);
  }
}

async function settle(deps: PromptsDeps, key: PackKey, concerns: (run: WaitedRun) => boolean): Promise<void> {
  const { apply } = await deps.store.read(() => readRecord(key.workspace_id, key.pack));
  if (apply && !apply.waits_for.some(concerns)) return;
  const waits = await deps.store.write({ key: key.workspace_id }, () => applyIfIdle(deps, key));
  if (!waits) deps.packs.waitsNoMore(key);
}

/** True when it goes on waiting. */
function* applyIfIdle(deps: PromptsDeps, key: PackKey): Unit<boolean> {
  if (!(yield* workspaces.lockWorkspace(key.workspace_id))) return false;
  const { apply, pending } = yield* readRecord(key.workspace_id, key.pack);
  if (!apply || !pending) return false;
  for (const { run_id } of apply.waits_for) {
    const run = yield* runs.findRun(run_id);
    if (run && UNDER_WAY.has(run.status)) return true;
  }
  yield* applyNow(deps, key, pending.root_hash);
  return false;
}

const UNDER_WAY = new Set(["running", "waiting"]);

function failed(deps: PromptsDeps, error: unknown): void {
  deps.report(error, "a prompt pack that waited for a run could not be applied");
}
