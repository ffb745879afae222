import { execFile } from "node:child_process";
import type { Check } from "./check.js";

const name = "git";
const PATIENCE_MS = 10_000;

/** Only threads in worktrees need it. */
export async function checkGit(program = "git"): Promise<Check> {
  const { said, code } = await new Promise<{ said: string; code?: unknown }>((resolve) =>
    execFile(program, ["--version"], { timeout: PATIENCE_MS }, (error, stdout) =>
      resolve(error ? { said: error.message, code: error.code ?? "none" } : { said: stdout.trim() }),
    ),
  );
  if (code === undefined) return { name, verdict: "ok", detail: said };
  const advice = "install git to have threads in worktrees of their own; everything else works without";
  const detail = code === "ENOENT" ? "not found" : `it can't be run: ${said}`;
  return { name, verdict: "warning", detail, advice };
}
