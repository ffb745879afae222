import type { Chance } from "./chance.js";

/** When a gateway is killed. */
export type Moment =
  /** So long after its process began, whether it is ready or not. */
  | { readonly phase: "starting"; readonly afterMs: number }
  /** So long after it was ready, while it takes up what the one before left, and nobody asks for anything. */
  | { readonly phase: "recovering"; readonly afterMs: number }
  /** So long after clients began. */
  | { readonly phase: "working"; readonly afterMs: number }
  /** The very moment that so many calls have left. */
  | { readonly phase: "sent"; readonly count: number }
  /** The very moment that so many calls were acknowledged. */
  | { readonly phase: "acknowledged"; readonly count: number }
  /** So long after it was asked to stop in the middle of work; it may have ended by then. */
  | { readonly phase: "stopping"; readonly afterMs: number };

export type Phase = Moment["phase"];

const PHASES: readonly (readonly [Phase, number])[] = [
  ["starting", 15],
  ["recovering", 10],
  ["working", 35],
  ["sent", 15],
  ["acknowledged", 20],
  ["stopping", 5],
];

export function chooseMoment(chance: Chance): Moment {
  const phase = chance.weighed(PHASES);
  if (phase === "sent" || phase === "acknowledged") return { phase, count: 1 + chance.whole(60) };
  const most = { starting: 600, recovering: 250, working: 1_500, stopping: 1_000 }[phase];
  return { phase, afterMs: chance.between(0, most) };
}
