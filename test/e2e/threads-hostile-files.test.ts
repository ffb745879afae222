import { execFileSync } from "node:child_process";
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { sqliteStore } from "../support/stores.js";
import { line, looks, soon, type ThreadScene, textMessage, threadStage } from "../support/threads.js";

const stage = threadStage(sqliteStore);
const ADVICE = /(Move it away|Replace it by what it leads to)/;

const hostile: [string, (path: string) => void][] = [
  ["a link to a device", (path) => symlinkSync("/dev/zero", path)],
  ["a pipe", (path) => execFileSync("mkfifo", [path])],
  ["a directory", (path) => mkdirSync(path)],
  ["a link to a pipe", linkToPipe],
  ["a link in a circle", (path) => symlinkSync(path, path)],
  ["20 MB", large],
];

test.each(hostile)("[ATSF35] %s for config.json stops no other workspace", async (_, make) => {
  const scene = await stage.scene();
  const other = await stage.scene();
  const { workspace_id } = scene;
  const { id } = await scene.start();
  const file = join(scene.root, ".agent", "config.json");
  make(file);
  const error = await scene.wire.error("thread/start", { workspace_id });
  expect(error).toMatchObject({ code: -32600, data: { kind: "atsf.invalid_file" } });
  expect(error.message).toMatch(ADVICE);
  const { warnings } = await scene.wire.result("workspace/get", { workspace_id });
  expect(warnings).toEqual([expect.stringMatching(ADVICE)]);
  const content_sha256 = "0".repeat(64);
  const trust = { workspace_id, kind: "worktree_hooks", content_sha256 };
  expect((await scene.wire.error("workspace/trust", trust)).data.kind).toBe("trust.content_changed");
  await goesOn(other);
  await scene.append(id, "what is there goes on");
  rmSync(file, { recursive: true });
  await goesOn(scene);
});

test.each(hostile)("[ATSF35] %s for thread.json makes one thread read-only", async (_, make) => {
  const scene = await stage.used();
  const { id } = await scene.start({ title: "T" });
  const { id: neighbour } = await scene.start();
  await scene.append(id, "still readable");
  await replaced(scene.path(id, "thread.json"), make, async () => {
    await soon(async () => (await looks.found(scene, id))?.read_only).toMatch(ADVICE);
    const append = { thread_id: id, message: { role: "user", content: "x" } };
    expect((await scene.wire.error("message/append", append)).data.kind).toBe("thread.read_only");
    expect(await looks.said(scene, id)).toHaveLength(1);
    await scene.append(neighbour, "goes on");
    await goesOn(scene);
    const { problems } = await scene.wire.result("workspace/reindex", { workspace_id: scene.workspace_id });
    expect(problems).toEqual([{ file: scene.path(id), message: expect.stringMatching(ADVICE) }]);
  });
  await soon(async () => (await looks.found(scene, id))?.read_only).toBeUndefined();
  await scene.append(id, "works again");
});

test.each(hostile.slice(0, -1))(
  "[ATSF35] %s for messages.jsonl keeps one thread from being read",
  async (_, make) => {
    const scene = await stage.used();
    const { id } = await scene.start({ title: "T" });
    await scene.append(id, "one");
    await replaced(scene.path(id, "messages.jsonl"), make, async () => {
      const params = { workspace_id: scene.workspace_id, thread_id: id };
      const error = await scene.wire.error("thread/messages", params);
      expect(error).toMatchObject({ code: -32600, data: { kind: "atsf.invalid_file" } });
      expect(error.message).toMatch(ADVICE);
      const append = { ...params, message: { role: "user", content: "x" } };
      expect((await scene.wire.error("message/append", append)).message).toMatch(ADVICE);
      await goesOn(scene);
      await scene.search("one");
    });
    await soon(() => scene.append(id, "two").catch(() => undefined)).toBeDefined();
    expect(await looks.said(scene, id)).toHaveLength(2);
  },
);

test("[ATSF35] a gateway that starts over such files starts, and shows the threads that are in order", async () => {
  const scene = await stage.used();
  for (const [index, [, make]] of hostile.entries()) {
    const ids = { envelope: `envelope-${index}`, log: `log-${index}` };
    scene.foreign(ids.log);
    mkdirSync(scene.path(ids.envelope));
    make(scene.path(ids.envelope, "thread.json"));
    if (make !== large) make(scene.path(ids.log, "messages.jsonl"));
  }
  symlinkSync(scene.path("round"), scene.path("round"));
  scene.foreign("fine", { log: line(textMessage("m")) });
  await stage.restart();
  const again = await stage.sceneAt(scene.root);
  await soon(async () => (await again.list()).map(({ id }) => id)).toContain("fine");
  expect(await looks.said(again, "fine")).toEqual(["m"]);
  await again.append("fine", "goes on");
  const { problems } = await again.wire.result("workspace/reindex", { workspace_id: again.workspace_id });
  expect(problems.length).toBeGreaterThanOrEqual(hostile.length);
  await goesOn(again);
});

test("[ATSF35] a link in a circle where a project was says that the project is gone", async () => {
  const scene = await stage.scene();
  const { id } = await scene.start();
  const { workspace_id } = scene;
  renameSync(scene.root, `${scene.root}.away`);
  symlinkSync(scene.root, scene.root);
  const { data } = await scene.wire.error("thread/start", { workspace_id });
  expect(data.kind).toBe("workspace.directory_missing");
  await goesOn(await stage.scene());
  rmSync(scene.root);
  renameSync(`${scene.root}.away`, scene.root);
  await soon(() => scene.append(id, "works again").catch(() => undefined)).toBeDefined();
});

async function goesOn(scene: ThreadScene): Promise<void> {
  const { id } = await scene.start();
  await scene.append(id, "hello");
  expect(await looks.said(scene, id)).toHaveLength(1);
}

/** Puts something else in a file's place while work is done, and the file back after it. */
async function replaced(
  path: string,
  make: (path: string) => void,
  work: () => Promise<void>,
): Promise<void> {
  const away = join(dirname(path), "away");
  const before = readFileSync(path);
  renameSync(path, away);
  make(path);
  await work();
  rmSync(path, { recursive: true });
  renameSync(away, path);
  expect(readFileSync(path).equals(before)).toBe(true);
}

function linkToPipe(path: string): void {
  execFileSync("mkfifo", [`${path}.pipe`]);
  symlinkSync(`${path}.pipe`, path);
}

function large(path: string): void {
  writeFileSync(path, "");
  const file = openSync(path, "r+");
  ftruncateSync(file, 20 * 1024 * 1024);
  closeSync(file);
}
