import type { Client } from "../../client/node.js";

/** A gateway to talk to, and how to leave it. */
export interface Link {
  readonly client: Client;
  readonly version: string;
  close(): Promise<void>;
}

/** Whose gateway it is: this command's own, one that runs on this machine, or one at an address that was given. */
export type GatewayPlace = "private" | "here" | "elsewhere";

export interface Reached extends Link {
  readonly place: GatewayPlace;
}
