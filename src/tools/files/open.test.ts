import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/stores.js";
import { type Found, find, unreadable } from "./find.js";
import { openFound, pathIfSame } from "./open.js";

/** A file that was found in a project, with a secret of the same name outside it. */
async function found(): Promise<{ outside: string; dir: string; file: Found }> {
  const outer = temporaryDirectory();
  const [outside, dir] = [join(outer, "outside"), join(outer, "project/dir")];
  for (const one of [outside, dir, join(outer, "project/.git")]) mkdirSync(one, { recursive: true });
  writeFileSync(join(outside, "a.txt"), "secret");
  writeFileSync(join(outer, "project/.git/a.txt"), "secret");
  writeFileSync(join(dir, "a.txt"), "open");
  return {
    outside,
    dir,
    file: (await find({ directory: join(outer, "project") }, "dir/a.txt", "file")) as Found,
  };
}

async function refusalOf(file: Found): Promise<string> {
  const opened = await openFound(file);
  if ("refusal" in opened) return opened.refusal;
  await opened.close();
  return "it was opened";
}

test("[TLS34] a directory that became a link out after it was looked at does not lead out", async () => {
  const { outside, dir, file } = await found();
  renameSync(dir, `${dir}-aside`);
  symlinkSync(outside, dir);
  expect(await refusalOf(file)).toBe(
    '"dir/a.txt" leads out of the workspace\'s directory. It was not followed.',
  );
});

test("[TLS34] nor does it lead into .git", async () => {
  const { dir, file } = await found();
  renameSync(dir, `${dir}-aside`);
  symlinkSync(join(dir, "../.git"), dir);
  expect(await refusalOf(file)).toBe('"dir/a.txt" lies in .git or .agent, which no tool reads or writes.');
});

test("[TLS34] a file that became a link is not followed", async () => {
  const { outside, dir, file } = await found();
  rmSync(join(dir, "a.txt"));
  symlinkSync(join(outside, "a.txt"), join(dir, "a.txt"));
  expect(await refusalOf(file)).toBe('"dir/a.txt" was changed while it was being opened. Try again.');
});

test("[TLS34] a file that became a pipe or a directory is refused at once", async () => {
  const { dir, file } = await found();
  rmSync(join(dir, "a.txt"));
  execFileSync("mkfifo", [join(dir, "a.txt")]);
  expect(await refusalOf(file)).toContain("is no regular file");
  rmSync(join(dir, "a.txt"));
  expect(await refusalOf(file)).toBe('There is no file "dir/a.txt".');
  mkdirSync(join(dir, "a.txt"));
  expect(await refusalOf(file)).toContain("is a directory");
});

test("[TLS34] where the system does not tell where an open file is, it is compared with what is there", async () => {
  const { outside, dir, file } = await found();
  const opened = await open(join(outside, "a.txt"));
  onTestFinished(() => opened.close());
  expect(await pathIfSame(opened, file.real)).toBeUndefined();
  renameSync(dir, `${dir}-aside`);
  symlinkSync(outside, dir);
  expect(await pathIfSame(opened, file.real)).toBe(realpathSync(join(outside, "a.txt")));
});

test("[TLS35] what the system says is told by its code alone", () => {
  const told = (code?: string) =>
    unreadable('"a"', Object.assign(new Error("open '/etc/a'"), code === undefined ? {} : { code }));
  expect(["EACCES", "EPERM", "ENOENT", "ENOTDIR", "EMFILE", undefined].map(told)).toEqual([
    '"a" may not be read: permission denied (EACCES).',
    '"a" may not be read: permission denied (EPERM).',
    'There is no file "a".',
    'There is no file "a".',
    '"a" can\'t be read (EMFILE).',
    '"a" can\'t be read.',
  ]);
});
