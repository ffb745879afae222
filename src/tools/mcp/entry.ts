import { canonicalJson } from "../../base/index.js";

/** A server as the configuration names it: a program to start, or an address. Values of `env` and `headers` are secrets. */
export interface McpServerEntry {
  readonly type?: "stdio" | "http" | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly url?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default: true. */
  readonly enabled?: boolean | undefined;
}

/** Whether a connection made for one entry serves the other as well. */
export function sameServer(one: McpServerEntry, other: McpServerEntry): boolean {
  return canonicalJson(essence(one)) === canonicalJson(essence(other));
}

function essence({ command, args = [], env = {}, cwd, url, headers = {} }: McpServerEntry) {
  return {
    args: [...args],
    env,
    headers,
    command: command ?? null,
    cwd: cwd ?? null,
    url: url ?? null,
  };
}
