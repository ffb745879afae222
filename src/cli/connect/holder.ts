import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cliError } from "../errors.js";

/** Which command has the data directory to itself: a kernel lock does not tell who holds it. */
export interface Holder {
  readonly pid: number;
  readonly command: string;
}

/** Says that this process has the directory. Answers how to take that back. */
export function writeHolder(dataDir: string): () => void {
  const file = join(dataDir, "command.json");
  const command = ["heddle", ...process.argv.slice(2)].join(" ");
  try {
    writeFileSync(file, JSON.stringify({ pid: process.pid, command }), { mode: 0o600 });
  } catch {
    // Only a message of another command would have been better for it.
  }
  return () => rmSync(file, { force: true });
}

/** The holder as it was written, unless it is gone: a command that was killed leaves its file behind. */
export function readHolder(dataDir: string): Holder | undefined {
  try {
    const { pid, command } = JSON.parse(readFileSync(join(dataDir, "command.json"), "utf8"));
    process.kill(pid, 0);
    return { pid, command };
  } catch {
    return undefined;
  }
}

export function heldByCommand(dataDir: string): Error {
  const holder = readHolder(dataDir);
  const who = holder ? `\`${holder.command}\` (process ${holder.pid})` : "Another heddle command";
  return cliError(
    { kind: "data_dir.in_use", data_dir: dataDir, ...(holder && { pid: holder.pid }) },
    `${who} is using ${dataDir}. Wait for it to end; with a gateway running (\`heddle serve\`), commands share it instead.`,
  );
}
