import { relative, resolve } from "node:path";
import { assertEnvelope } from "./envelope.js";
import type { ThreadEnvelope } from "./schemas.js";
import { emptyStats } from "./stats.js";
import { toUtc } from "./time.js";
import { SPEC_VERSION } from "./version.js";

export interface NewThread {
  readonly threadId: string;
  readonly title: string;
  readonly agent: ThreadEnvelope["agent"];
  /** Default: now. */
  readonly createdAt?: string;
  /** Where the agent works; default: the project's root. */
  readonly workingDir?: string;
  readonly context?: Partial<ThreadEnvelope["context"]>;
  readonly metadata?: Record<string, unknown>;
}

/** The envelope of a thread without messages, with every field a reader expects. */
export function newEnvelope(root: string, now: number, given: NewThread): ThreadEnvelope {
  const { threadId, title, agent, context, metadata = {} } = given;
  const workingDir = resolve(root, given.workingDir ?? ".");
  const createdAt =
    given.createdAt === undefined ? new Date(now).toISOString() : (toUtc(given.createdAt) ?? given.createdAt);
  const envelope: ThreadEnvelope = {
    specVersion: SPEC_VERSION,
    threadId,
    title,
    createdAt,
    updatedAt: createdAt,
    agent,
    context: { workingDir, relativeDir: relative(root, workingDir) || ".", ...context },
    stats: emptyStats(),
    metadata,
  };
  assertEnvelope(envelope, threadId);
  return envelope;
}
