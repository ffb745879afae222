import { sha256 } from "../../base/index.js";

const MOST_NAME = 64;
const HASH_CHARS = 8;

/** What stands for a server in the names of its tools. */
export interface Named {
  readonly server: string;
  readonly key: string;
}

/**
 * A key for each server, none twice. Who is named first keeps the plain one, but a name that needs no change comes before
 * one that does: `a_b` is `a_b` whatever else there is.
 */
export function serverKeys(servers: readonly string[], taken: readonly string[] = []): Map<string, string> {
  const keys = new Map<string, string>();
  const used = new Set(taken);
  const sorted = servers.toSorted(
    (a, b) => Number(plainWord(a) !== a) - Number(plainWord(b) !== b) || (a < b ? -1 : 1),
  );
  for (const server of sorted) {
    const plain = plainWord(server);
    const key = used.has(plain) ? `${plain}_${hash(server)}` : plain;
    used.add(key);
    keys.set(server, key);
  }
  return keys;
}

/**
 * The name of each tool of a server here, none twice and the same whenever it is asked: what had to be changed so much that
 * it could be mistaken for another gets a hash of what it was.
 */
export function toolNames(
  { server, key }: Named,
  tools: readonly string[],
  otherKeys: readonly string[],
): Map<string, string> {
  const plain = new Map(tools.map((tool) => [tool, `mcp_${key}_${plainWord(tool)}`]));
  const times = new Map<string, number>();
  for (const name of plain.values()) times.set(name, (times.get(name) ?? 0) + 1);
  const longer = otherKeys.filter((other) => other.startsWith(`${key}_`)).map((other) => `mcp_${other}_`);
  const isUnclear = (tool: string, name: string) =>
    name.length > MOST_NAME ||
    !/[a-z0-9]/.test(plainWord(tool)) ||
    ((times.get(name) ?? 0) > 1 && plainWord(tool) !== tool) ||
    longer.some((prefix) => name.startsWith(prefix));
  return new Map(
    [...plain].map(([tool, name]) => [tool, isUnclear(tool, name) ? hashed(name, server, tool) : name]),
  );
}

export function hashed(name: string, server: string, tool: string): string {
  return `${name.slice(0, MOST_NAME - HASH_CHARS - 1)}_${hash(`${server}\n${tool}`)}`;
}

function plainWord(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9_]/g, "_");
}

function hash(text: string): string {
  return sha256(text.toWellFormed()).slice(0, HASH_CHARS);
}
