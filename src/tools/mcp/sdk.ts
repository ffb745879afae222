import type * as Sdk from "@modelcontextprotocol/client";

export type McpSdk = typeof Sdk;

/** Loaded with the first server: a gateway without any must not wait for it. */
export function loadSdk(): Promise<McpSdk> {
  return import("@modelcontextprotocol/client");
}
