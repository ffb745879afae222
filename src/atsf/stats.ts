import type { JsonChange } from "./json-text.js";
import type { Message, ThreadEnvelope, ThreadStats } from "./schemas.js";
import { sameTime, toUtc } from "./time.js";

const COUNTS = ["messageCount", "userMessageCount", "agentMessageCount", "toolCallCount"] as const;

/** What is derived from the log and kept in the envelope for fast lists. */
export interface Derived {
  readonly stats: ThreadStats;
  /** The last message's time; the thread's own creation before the first. */
  readonly updatedAt: string;
}

/** Every line counts in `messageCount`; `system` is in neither of the other two. */
export function emptyStats(): ThreadStats {
  return { messageCount: 0, userMessageCount: 0, agentMessageCount: 0, toolCallCount: 0 };
}

export function countIn(stats: ThreadStats, { role, toolCalls }: Message): ThreadStats {
  return {
    ...stats,
    messageCount: stats.messageCount + 1,
    userMessageCount: stats.userMessageCount + (role === "user" ? 1 : 0),
    agentMessageCount: stats.agentMessageCount + (role === "agent" ? 1 : 0),
    toolCallCount: stats.toolCallCount + (Array.isArray(toolCalls) ? toolCalls.length : 0),
  };
}

/** A thread's state before its first message. */
export function derivedAtStart({ createdAt }: ThreadEnvelope): Derived {
  return { stats: emptyStats(), updatedAt: toUtc(createdAt) ?? createdAt };
}

/** A message of others may lack its time: the thread keeps the last one that is known. */
export function deriveWith({ stats, updatedAt }: Derived, message: Message): Derived {
  return { stats: countIn(stats, message), updatedAt: toUtc(message.timestamp) ?? updatedAt };
}

export function derivedOf(envelope: ThreadEnvelope): Derived {
  return { stats: envelope.stats, updatedAt: envelope.updatedAt };
}

export function sameDerived(a: Derived, b: Derived): boolean {
  return sameTime(a.updatedAt, b.updatedAt) && COUNTS.every((key) => a.stats[key] === b.stats[key]);
}

/** What must change in an envelope so that it says this; nothing that says so already, in whatever words. */
export function derivedChanges(envelope: ThreadEnvelope, { stats, updatedAt }: Derived): JsonChange[] {
  const counts = COUNTS.filter((key) => envelope.stats[key] !== stats[key]);
  return [
    ...(sameTime(envelope.updatedAt, updatedAt) ? [] : [{ path: ["updatedAt"], value: updatedAt }]),
    ...counts.map((key) => ({ path: ["stats", key], value: stats[key] })),
  ];
}
