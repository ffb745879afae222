import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type NewThread, openProject, type Project } from "../../src/atsf/index.js";
import { temporaryDirectory } from "../support/stores.js";

export const agent = { id: "demo", name: "Demo" };

export { textMessage } from "./message.js";

export async function freshProject(): Promise<Project> {
  return openProject(temporaryDirectory());
}

export function newThread(threadId: string, more: Partial<NewThread> = {}): NewThread {
  return { threadId, title: threadId, agent, ...more };
}

export const threadPath = (project: Project, id: string, ...rest: string[]) =>
  join(project.root, ".agent", "threads", id, ...rest);

/** A thread as another program would leave it: any text in its files. */
export function foreignThread(project: Project, id: string, files: Record<string, string | Buffer>): void {
  mkdirSync(threadPath(project, id), { recursive: true });
  for (const [name, data] of Object.entries(files)) writeFileSync(threadPath(project, id, name), data);
}

export function envelopeOf(threadId: string, more: object = {}): object {
  return {
    specVersion: "1.1",
    threadId,
    title: "T",
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: "2026-01-01T00:00:00.000Z",
    agent,
    context: { workingDir: "/work" },
    stats: { messageCount: 0, userMessageCount: 0, agentMessageCount: 0, toolCallCount: 0 },
    ...more,
  };
}

export const line = (message: object) => `${JSON.stringify(message)}\n`;
