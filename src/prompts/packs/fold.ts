import type { JournalEvent } from "../../journal/index.js";
import { type PackEffect, type PacksState, reducePacks } from "./reduce.js";
import { recordHash } from "./state.js";

export interface FoldedPacks {
  /** After the last event that could be folded. */
  readonly state: PacksState;
  /** Everything the events led to, in order. Nothing of it is done again. */
  readonly effects: readonly PackEffect[];
  /** The first event that does not follow from those before it. */
  readonly problem?: { readonly seq: number; readonly message: string };
}

/** Folds a workspace's journal from its beginning, and holds every state against the hash that was recorded with it. */
export function foldPacks(workspace_id: string, events: readonly JournalEvent[]): FoldedPacks {
  let state: PacksState = new Map();
  const effects: PackEffect[] = [];
  for (const event of events) {
    const { seq } = event;
    const reduced = reducePacks(state, event, { workspace_id, seq });
    if ("rejected" in reduced) return { state, effects, problem: { seq, message: reduced.rejected } };
    const record = reduced.state.get(String(event.pack));
    if (!record || recordHash(record) !== event.state)
      return {
        state,
        effects,
        problem: { seq, message: "the state after it is not the one that was recorded" },
      };
    state = reduced.state;
    effects.push(...reduced.effects);
  }
  return { state, effects };
}
