import { isThreadId, type JsonChange, type ThreadEnvelope } from "../atsf/index.js";
import { type ThreadConfig, threadConfig } from "../protocol/index.js";

/** Our own data in a thread's `thread.json`. Everything else there belongs to someone else. */
export interface Own {
  readonly updatedAt?: string;
  readonly pinnedAt?: string;
  readonly attributes?: Record<string, unknown>;
  readonly config?: ThreadConfig;
  /** Names from the root of the tree down: puts a thread back when the store does not know it. */
  readonly folder?: readonly string[];
  /** The same folder in the store that it was put into: there it may have another name by now. */
  readonly folderId?: string;
  /** Someone gave it its title. */
  readonly named?: boolean;
  /** What it was delegated from. */
  readonly parentThreadId?: string;
}

const MAX_DEPTH = 64;

/** Reads it leniently: anyone may have edited the file. Undefined when there is none: not a thread of ours. */
export function ownOf(envelope: ThreadEnvelope): Own | undefined {
  const found = envelope.metadata?.heddle;
  if (!isObject(found)) return undefined;
  const config = threadConfig.safeParse(found.config);
  return {
    ...(isTime(found.updatedAt) && { updatedAt: found.updatedAt }),
    ...(isTime(found.pinnedAt) && { pinnedAt: found.pinnedAt }),
    ...(isObject(found.attributes) && { attributes: found.attributes }),
    ...(config.success && { config: config.data }),
    ...(isNames(found.folder) && { folder: found.folder }),
    ...(isFolderId(found.folderId) && { folderId: found.folderId }),
    ...(found.named === true && { named: true }),
    ...(isId(found.parentThreadId) && { parentThreadId: found.parentThreadId }),
  };
}

/**
 * The time of our next change. It is later than any before it, whatever the clock says: a file that was stamped on another
 * machine, or before the clock was set back, would else look as if somebody had written over our change.
 */
export function stampAfter(now: number, ...before: readonly (string | null | undefined)[]): string {
  const times = before.map((time) => (time ? Date.parse(time) + 1 : 0)).filter(Number.isFinite);
  return new Date(Math.max(now, ...times)).toISOString();
}

/** Changes of our own values in `thread.json`; undefined removes one. */
export function ownChanges(changes: Readonly<Record<string, unknown>>): JsonChange[] {
  return Object.entries(changes).map(([key, value]) => ({ path: ["metadata", "heddle", key], value }));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is string {
  return typeof value === "string" && isThreadId(value);
}

function isFolderId(value: unknown): value is string {
  return typeof value === "string" && /^fld_\w{1,60}$/.test(value);
}

function isTime(value: unknown): value is string {
  return typeof value === "string" && !Number.isNaN(Date.parse(value));
}

function isNames(value: unknown): value is string[] {
  const fits = (name: unknown) => typeof name === "string" && name.length > 0 && name.length <= 255;
  return Array.isArray(value) && value.length <= MAX_DEPTH && value.every(fits);
}
