export interface DoctorOptions {
  readonly data?: string;
  readonly store: string;
}

/** What came of looking at one thing. `none`: it is not there, and need not be. */
export interface Check {
  readonly name: string;
  readonly verdict: "ok" | "none" | "warning" | "broken";
  readonly detail: string;
  readonly advice?: string;
}
