import type { ParsedParams, Result, ThreadConfig } from "../../protocol/index.js";
import { promptPacks, type Unit } from "../../store/index.js";
import { type Call, requireWorkspace } from "../../tree/index.js";
import type { PromptsDeps } from "../deps.js";
import type { WaitedRun } from "./events.js";
import { recordEvent } from "./record.js";
import { type PackRecord, readRecord, recordToWire } from "./state.js";
import { defaultPackOf, placeOfPacks } from "./target.js";
import type { PackKey } from "./turns.js";

type ApplyParams = ParsedParams<"prompt/apply">;

/** Makes a pack's pending snapshot the active one. A run that is admitted already keeps what it was frozen with. */
export async function applyPrompt(
  deps: PromptsDeps,
  params: ApplyParams,
  call: Call,
): Promise<Result<"prompt/apply">> {
  const { workspace, config } = await deps.store.read(() => placeOfPacks(params));
  const pack = params.pack ?? config?.default_prompt_pack ?? (await defaultPackOf(deps, workspace));
  const key = { workspace_id: workspace.id, pack };
  return deps.packs.run(key, async () => {
    deps.packs.mayWait(key);
    const asked = deps.store.write({ key: workspace.id, origin: call.origin }, () =>
      apply(deps, key, params),
    );
    const { record, applied } = await asked;
    if (record.apply === undefined) deps.packs.waitsNoMore(key);
    return { ...resultOf(record), applied };
  });
}

interface Applied {
  readonly record: PackRecord;
  readonly applied: boolean;
}

function* apply(deps: PromptsDeps, key: PackKey, params: ApplyParams): Unit<Applied> {
  yield* requireWorkspace(key.workspace_id);
  const before = yield* readRecord(key.workspace_id, key.pack);
  if (!before.pending) return { record: before, applied: false };
  const mode = params.mode ?? "next_run";
  const waits_for = mode === "when_idle" ? yield* underWay(key, params) : [];
  const at = deps.clock.now();
  const type = "prompt.apply_requested";
  const asked = yield* recordEvent(deps, key.workspace_id, { type, at, pack: key.pack, mode, waits_for });
  if (waits_for.length > 0) return { record: asked.record, applied: false };
  return { record: yield* applyNow(deps, key, before.pending.root_hash), applied: true };
}

export function* applyNow(deps: PromptsDeps, key: PackKey, root_hash: string): Unit<PackRecord> {
  const event = { type: "prompt.applied", at: deps.clock.now(), pack: key.pack, root_hash } as const;
  return (yield* recordEvent(deps, key.workspace_id, event)).record;
}

/** The run of the thread that was named, else those of every thread that uses the pack. */
function* underWay(key: PackKey, { workspace_id, thread_id }: ApplyParams): Unit<WaitedRun[]> {
  const found = (yield* promptPacks.runsUnderWay({})).filter((run) =>
    thread_id === undefined
      ? usesPack(run, key)
      : run.workspace_id === workspace_id && run.thread_id === thread_id,
  );
  return found.map((run) => ({ run_id: run.id, workspace_id: run.workspace_id, thread_id: run.thread_id }));
}

function usesPack({ workspace_id, config: text }: promptPacks.RunUnderWay, key: PackKey): boolean {
  const config = JSON.parse(text ?? "{}") as ThreadConfig;
  const bound = config.workspace_binding?.workspace ?? workspace_id;
  return bound === key.workspace_id && config.default_prompt_pack === key.pack;
}

function resultOf(record: PackRecord): Omit<Result<"prompt/apply">, "applied"> {
  const { pack, active, pending, apply: waits } = recordToWire(record);
  return {
    pack,
    ...(waits !== undefined && { waiting: true }),
    ...(active && { active }),
    ...(pending && { pending }),
  };
}
