import { createHash } from "node:crypto";
import type { Tool } from "./session.js";

/** Ids of imported threads and messages are made from this: it must never change. */
const NAMESPACE = Buffer.from("6f0f7d1c4b8e4c1f9a576865646c6531", "hex");

/** A UUID of version 5: the same name gives the same id, on every machine. */
export function uuidOf(...names: readonly string[]): string {
  const hash = createHash("sha1").update(NAMESPACE).update(JSON.stringify(names)).digest().subarray(0, 16);
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const hex = hash.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** The thread of a session, or of one of its branches. */
export function threadIdOf(tool: Tool, sessionId: string, branch = ""): string {
  return uuidOf("thread", tool, sessionId, branch);
}

/** What entries of a session are called. Those of one name get one each, the same ones however much the session grows. */
export class EntryNames {
  readonly #taken = new Set<string>();
  readonly #times = new Map<string, number>();

  of(entry: string): string {
    let times = this.#times.get(entry) ?? 0;
    let name = entry;
    do {
      times += 1;
      name = times === 1 ? entry : `${entry}#${times}`;
    } while (this.#taken.has(name));
    this.#times.set(entry, times);
    this.#taken.add(name);
    return name;
  }
}

export function messageIdOf(tool: Tool, sessionId: string, entry: string): string {
  return uuidOf("message", tool, sessionId, entry);
}
