import type { Message, ThreadEnvelope, ThreadStats } from "./schemas.js";

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

/** What is derived from the log and kept in the envelope for fast lists. */
export interface Derived {
  readonly stats: ThreadStats;
  /** The last message's time; the thread's own creation before the first. */
  readonly updatedAt: string;
}

export function derivedOf(envelope: ThreadEnvelope): Derived {
  return { stats: envelope.stats, updatedAt: envelope.updatedAt };
}

export function sameDerived(a: Derived, b: Derived): boolean {
  const counts = ["messageCount", "userMessageCount", "agentMessageCount", "toolCallCount"] as const;
  return a.updatedAt === b.updatedAt && counts.every((key) => a.stats[key] === b.stats[key]);
}
