import { createHash, type Hash } from "node:crypto";
import type { Message, ThreadEnvelope } from "../atsf/index.js";
import { canonicalJson, sha256 } from "../base/index.js";
import type { Lost, Tool } from "./session.js";
import { listOf, numberOf, objectOf, textOf } from "./values.js";

/** Where a thread came from and how much of it was taken: kept in the thread itself, as `metadata.heddle.import`. */
export interface Ledger {
  readonly tool: Tool;
  readonly sourcePath: string;
  readonly sourceId: string;
  /** Which branch of the session; absent for its trunk. */
  readonly branch?: string;
  /** Where the session's agent worked. */
  readonly cwd?: string;
  readonly contentSha256: string;
  readonly importedAt: string;
  /** How messages were made of the source; made otherwise, their hashes say nothing. */
  readonly format: number;
  /** The messages of the source that are settled, and a hash over them. */
  readonly messages: number;
  readonly messagesSha256: string;
  /** Behind those, one more was taken that may not have been complete: its hash. */
  readonly openSha256?: string;
  /** The last answer was left for the next time. */
  readonly held?: boolean;
  /** What went on here had no place for what was new there: it stands in this thread. */
  readonly continuedIn?: string;
  readonly lossy: readonly Lost[];
}

export const FORMAT = 1;

/** Read leniently, since anyone may have edited the file; undefined for a thread that was not imported. */
export function ledgerOf({ metadata }: ThreadEnvelope): Ledger | undefined {
  const found = objectOf(objectOf(metadata?.heddle).import);
  const [sourceId, contentSha256] = [textOf(found.sourceId), textOf(found.contentSha256)];
  if (sourceId === undefined || contentSha256 === undefined) return undefined;
  return {
    ...(found as unknown as Ledger),
    messages: numberOf(found.messages) ?? 0,
    messagesSha256: textOf(found.messagesSha256) ?? "",
    lossy: listOf(found.lossy) as Lost[],
  };
}

export function hashOf(message: Message): string {
  return sha256(canonicalJson(message));
}

/** Counts messages of a source and hashes them one after the other. */
export class Tally {
  #hash: Hash = createHash("sha256");
  messages = 0;

  add(message: Message): void {
    this.#hash.update(canonicalJson(message)).update("\n");
    this.messages += 1;
  }

  /** Of those so far; more can be added. */
  get messagesSha256(): string {
    return this.#hash.copy().digest("hex");
  }
}
