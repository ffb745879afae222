/** Commands are short: another one that has the data directory to itself is soon done. */
export const PATIENCE_MS = 5_000;
export const RETRY_MS = 50;
