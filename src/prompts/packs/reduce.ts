import { sha256 } from "../../base/index.js";
import { type PackEvent, packEvent } from "./events.js";
import type { PackRecord } from "./state.js";

/** The packs of a workspace by name, as far as anything happened to them. */
export type PacksState = ReadonlyMap<string, PackRecord>;

/** Where an event stands: intent ids are made of it, so they are the same whenever it is folded. */
export interface PackPlace {
  readonly workspace_id: string;
  readonly seq: number;
}

/** To be done once the event that led to it is durable. */
export interface PackEffect {
  readonly intent_id: string;
  readonly kind: "workspace.resolve_prompt";
  readonly pack: string;
  readonly version?: string;
}

export type ReducedPacks =
  | { readonly state: PacksState; readonly effects: readonly PackEffect[] }
  | { readonly rejected: string };

/** Pure: the state after an event and what is to be done then. What does not fit the state is rejected and changes nothing. */
export function reducePacks(state: PacksState, given: object, place: PackPlace): ReducedPacks {
  const parsed = packEvent.safeParse(given);
  if (!parsed.success) return { rejected: "it is no event of a prompt pack" };
  const event = parsed.data;
  const changed = change(state.get(event.pack) ?? { pack: event.pack }, event, place);
  if ("rejected" in changed) return changed;
  const { record, effects = [] } = changed;
  return { state: new Map(state).set(event.pack, record), effects };
}

type Change =
  | { readonly record: PackRecord; readonly effects?: readonly PackEffect[] }
  | { readonly rejected: string };

function change(record: PackRecord, event: PackEvent, place: PackPlace): Change {
  switch (event.type) {
    case "prompt.sync_requested":
      return syncRequested(record, event, place);
    case "prompt.synced":
    case "prompt.unchanged":
    case "prompt.sync_failed":
      if (record.syncing !== event.intent_id) return { rejected: `${event.intent_id} is not open` };
      return answered(record, event);
    case "prompt.apply_requested":
      return applyRequested(record, event);
    case "prompt.applied":
      return applied(record, event);
  }
}

type Of<T extends PackEvent["type"]> = Extract<PackEvent, { type: T }>;

/** One that never got its answer, because the program ended, is superseded: its answer would come too late. */
function syncRequested(record: PackRecord, event: Of<"prompt.sync_requested">, place: PackPlace): Change {
  const { pack, version } = event;
  const intent_id = `int_${sha256(`${place.workspace_id} ${place.seq} 0`).slice(0, 24)}`;
  const effect = {
    intent_id,
    kind: "workspace.resolve_prompt",
    pack,
    ...(version !== undefined && { version }),
  } as const;
  return { record: { ...record, syncing: intent_id }, effects: [effect] };
}

type Answer = Of<"prompt.synced" | "prompt.unchanged" | "prompt.sync_failed">;

function answered({ syncing: _, ...record }: PackRecord, event: Answer): Change {
  if (event.type === "prompt.sync_failed") {
    const { stage, reason, at } = event;
    return { record: { ...record, error: { stage, reason, at: Math.floor(at / 1000) } } };
  }
  const { error: _solved, ...rest } = record;
  return event.type === "prompt.synced" ? synced(rest, event) : unchanged(rest, event);
}

/** A newer snapshot takes the place of one that is pending, also while its apply waits. */
function synced(record: PackRecord, { snapshot }: Of<"prompt.synced">): Change {
  if (snapshot.prompt_pack !== record.pack) return { rejected: "the snapshot is of another pack" };
  if (isKnown(record, snapshot.root_hash)) return { rejected: "the snapshot is not another one" };
  return { record: { ...record, pending: snapshot as NonNullable<PackRecord["pending"]> } };
}

/** Found as it is in use, what was pending is out of date: neither it nor its apply is wanted any more. */
function unchanged(record: PackRecord, { root_hash }: Of<"prompt.unchanged">): Change {
  if (!isKnown(record, root_hash)) return { rejected: "the snapshot is another one" };
  if (record.active?.root_hash !== root_hash) return { record };
  const { pending: _, apply: _moot, ...rest } = record;
  return { record: rest };
}

export function isKnown({ active, pending }: PackRecord, root_hash: string): boolean {
  return active?.root_hash === root_hash || pending?.root_hash === root_hash;
}

function applyRequested(record: PackRecord, event: Of<"prompt.apply_requested">): Change {
  if (!record.pending) return { rejected: "nothing is pending" };
  const { mode, waits_for } = event;
  if (mode === "next_run" && waits_for.length > 0) return { rejected: "the next run waits for no other" };
  return { record: { ...record, apply: { mode, waits_for } } };
}

function applied(record: PackRecord, { root_hash }: Of<"prompt.applied">): Change {
  const { pending, apply, ...rest } = record;
  if (!apply) return { rejected: "no apply was asked for" };
  if (pending?.root_hash !== root_hash) return { rejected: "the snapshot is not the pending one" };
  return { record: { ...rest, active: pending } };
}
