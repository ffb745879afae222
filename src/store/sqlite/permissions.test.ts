import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fingerprint } from "../../../test/contract/support/files.js";
import { openStore } from "../index.js";

const child = fileURLToPath(new URL("../../../test/contract/children/open-unprivileged.ts", import.meta.url));
const NOBODY = 65_534;

let outer: string;
let directory: string;
let path: string;
beforeEach(() => {
  // A place of its own: everybody must be able to reach it.
  outer = mkdtempSync(join(tmpdir(), "heddle-test-"));
  chmodSync(outer, 0o755);
  directory = join(outer, "data");
  mkdirSync(directory);
  path = join(directory, "heddle.db");
});
afterEach(() => {
  chmodSync(directory, 0o755);
  rmSync(outer, { recursive: true, force: true });
});

/** What an ordinary user gets who opens the store and writes. */
function openAndWrite(): { ok?: true; kind?: string; data?: unknown; message?: string } {
  const output = execFileSync(process.execPath, ["--import", "tsx", child, path], { encoding: "utf8" });
  return JSON.parse(output);
}

async function closedStore(): Promise<void> {
  await (await openStore(path)).close();
  for (const suffix of ["-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

/** Everything an ordinary user owns, so that only the modes that a test sets are in the way. */
function giveAway(...paths: string[]): void {
  if (process.getuid?.() === 0) for (const each of paths) chownSync(each, NOBODY, NOBODY);
}

test("[STO77] with the rights to it a store is opened and written", async () => {
  await closedStore();
  giveAway(directory, path);
  expect(openAndWrite()).toEqual({ ok: true });
});

const forbidden: Record<string, { file?: number; directory: number }> = {
  "a file that may only be read": { file: 0o444, directory: 0o755 },
  "a file that may not even be read": { file: 0o000, directory: 0o755 },
  "a directory that may only be read": { file: 0o644, directory: 0o555 },
  "both only to be read": { file: 0o444, directory: 0o555 },
  "no file yet in a directory that may only be read": { directory: 0o555 },
};

test.each(Object.entries(forbidden))("[STO77] %s is refused as read-only", async (_, modes) => {
  if (modes.file !== undefined) {
    await closedStore();
    chmodSync(path, modes.file);
    giveAway(path);
  }
  giveAway(directory);
  chmodSync(directory, modes.directory);
  const before = modes.file === undefined ? {} : { "heddle.db": expect.any(String) };
  const { message, ...rest } = openAndWrite();
  expect(rest).toEqual({ kind: "store.read_only", data: { store: path } });
  expect(message).toMatch(/can't be written: check the permissions/);
  chmodSync(directory, 0o755);
  if (modes.directory === 0o555) expect(fingerprint(directory)).toEqual(before);
});
