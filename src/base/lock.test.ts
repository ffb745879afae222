import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support/stores.js";
import { sqliteDriver, sqliteErrorCode, takeLock } from "./index.js";

const child = fileURLToPath(new URL("../../test/contract/children/hold-lock.ts", import.meta.url));

let directory: string;
let path: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  directory = temporaryDirectory();
  path = join(directory, "gateway.lock");
});
afterEach(async () => {
  for (const each of children.splice(0)) await kill(each);
  rmSync(directory, { recursive: true, force: true });
});

interface Contender {
  readonly process: ChildProcess;
  readonly said: string;
  /** What it wrote to standard error. */
  complaints(): string;
}

/** Another process that tries to take the lock, and what it says. */
async function contender(...flags: string[]): Promise<Contender> {
  const made = spawn(process.execPath, [...flags, "--import", "tsx", child, path], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(made);
  let complaints = "";
  made.stderr.on("data", (data) => {
    complaints += data;
  });
  const [data] = await once(made.stdout, "data");
  return { process: made, said: String(data).trim(), complaints: () => complaints };
}

async function kill(made: ChildProcess): Promise<void> {
  if (made.exitCode !== null || made.signalCode !== null) return;
  const closed = once(made, "close");
  made.kill("SIGKILL");
  await closed;
}

describe("the kernel lock", () => {
  test("[BAS1] who comes second is refused, in this process and in others, until it is released", async () => {
    const lock = takeLock(path);
    expect(lock).toBeDefined();
    expect(takeLock(path)).toBeUndefined();
    expect((await contender()).said).toBe("refused");
    lock?.release();
    lock?.release();
    const again = takeLock(path);
    expect(again).toBeDefined();
    again?.release();
  });

  test("[BAS2] it is free at once when its holder is killed", async () => {
    const holder = await contender();
    expect(holder.said).toBe("held");
    expect(takeLock(path)).toBeUndefined();
    await kill(holder.process);
    const lock = takeLock(path);
    expect(lock).toBeDefined();
    lock?.release();
  });

  test("[BAS3] it is held while its holder is stopped", async () => {
    const holder = await contender();
    holder.process.kill("SIGSTOP");
    for (let n = 0; n < 5; n++) expect(takeLock(path)).toBeUndefined();
    holder.process.kill("SIGCONT");
    expect(takeLock(path)).toBeUndefined();
  });

  test("[BAS4] it is held though nobody keeps it, whatever the garbage collector does", async () => {
    const holder = await contender("--expose-gc");
    expect(holder.said).toBe("held, collected");
    expect(takeLock(path)).toBeUndefined();
  });

  test("[BAS5] a place where no lock can be made is an error, not a refusal", () => {
    expect(() => takeLock(join(directory, "none", "gateway.lock"))).toThrow();
    mkdirSync(path);
    expect(() => takeLock(path)).toThrow();
    rmSync(path, { recursive: true });
    writeFileSync(path, "not a lock file ".repeat(100));
    expect(() => takeLock(path)).toThrow();
  });
});

describe("the SQLite driver", () => {
  test("[BAS6] it is Node's own where there is one, else libsql", () => {
    expect(sqliteDriver().name).toBe(isBuiltin("node:sqlite") ? "node:sqlite" : "libsql");
  });

  test("[BAS6] it runs statements, binds values and answers rows", () => {
    const handle = sqliteDriver().open(":memory:");
    handle.exec("create table t (a text, b integer); insert into t values ('x', 1), ('y', 2)");
    const rows = handle.prepare("select a, b from t where b > 1").all() as object[];
    expect(rows.map((row) => ({ ...row }))).toEqual([{ a: "y", b: 2 }]);
    handle.close();
  });

  test("[BAS8] loading it prints no warning, and other warnings still come through", async () => {
    const holder = await contender();
    await kill(holder.process);
    expect(holder.complaints()).toMatch(/^\(node:\d+\) Warning: after the lock\n/);
    expect(holder.complaints().match(/Warning:/g)).toHaveLength(1);
  });

  test("[BAS7] a failed call tells SQLite's own code, and nothing else has one", () => {
    const codeOf = (work: () => unknown) => {
      try {
        work();
        return "no error";
      } catch (error) {
        return sqliteErrorCode(error);
      }
    };
    const handle = sqliteDriver().open(":memory:");
    handle.exec("create table t (a text primary key)");
    handle.exec("insert into t values ('x')");
    expect(codeOf(() => handle.exec("nonsense"))).toBe(1);
    expect(codeOf(() => handle.prepare("select nothing"))).toBe(1);
    expect(codeOf(() => handle.exec("insert into t values ('x')"))).toBe(19);
    expect(codeOf(() => handle.prepare("insert into t values ('x')").all())).toBe(19);
    expect(codeOf(() => sqliteDriver().open(directory))).toBe(14);
    handle.close();
    for (const other of [new Error("no"), "text", 5, null, undefined, {}])
      expect(sqliteErrorCode(other)).toBeUndefined();
  });
});
