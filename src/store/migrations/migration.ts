import type { Unit } from "../unit.js";

export interface Migration {
  readonly version: number;
  /** Runs in one transaction with the record that it ran: it happens whole or not at all. */
  readonly up: () => Unit<void>;
}
