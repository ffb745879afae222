/** What a look at a store found. Looking changes nothing and needs no gateway. */
export interface Inspection {
  /** The database that keeps it, with its version. */
  readonly engine: string;
  /** The schema it was written with; 0 when there is none yet. */
  readonly schema: number;
  /** Damage, in the database's own words. */
  readonly problems: readonly string[];
}
