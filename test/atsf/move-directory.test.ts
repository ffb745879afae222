import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { moveDirectory } from "../../src/atsf/index.js";
import { temporaryDirectory } from "../support/stores.js";

const OTHER_DISK = "/dev/shm";
const otherDisk =
  existsSync(OTHER_DISK) && statSync(OTHER_DISK).dev !== statSync(process.cwd()).dev ? OTHER_DISK : undefined;

test("[ATSF14] a directory that is moved leaves nothing behind", async () => {
  const { from, to } = filled(temporaryDirectory());
  await moveDirectory(from, to);
  expect(existsSync(from)).toBe(false);
  expect(readdirSync(to).sort()).toEqual(["assets", "link", "thread.json", "thread.lock"]);
});

test.skipIf(otherDisk === undefined)(
  "[ATSF14] [mount] a directory moves to another disk whole, its links as links, without its lock",
  async () => {
    const elsewhere = mkdtempSync(join(otherDisk as string, "heddle-test-"));
    onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
    const { from } = filled(temporaryDirectory());
    const to = join(elsewhere, "to");
    await moveDirectory(from, to);
    expect(existsSync(from)).toBe(false);
    expect(readdirSync(elsewhere)).toEqual(["to"]);
    expect(readdirSync(to).sort()).toEqual(["assets", "link", "thread.json"]);
    expect(readFileSync(join(to, "assets", "a.png"), "utf8")).toBe("bytes");
  },
);

function filled(dir: string) {
  const from = join(dir, "from");
  mkdirSync(join(from, "assets"), { recursive: true });
  writeFileSync(join(from, "thread.json"), "{}");
  writeFileSync(join(from, "thread.lock"), "");
  writeFileSync(join(from, "assets", "a.png"), "bytes");
  symlinkSync("/nowhere", join(from, "link"));
  return { from, to: join(dir, "to") };
}
