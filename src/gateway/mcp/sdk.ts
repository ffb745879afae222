import type * as Sdk from "@modelcontextprotocol/server";

export type ServerSdk = typeof Sdk;

/** Loaded with the first request: a gateway that nobody asks this way must not wait for it, nor hold it. */
export function loadSdk(): Promise<ServerSdk> {
  return import("@modelcontextprotocol/server");
}
