import type { Kind } from "./kinds.js";

/** A guard of the gateway or the page, and what stands in its place when it is planted away. */
export interface Hole {
  readonly file: string;
  /** As it stands in the source, once. */
  readonly guard: string;
  readonly hole: string;
}

/** A hole that the attacks of its kind must find. */
export interface Plant {
  /** What somebody could do then. */
  readonly name: string;
  readonly kind: Kind;
  readonly holes: readonly Hole[];
  /** Where it is planted: in what the tests load, in the built command, or in the page. */
  readonly into: "sources" | "command" | "page";
  readonly attack: string;
  /** How the names of the attacks begin that must fail, each of them. */
  readonly caught: readonly string[];
  /** Without a browser nobody can look. */
  readonly inBrowser?: true;
  /** The one of its kind that is tried in the quick form. */
  readonly quick?: true;
}

type Short = Omit<Plant, "kind" | "holes" | "into" | "caught"> &
  Hole & {
    readonly into?: Plant["into"];
    readonly caught: string;
    /** Where one guard stands behind another. */
    readonly also?: readonly Hole[];
  };

/** Plants of one kind, each found by one attack. */
export const of = (kind: Kind, ...plants: Short[]): Plant[] =>
  plants.map(({ file, guard, hole, also = [], caught, into = "sources", ...rest }) => ({
    ...rest,
    kind,
    into,
    holes: [{ file, guard, hole }, ...also],
    caught: [caught],
  }));
