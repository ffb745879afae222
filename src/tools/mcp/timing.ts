/** How long what may take, in milliseconds. */
export interface Timing {
  readonly connectMs: number;
  /** All pages of a list. */
  readonly listMs: number;
  /** A call, or a part of it between two reports of progress. */
  readonly callMs: number;
  /** A call that reports progress. */
  readonly longestCallMs: number;
  /** The wait after the first failure. It doubles with each that follows. */
  readonly backoffMs: number;
  readonly longestBackoffMs: number;
  /** A connection that held so long counts as a good one. */
  readonly steadyMs: number;
  /** Between two looks at a list that changes all the time. */
  readonly relistMs: number;
}

export const defaultTiming: Timing = {
  connectMs: 10_000,
  listMs: 10_000,
  callMs: 120_000,
  longestCallMs: 600_000,
  backoffMs: 1_000,
  longestBackoffMs: 60_000,
  steadyMs: 60_000,
  relistMs: 1_000,
};
