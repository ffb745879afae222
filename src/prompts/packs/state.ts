import { canonicalJson, sha256 } from "../../base/index.js";
import { isStorableText, type PackState, type PromptSnapshot } from "../../protocol/index.js";
import { promptPacks, type Unit, workspaces } from "../../store/index.js";
import type { SyncStage } from "../errors.js";
import type { WaitedRun } from "./events.js";

/** What a workspace's journal says of one pack. It is JSON; its hash stands in every event of the pack. */
export interface PackRecord {
  readonly pack: string;
  readonly active?: PromptSnapshot;
  readonly pending?: PromptSnapshot;
  /** An apply that was asked for; one that waits has the runs it waits for. */
  readonly apply?: { readonly mode: "next_run" | "when_idle"; readonly waits_for: readonly WaitedRun[] };
  /** Why the last sync failed. */
  readonly error?: { readonly stage: SyncStage; readonly reason: string; readonly at: number };
  /** The sync that was asked for last and has no answer yet. */
  readonly syncing?: string;
}

export function recordText(record: PackRecord): string {
  return canonicalJson(record);
}

export function recordHash(record: PackRecord): string {
  return sha256(recordText(record));
}

/** Settings of a thread may name anything: what no store can hold is a pack to which nothing happened. */
export function* readRecord(workspace_id: string, pack: string): Unit<PackRecord> {
  const row = isStorableText(pack) ? yield* promptPacks.findPack(workspace_id, pack) : undefined;
  return row ? (JSON.parse(row.state) as PackRecord) : { pack };
}

/** A pack as clients see it. */
export function recordToWire({ pack, active, pending, apply, error }: PackRecord): PackState {
  return {
    pack,
    ...(active && { active }),
    ...(pending && { pending }),
    ...(apply?.mode === "when_idle" && { apply: apply.mode }),
    ...(error && { error }),
  };
}

/** The active snapshots of some packs, by name; one that has none is left out. A workspace that is gone has none. */
export function* loadActivePacks(
  workspace_id: string,
  packs: readonly string[],
): Unit<Map<string, PromptSnapshot>> {
  const found = new Map<string, PromptSnapshot>();
  if (packs.length === 0 || !(yield* workspaces.findWorkspace(workspace_id))) return found;
  for (const pack of new Set(packs)) {
    const { active } = yield* readRecord(workspace_id, pack);
    if (active) found.set(pack, active);
  }
  return found;
}
