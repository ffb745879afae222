import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyDirectory } from "../../src/atsf/copy-directory.js";
import { diskError, reading, writing } from "../../src/atsf/disk.js";
import { changeConfig, openProject, repair } from "../../src/atsf/index.js";
import { sweep } from "../../src/atsf/left-over.js";
import { temporaryDirectory } from "../support/stores.js";
import { runChild } from "./bundle.js";
import { freshProject, newThread, textMessage, threadPath } from "./support.js";

const inNamespace = (mount: string) => `exec unshare -Urm sh -c '${mount} && exec "$@"' sh "$@"`;
/** Namespaces of one's own let a test mount without being root; not every system grants them. */
const canMount = spawnSync("sh", ["-c", inNamespace("true"), "sh", "true"]).status === 0;

test("[DISK1] hundreds of threads in use hold no more files open than 128 do, and lose nothing", async () => {
  const project = await freshProject();
  const ids = Array.from({ length: 400 }, (_, n) => `t${n}`);
  const threads = await Promise.all(ids.map((id) => project.create(newThread(id))));
  for (const text of ["first", "second"]) {
    await Promise.all(threads.map((thread) => thread.append(textMessage(text))));
  }
  if (existsSync("/proc/self/fd")) {
    // A log and a lock each, and what the test itself needs. What was busy is closed a moment later.
    await expect
      .poll(() => readdirSync("/proc/self/fd").length, { timeout: 20_000 })
      .toBeLessThan(2 * 128 + 100);
  }
  const [first, last] = [threads[0], threads.at(-1)];
  await first?.close();
  await first?.append(textMessage("after close"));
  await project.close();
  await last?.append(textMessage("after close"));
  await project.close();
  for (const id of ids) {
    const raw = readFileSync(threadPath(project, id, "messages.jsonl"), "utf8")
      .trimEnd()
      .split("\n");
    const more = id === "t0" || id === "t399" ? ["after close"] : [];
    expect(
      raw.map((line) => JSON.parse(line).id),
      id,
    ).toEqual(["first", "second", ...more]);
    const envelope = JSON.parse(readFileSync(threadPath(project, id, "thread.json"), "utf8"));
    expect(envelope.stats.messageCount, id).toBe(raw.length);
  }
});

test("[DISK1] a thread that is closed while it is written to finishes first", async () => {
  const project = await freshProject();
  const thread = await project.create(newThread("t"));
  const ids = Array.from({ length: 60 }, (_, n) => `m${n}`);
  const appends = ids.map(async (id, n) => {
    if (n % 7 === 0) void thread.close();
    await thread.append(textMessage(id));
    if (n % 5 === 0) await thread.close();
  });
  await Promise.all(appends);
  expect((await thread.read()).messages.map(({ id }) => id)).toEqual(ids);
  await project.close();
  expect((await thread.envelope()).stats.messageCount).toBe(60);
});

interface Filled {
  acknowledged: string[];
  failures: Record<string, string>;
  read: { full: string[]; problems: unknown[] };
  others: string[];
  files: string[];
  again: { messages: string[]; envelope: { stats: { messageCount: number } } };
}

function expectWhole(told: Filled): void {
  expect(told.failures).toEqual(
    Object.fromEntries(Object.keys(told.failures).map((name) => [name, "atsf.disk_full"])),
  );
  expect(told.acknowledged.length).toBeGreaterThan(2);
  expect(told.read).toEqual({ full: told.acknowledged, problems: [] });
  expect(told.others).toEqual(["kept"]);
  expect(told.files.filter((name) => /\.tmp$|\.new-|sha256|new|config/.test(name))).toEqual([]);
  expect(told.again.messages).toEqual(["again"]);
  expect(told.again.envelope.stats.messageCount).toBe(1);
}

test("[DISK2] past the largest size of a file nothing half-written is left, and what was acknowledged stays", async () => {
  const { code, output } = await runChild("fill-disk", [temporaryDirectory()], 'ulimit -f 128; exec "$@"');
  expect(code).toBe(0);
  expectWhole(JSON.parse(output));
});

test.skipIf(!canMount)(
  "[DISK2] [mount] on a full disk nothing half-written is left, and with room again writing goes on",
  async () => {
    const mount = 'mount -t tmpfs -o size=300k none "$3"';
    const { code, output } = await runChild("fill-disk", [temporaryDirectory()], inNamespace(mount));
    expect(code).toBe(0);
    expectWhole(JSON.parse(output));
  },
);

test.skipIf(!canMount)(
  "[DISK3] [mount] a read-only project is read as ever, and every write is refused as such",
  async () => {
    const project = await freshProject();
    const used = await project.create(newThread("used"));
    await used.append(textMessage("a"));
    await project.create(newThread("fresh"));
    await changeConfig(project.root, { name: "a", version: "1" }, [
      { path: ["defaults", "agentId"], value: "a" },
    ]);
    await project.close();
    const before = readdirSync(project.root, { recursive: true }).sort();
    const mount = 'mount --bind "$3" "$3" && mount -o remount,ro,bind "$3"';
    const { code, output } = await runChild("read-only", [project.root], inNamespace(mount));
    expect(code).toBe(0);
    const told: Record<string, string> = JSON.parse(output);
    const refused = Object.entries(told).filter(([name]) =>
      /append|change|clear|asset|remove|create|config$/.test(name),
    );
    expect(Object.fromEntries(refused)).toEqual(
      Object.fromEntries(refused.map(([name]) => [name, "atsf.not_writable"])),
    );
    expect(told).toMatchObject({
      "used read": "a",
      "used page": "a",
      "fresh read": "",
      "used title": "used",
      "config read": "a",
      listed: "2",
    });
    expect(readdirSync(project.root, { recursive: true }).sort()).toEqual(before);
  },
);

test("[DISK3] every error number of a disk has its kind, and a message that says what to do", async () => {
  const kinds = {
    ENOSPC: ["atsf.disk_full", "atsf.disk_full"],
    EDQUOT: ["atsf.disk_full", "atsf.disk_full"],
    EFBIG: ["atsf.disk_full", "atsf.disk_full"],
    EIO: ["atsf.disk_failed", "atsf.disk_failed"],
    EROFS: ["atsf.not_writable", "atsf.not_writable"],
    EACCES: ["atsf.not_readable", "atsf.not_writable"],
    EPERM: ["atsf.not_readable", "atsf.not_writable"],
  };
  for (const [code, [whenReading, whenWriting]] of Object.entries(kinds)) {
    const failing = async () => {
      throw Object.assign(new Error(code), { code });
    };
    const read = await reading("/some/file", failing).catch((error) => error);
    const written = await writing("/some/file", failing).catch((error) => error);
    expect([read.kind, written.kind]).toEqual([whenReading, whenWriting]);
    for (const { data, message } of [read, written]) {
      expect(data).toEqual({ path: "/some/file" });
      expect(message).toMatch(/^.*\/some\/file.*\. [A-Z].*try again\.$/);
    }
  }
  const other = Object.assign(new Error("x"), { code: "EBUSY" });
  expect(diskError(other, "/x", "write")).toBe(other);
});

test("[DISK4] what dead programs left behind is removed by the next create, what others may still need is not", async () => {
  const { root } = await freshProject();
  const threads = join(root, ".agent", "threads");
  const dead = spawnSync(process.execPath, ["-e", ""]).pid;
  const old = new Date(Date.now() - 20_000);
  const ancient = new Date(Date.now() - 2 * 60 * 60_000);
  const leftOver: [string, Date][] = [
    [`threads/.new-${dead}-abc/thread.json`, old],
    [`threads/.removed-${dead}-t/thread.json`, old],
    [`threads/.new-${process.pid}-xyz/thread.json`, ancient],
    ["threads/.copy-abc/thread.json", ancient],
    [`.config.json.${dead}-0.tmp`, old],
  ];
  const needed: [string, Date][] = [
    [`threads/.new-${process.pid}-abc/thread.json`, old],
    [`threads/.new-${dead}-young/thread.json`, new Date()],
    ["threads/.copy-xyz/thread.json", old],
    ["threads/.hidden/file", ancient],
    [".notes.tmp", ancient],
  ];
  for (const [path, time] of [...leftOver, ...needed]) {
    const whole = join(root, ".agent", path);
    mkdirSync(join(whole, ".."), { recursive: true });
    writeFileSync(whole, "{}");
    utimesSync(path.includes("/") ? join(whole, "..") : whole, time, time);
  }
  const project = await openProject(root);
  await project.create(newThread("t"));
  const there = ([path]: [string, Date]) => existsSync(join(root, ".agent", path));
  expect(leftOver.filter(there)).toEqual([]);
  expect(needed.filter((each) => !there(each))).toEqual([]);
  expect(readdirSync(threads)).toContain("t");
});

test("[DISK4] what this process is at work on is never taken for left over, however old it looks", async () => {
  const { root } = await freshProject();
  const [threads, ancient] = [join(root, ".agent", "threads"), new Date(Date.now() - 2 * 60 * 60_000)];
  const [from, to] = [join(threads, "from"), join(threads, "to")];
  mkdirSync(from, { recursive: true });
  writeFileSync(join(from, "thread.json"), "{}");
  utimesSync(from, ancient, ancient);
  // A copy has the times of what it is a copy of.
  await copyDirectory(from, to, { finish: async () => void (await sweep(threads, Date.now())) });
  expect(readdirSync(to)).toEqual(["thread.json"]);
  expect(readdirSync(threads).sort()).toEqual(["from", "to"]);
});

test("[DISK4] repair removes temporary files inside threads too, and tells of each", async () => {
  const project = await freshProject();
  await project.create(newThread("t"));
  const dead = spawnSync(process.execPath, ["-e", ""]).pid;
  mkdirSync(threadPath(project, "t", "assets"));
  const names = [`.thread.json.${dead}-3.tmp`, `assets/.sha256-0123456789abcdef.png.${dead}-4.tmp`];
  for (const name of names) {
    writeFileSync(threadPath(project, "t", name), "half");
    const old = new Date(Date.now() - 20_000);
    utimesSync(threadPath(project, "t", name), old, old);
  }
  const done: string[] = [];
  for await (const { problem, done: what } of repair(project.root)) done.push(`${problem.problem}: ${what}`);
  expect(done).toEqual(["left_over: removed it", "left_over: removed it"]);
  expect(names.filter((name) => existsSync(threadPath(project, "t", name)))).toEqual([]);
});
