import { join } from "node:path";
import { atsfError } from "./errors.js";

/** Where everything stands below a project's root (or a worktree's). */
export const agentDir = (root: string) => join(root, ".agent");
export const threadsDir = (root: string) => join(agentDir(root), "threads");
export const configFile = (root: string) => join(agentDir(root), "config.json");
export const gitignoreFile = (root: string) => join(agentDir(root), ".gitignore");

export const ENVELOPE = "thread.json";
export const LOG = "messages.jsonl";
export const ASSETS = "assets";
export const LOCK = "thread.lock";

const DEVICE = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;

/** A thread id is a directory's name on every system, and can't lead anywhere else. */
export function isThreadId(id: string): boolean {
  return /^[A-Za-z0-9._-]{1,128}$/.test(id) && id !== "." && id !== ".." && !DEVICE.test(id);
}

export function threadDir(root: string, thread_id: string): string {
  if (!isThreadId(thread_id)) {
    throw atsfError(
      { kind: "atsf.invalid_thread_id", thread_id },
      `${JSON.stringify(thread_id)} can't be a thread's id: it must be 1 to 128 letters, digits, dots, dashes or underscores, and no name a system reserves.`,
    );
  }
  return join(threadsDir(root), thread_id);
}

export function threadNotFound(thread_id: string) {
  return atsfError({ kind: "atsf.thread_not_found", thread_id }, `There is no thread ${thread_id}.`);
}
