import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GITIGNORE } from "../../src/atsf/gitignore.js";
import type { Message, ThreadEnvelope } from "../../src/atsf/index.js";
import { SPEC_VERSION } from "../../src/atsf/version.js";

const EPOCH_MS = 1_700_000_000_000;
const LINES_AT_ONCE = 1_000;

export interface ThreadPlan {
  /** Its number among the project's threads: they were made an hour apart. */
  readonly number: number;
  readonly messages: number;
  readonly text: (index: number) => string;
  /** Default: `demo`. */
  readonly agent?: string;
}

/** Makes a project without threads. */
export function writeProject(root: string): void {
  mkdirSync(threadsDir(root), { recursive: true });
  writeFileSync(join(root, ".agent", ".gitignore"), GITIGNORE);
}

/** Writes a thread as a program long gone may have left it, without waiting for the disk. Answers its id. */
export function writeThread(root: string, plan: ThreadPlan): string {
  const threadId = `thread-${plan.number}`;
  const dir = join(threadsDir(root), threadId);
  mkdirSync(dir);
  writeFileSync(join(dir, "thread.json"), `${JSON.stringify(envelopeOf(root, threadId, plan), null, 2)}\n`);
  const log = join(dir, "messages.jsonl");
  for (let from = 0; from < plan.messages; from += LINES_AT_ONCE) {
    const count = Math.min(LINES_AT_ONCE, plan.messages - from);
    const lines = Array.from(
      { length: count },
      (_, index) => `${JSON.stringify(messageOf(plan, from + index))}\n`,
    );
    appendFileSync(log, lines.join(""));
  }
  return threadId;
}

export function threadsDir(root: string): string {
  return join(root, ".agent", "threads");
}

function envelopeOf(root: string, threadId: string, plan: ThreadPlan): ThreadEnvelope {
  return {
    specVersion: SPEC_VERSION,
    threadId,
    title: `Thread ${plan.number} about a question of the day`,
    createdAt: timeOf(plan, 0),
    updatedAt: timeOf(plan, Math.max(0, plan.messages - 1)),
    agent: { id: plan.agent ?? "demo", name: plan.agent ?? "Demo", protocol: "custom" },
    context: { workingDir: root, relativeDir: "." },
    stats: {
      messageCount: plan.messages,
      userMessageCount: Math.ceil(plan.messages / 2),
      agentMessageCount: Math.floor(plan.messages / 2),
      toolCallCount: 0,
    },
    metadata: {},
  };
}

/** The user and the agent speak in turns, a second apart. */
function messageOf(plan: ThreadPlan, index: number): Message {
  return {
    id: `message-${plan.number}-${index}`,
    role: index % 2 === 0 ? "user" : "agent",
    timestamp: timeOf(plan, index),
    content: [{ type: "text", text: plan.text(index) }],
  };
}

function timeOf({ number }: ThreadPlan, index: number): string {
  return new Date(EPOCH_MS + number * 3_600_000 + index * 1_000).toISOString();
}
