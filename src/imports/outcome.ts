/** What became of a branch of a session. */
export interface Outcome {
  readonly status: "imported" | "updated" | "exists" | "skipped" | "invalid";
  readonly reason?: string;
  /** Another thread than its own. */
  readonly thread_id?: string;
  readonly messages?: number;
  readonly added?: number;
}
