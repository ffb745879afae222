import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/stores.js";
import { type OpenDirectory, openDirectory } from "./open.js";
import { findPlace, type Place, unwritable } from "./place.js";
import { type Before, readBefore, save } from "./save.js";

const signal = new AbortController().signal;

/** A place in a project, with a directory outside that it can be made to lead to. */
async function placeAt(
  path: string,
  content?: string,
): Promise<{ outside: string; dir: string; place: Place }> {
  const outer = temporaryDirectory();
  const [outside, dir] = [join(outer, "outside"), join(outer, "project/dir")];
  for (const one of [outside, dir]) mkdirSync(one, { recursive: true });
  if (content !== undefined) writeFileSync(join(outer, "project", path), content);
  return { outside, dir, place: (await findPlace({ directory: join(outer, "project") }, path)) as Place };
}

function swapFor(dir: string, outside: string): void {
  renameSync(dir, `${dir}-aside`);
  symlinkSync(outside, dir);
}

test("[FIL5] a directory that became a link out after it was looked at is not written to", async () => {
  for (const path of ["dir/a.txt", "dir/new/deep/a.txt"]) {
    const { outside, dir, place } = await placeAt(path);
    swapFor(dir, outside);
    const refused = await save(place, Buffer.from("x"), { before: undefined, signal });
    expect(refused?.refusal).toMatch(/was changed while it was being opened|leads out of the workspace/);
    expect(readdirSync(outside)).toEqual([]);
  }
});

test("[FIL5] a directory that becomes a link out once it was opened is still the one that was checked", async () => {
  const { outside, dir, place } = await placeAt("dir/a.txt");
  const directory = (await openDirectory({ ...place, real: place.parent })) as OpenDirectory;
  swapFor(dir, outside);
  await writeFile(directory.at("a.txt"), "x");
  await directory.close();
  expect(readdirSync(outside)).toEqual([]);
  expect(readdirSync(`${dir}-aside`)).toEqual(["a.txt"]);
});

test("[FIL5] a file that became a link out is not written through", async () => {
  const { outside, dir, place } = await placeAt("dir/a.txt", "old");
  const before = (await readBefore(place)) as Before;
  writeFileSync(join(outside, "a.txt"), "theirs");
  rmSync(join(dir, "a.txt"));
  symlinkSync(join(outside, "a.txt"), join(dir, "a.txt"));
  expect((await save(place, Buffer.from("new"), { before, signal }))?.refusal).toContain("somebody else");
  expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("theirs");
});

test("[FIL14] what somebody else changed, removed or made since it was read is left alone", async () => {
  const { dir, place } = await placeAt("dir/a.txt", "old");
  const before = (await readBefore(place)) as Before;
  writeFileSync(join(dir, "a.txt"), "theirs");
  expect((await save(place, Buffer.from("new"), { before, signal }))?.refusal).toBe(
    '"dir/a.txt" was changed by somebody else meanwhile. Nothing was written: read it again, then decide.',
  );
  expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("theirs");
  expect((await save(place, Buffer.from("new"), { before: undefined, signal }))?.refusal).toContain(
    "somebody else",
  );
  rmSync(join(dir, "a.txt"));
  expect((await save({ ...place, there: false }, Buffer.from("new"), { before, signal }))?.refusal).toContain(
    "somebody else",
  );
  expect(readdirSync(dir)).toEqual([]);
});

test("[FIL14] after the signal nothing is written, and nothing is left", async () => {
  const { dir, place } = await placeAt("dir/a.txt", "old");
  const before = (await readBefore(place)) as Before;
  const given = { before, signal: AbortSignal.abort(new Error("enough")) };
  await expect(save(place, Buffer.from("new"), given)).rejects.toThrow("enough");
  expect(readdirSync(dir)).toEqual(["a.txt"]);
  expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("old");
});

test("[FIL11] what the system says is told by its code alone", () => {
  const told = (code?: string) =>
    unwritable('"a"', Object.assign(new Error("open '/etc/a'"), code === undefined ? {} : { code }));
  expect(["EACCES", "EROFS", "ENOSPC", "ENOTDIR", "EIO", undefined].map(told)).toEqual([
    '"a" may not be written: permission denied (EACCES). Nothing was changed.',
    '"a" may not be written: permission denied (EROFS). Nothing was changed.',
    '"a" can\'t be written: the disk is full (ENOSPC). Nothing was changed.',
    '"a" can\'t be written: a file stands where a directory should be. Nothing was changed.',
    '"a" can\'t be written (EIO). Nothing was changed.',
    '"a" can\'t be written. Nothing was changed.',
  ]);
});
