import { isDeepStrictEqual } from "node:util";
import { unixSeconds } from "../../base/index.js";
import { appendEvents, nextEvent, readHead } from "../../journal/index.js";
import { notifications, promptPacks, type Unit } from "../../store/index.js";
import type { PromptsDeps } from "../deps.js";
import type { PackEvent } from "./events.js";
import { type PackEffect, reducePacks } from "./reduce.js";
import { type PackRecord, readRecord, recordHash, recordText, recordToWire } from "./state.js";

export interface Recorded {
  readonly record: PackRecord;
  readonly effects: readonly PackEffect[];
}

/**
 * Journals what happened to a pack, with the state after it in the same unit; clients are told when they can see a
 * difference. The caller has the pack's turn, and the unit the workspace's.
 */
export function* recordEvent(
  deps: Pick<PromptsDeps, "clock">,
  workspace_id: string,
  event: PackEvent,
): Unit<Recorded> {
  const key = { workspace_id, thread_id: "" };
  const { pack } = event;
  const before = yield* readRecord(workspace_id, pack);
  const head = yield* readHead(key);
  const reduced = reducePacks(new Map([[pack, before]]), event, { workspace_id, seq: head.seq + 1 });
  if ("rejected" in reduced) throw new Error(`${event.type} of the prompt pack ${pack}: ${reduced.rejected}`);
  const record = reduced.state.get(pack) as PackRecord;
  yield* appendEvents(key, [nextEvent(head, event, recordHash(record))]);
  const now = unixSeconds(deps.clock);
  yield* promptPacks.savePack({ workspace_id, pack, state: recordText(record), updated_at: now });
  yield* announce(workspace_id, { before, record, now });
  return { record, effects: reduced.effects };
}

function* announce(
  workspace_id: string,
  { before, record, now }: { before: PackRecord; record: PackRecord; now: number },
): Unit<void> {
  const state = recordToWire(record);
  if (isDeepStrictEqual(state, recordToWire(before))) return;
  yield* notifications.announce(workspace_id, now, [
    { method: "prompt/changed", params: { workspace_id, pack: record.pack, state } },
  ]);
}
