import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { listWorktrees, openProject, removeWorktree } from "../../src/atsf/index.js";
import { ownGit } from "./repository.js";
import { textMessage } from "./support.js";
import { THREAD, withWorktree } from "./worktree-thread.js";

beforeEach(() => {
  ownGit();
});
afterEach(() => {
  vi.unstubAllEnvs();
});

test("[WTG25] a removal that was broken off after the copy loses nothing of what was said since, forced or not", async () => {
  for (const force of [false, true]) {
    const { dir, made, given } = await withWorktree();
    const copy = join(dir, ".agent/threads", THREAD);
    cpSync(join(made.path, ".agent/threads", THREAD), copy, { recursive: true });
    const place = await openProject(made.path);
    await (await place.thread(THREAD)).append(textMessage("b"));
    await place.close();
    expect(await removeWorktree({ ...given, force })).toMatchObject({ copied: [THREAD] });
    const log = readFileSync(join(copy, "messages.jsonl"), "utf8");
    expect(
      log
        .trim()
        .split("\n")
        .map((text) => JSON.parse(text).id),
    ).toEqual(["a", "b"]);
    expect(readdirSync(join(copy, "..")).filter((name) => name.startsWith("."))).toEqual([]);
    expect((await listWorktrees(dir)).map(({ path }) => path)).toEqual([dir]);
  }
});

test("[WTG25] of two copies with the same messages the one counts that the thread works in", async () => {
  const { dir, made, given } = await withWorktree();
  const [copy, own] = [join(dir, ".agent/threads", THREAD), join(made.path, ".agent/threads", THREAD)];
  cpSync(own, copy, { recursive: true });
  const titled = (place: string, title: string, worktree?: string) => {
    const envelope = JSON.parse(readFileSync(join(place, "thread.json"), "utf8"));
    const context = { ...envelope.context, ...(worktree && { worktree: { path: worktree, branch: "x" } }) };
    writeFileSync(join(place, "thread.json"), JSON.stringify({ ...envelope, title, context }));
  };
  titled(copy, "left by the removal");
  titled(own, "changed since", made.path);
  await removeWorktree({ ...given, force: true });
  expect(JSON.parse(readFileSync(join(copy, "thread.json"), "utf8")).title).toBe("changed since");

  const other = await withWorktree();
  const checkedOut = join(other.made.path, ".agent/threads", THREAD);
  const project = join(other.dir, ".agent/threads", THREAD);
  cpSync(checkedOut, project, { recursive: true });
  titled(project, "the project's");
  titled(checkedOut, "came with a checkout");
  await removeWorktree({ ...other.given, force: true });
  expect(JSON.parse(readFileSync(join(project, "thread.json"), "utf8")).title).toBe("the project's");
});
