import { siblings as repo, type Unit } from "../store/index.js";
import { treeError } from "./errors.js";

export interface Place {
  readonly siblings: repo.Siblings;
  /** The sibling it comes after; null: first; undefined: `otherwise`. */
  readonly after_id: string | null | undefined;
  readonly otherwise: "first" | "last";
  /** The one that is being placed: it is no neighbour of itself. */
  readonly id: string;
}

export interface Placed {
  readonly rank: number;
  /** Neighbours had to be numbered anew: their ranks changed too. */
  readonly renumbered: boolean;
}

/** Finds a rank for a position. Ranks are whole numbers with room between; when it is used up, siblings are spread out. */
export function* findRank(place: Place): Unit<Placed> {
  const rank = yield* rankAt(place);
  if (rank !== undefined) return { rank, renumbered: false };
  yield* repo.renumber(place.siblings);
  return { rank: (yield* rankAt(place)) as number, renumbered: true };
}

function* rankAt({ siblings, after_id, otherwise, id }: Place): Unit<number | undefined> {
  const edge = after_id === null ? "first" : after_id === undefined ? otherwise : undefined;
  if (edge) {
    const rank = yield* repo.edgeRank(siblings, edge);
    if (rank === undefined) return 0;
    return edge === "first" ? rank - repo.RANK_GAP : rank + repo.RANK_GAP;
  }
  const before = after_id === id ? undefined : yield* repo.rankOf(siblings, after_id as string);
  if (before === undefined) {
    throw treeError(
      { kind: "tree.not_a_sibling", after_id: after_id as string },
      `after_id ${after_id} does not stand in that folder.`,
    );
  }
  const next = yield* repo.rankAfter(siblings, before, id);
  if (next === undefined) return before + repo.RANK_GAP;
  const middle = Math.floor((before + next) / 2);
  return middle === before ? undefined : middle;
}
