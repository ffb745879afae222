import type { Client } from "../../client/node.js";

/** A gateway to talk to, and how to leave it. */
export interface Link {
  readonly client: Client;
  readonly version: string;
  close(): Promise<void>;
}
