import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { envelopeOf, line } from "../atsf/support.js";
import { buildCommand, CliHome } from "../support/cli.js";

let home: CliHome;
beforeAll(buildCommand);
/** Two projects, and one thread in the first. */
beforeEach(async () => {
  home = new CliHome();
  home.write({ "one/a.txt": "a", "two/b.txt": "b" });
  await home.ok("workspaces", "create", "one");
  await home.ok("workspaces", "create", "two");
});
afterEach(() => home.remove());

async function startThread(words = "Hello"): Promise<string> {
  const { thread } = await home.json("threads", "start", "--title", "Moved", "--workspace", "one");
  await home.ok("threads", "append", thread.id, words);
  return thread.id;
}

const filesIn = (project: string, id: string) => join(home.cwd, project, ".agent", "threads", id);
const entries = (archive: Buffer) => execFileSync("tar", ["tzf", "-"], { input: archive, encoding: "utf8" });

describe("export", () => {
  test("[CLI130] writes the thread to one file, and never over another without --force", async () => {
    const id = await startThread();
    const path = join(home.cwd, `${id}.tar.gz`);
    const { stdout } = await home.run(["export", id]);
    const size = statSync(path).size;
    expect(stdout).toBe(`Exported ${id} to ${path}  ${size} bytes\n`);
    expect(entries(readFileSync(path))).toBe(`${id}/thread.json\n${id}/messages.jsonl\n`);
    writeFileSync(path, "mine");
    const refused = await home.run(["export", id, "--json"]);
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 1, stdout: "" });
    expect(JSON.parse(refused.stderr).error).toMatchObject({ kind: "file.exists", path });
    expect(readFileSync(path, "utf8")).toBe("mine");
    expect(await home.json("export", id, "--force")).toEqual({ thread_id: id, path, size });
    expect(statSync(path).size).toBe(size);
    mkdirSync(join(home.cwd, "backups"));
    expect((await home.json("export", id, "backups")).path).toBe(join(home.cwd, "backups", `${id}.tar.gz`));
    expect(readdirSync(join(home.cwd, "backups"))).toEqual([`${id}.tar.gz`]);
  });

  test("[CLI130] by default in a git work tree, it says that git will see the file", async () => {
    const id = await startThread();
    expect((await home.run(["export", id])).stderr).toBe("");
    execFileSync("git", ["init", "-q", "one"], { cwd: home.cwd, env: home.env });
    const cwd = join(home.cwd, "one");
    const { code, stderr } = await home.run(["export", id], { cwd });
    expect(code).toBe(0);
    expect(stderr).toContain(`It stands in the git work tree ${cwd}: git sees it`);
    const named = await home.run(["export", id, "../named.tar.gz"], { cwd });
    expect(named).toMatchObject({ code: 0, stderr: "" });
    expect((await home.run(["export", id, "--force", "--json"], { cwd })).stderr).toBe("");
  });

  test("[CLI114] an id that two workspaces have means that of the current directory; without one it is refused", async () => {
    const id = await startThread("in one");
    home.write({
      [`two/.agent/threads/${id}/thread.json`]: JSON.stringify(envelopeOf(id, { title: "Twin" })),
      [`two/.agent/threads/${id}/messages.jsonl`]: line({
        id: "m",
        role: "user",
        timestamp: "2026-03-01T10:00:00.000Z",
        content: [{ type: "text", text: "in two" }],
      }),
    });
    await home.ok("reindex", "--workspace", "two");
    const refused = await home.run(["threads", "show", id]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("Say which with --workspace.");
    const cwd = join(home.cwd, "two");
    const at = async (...args: string[]) => {
      const { code, stdout, stderr } = await home.run(args, { cwd });
      expect({ args, code, stderr: code === 0 ? "" : stderr }).toEqual({ args, code: 0, stderr: "" });
      return stdout;
    };
    expect(await at("threads", "show", id)).toMatch(/^Twin\n/);
    expect(await at("threads", "show", id, "--workspace", join(home.cwd, "one"))).toMatch(/^Moved\n/);
    expect(await at("threads", "messages", id)).toContain("in two");
    expect(await at("threads", "search", "in", "--thread", id)).toContain("in two");
    await at("threads", "append", id, "more");
    await at("threads", "rename", id, "Second");
    await at("threads", "pin", id);
    await at("threads", "move", id, "/");
    await at("export", id, "../second.tar.gz");
    await at("threads", "clear", id, "--yes");
    await at("threads", "delete", id);
    expect(existsSync(filesIn("two", id))).toBe(false);
    expect(await home.ok("threads", "show", id)).toMatch(/^Moved\n/);
    await home.ok("threads", "delete", id);
    await at("threads", "undelete", id);
    expect(existsSync(filesIn("two", id))).toBe(true);
    expect(existsSync(filesIn("one", id))).toBe(false);
  });

  test("[CLI130] a thread that is not there, and a place that can't be written, leave nothing behind", async () => {
    const id = await startThread();
    const unknown = await home.run(["export", "thr_none"]);
    expect(unknown.stderr).toBe(
      "heddle: There is no thread thr_none.\n`heddle threads` lists the ones there are.\n",
    );
    const nowhere = await home.run(["export", id, "no/such/file.tar.gz"]);
    expect({ code: nowhere.code, stderr: nowhere.stderr }).toEqual({
      code: 1,
      stderr: `heddle: ${join(home.cwd, "no/such/file.tar.gz")} can't be written: there is no such directory.\n`,
    });
    writeFileSync(join(home.cwd, "kept.tar.gz"), "mine");
    expect((await home.run(["export", "thr_none", "kept.tar.gz", "--force"])).code).toBe(1);
    expect(readFileSync(join(home.cwd, "kept.tar.gz"), "utf8")).toBe("mine");
    expect(readdirSync(home.cwd).sort()).toEqual(["kept.tar.gz", "one", "two"]);
  });

  test("[CLI131] - writes to standard output, but not to a terminal", async () => {
    const id = await startThread();
    const child = home.spawn(["export", id, "-"]);
    const parts: Buffer[] = [];
    for await (const part of child.stdout ?? []) parts.push(part);
    expect(entries(Buffer.concat(parts))).toContain(`${id}/messages.jsonl`);
    expect((await home.onTerminal(["export", id, "-"])).stdout).toContain("no text for a terminal");
    expect((await home.run(["export", id, "-", "--json"])).code).toBe(2);
    expect(readdirSync(join(home.dir, "tmp"))).toEqual([]);
  });
});

describe("import", () => {
  test("[CLI133] an archive, a thread's directory, a project and standard input are taken in", async () => {
    const id = await startThread();
    await home.ok("export", id);
    const archive = readFileSync(join(home.cwd, `${id}.tar.gz`));
    const { stdout, stderr } = await home.run(["import", `${id}.tar.gz`, "--workspace", "two"]);
    expect(stdout).toBe(`imported  ${id}\n`);
    expect(stderr).toBe("Into two: 1 imported\n");
    expect(readFileSync(join(filesIn("two", id), "messages.jsonl"))).toEqual(
      readFileSync(join(filesIn("one", id), "messages.jsonl")),
    );
    const into = async (...args: string[]) => {
      const { workspace } = await home.json("workspaces", "create", "--name", args.join(" "));
      const { data } = await home.json("import", ...args, "--workspace", workspace.id);
      return data.map(({ thread_id, status }: { thread_id: string; status: string }) => [thread_id, status]);
    };
    expect(await into("one")).toEqual([[id, "imported"]]);
    expect(await into(join("two", ".agent", "threads", id))).toEqual([[id, "imported"]]);
    await home.ok("workspaces", "create", "--name", "By pipe");
    const piped = await home.run(["import", "-", "--workspace", "By pipe", "--json"], { input: archive });
    expect(JSON.parse(piped.stdout)).toEqual({
      data: [{ path: "-", thread_id: id, status: "imported" }],
      summary: { imported: 1, exists: 0, invalid: 0, refused: 0 },
    });
    expect((await home.json("threads", "messages", id, "--workspace", "By pipe")).data).toHaveLength(1);
    expect(readdirSync(join(home.dir, "tmp"))).toEqual([]);
  });

  test("[CLI133] [ARC21] a project's threads in git worktrees are taken in, by a path and by their bytes", async () => {
    const id = await startThread();
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], {
        cwd: join(home.cwd, "one"),
        env: home.env,
      });
    git("init", "-q");
    git("add", "a.txt");
    git("commit", "-q", "-m", "first");
    git("worktree", "add", "-q", "-b", "side", join(home.dir, "side"));
    home.write({ "../side/.agent/threads/there/thread.json": JSON.stringify(envelopeOf("there")) });
    const both = [id, "there"].map((each) => `imported  ${each}\n`).sort();
    const lines = (stdout: string) => stdout.split(/(?<=\n)/).sort();
    expect(lines(await home.ok("import", "one", "--workspace", "two"))).toEqual(both);
    await home.ok("workspaces", "create", "--name", "Three");
    const { url, token } = await home.serve();
    const elsewhere = ["--url", url, "--token", token, "--workspace", "Three"];
    expect(lines(await home.ok("import", "one", ...elsewhere))).toEqual(both);
  });

  test("[CLI134] a line for each thread with its status; what is invalid or refused keeps nothing else out", async () => {
    const id = await startThread();
    home.write({
      "mixed/.agent/threads/good/thread.json": JSON.stringify(envelopeOf("good")),
      "mixed/.agent/threads/good/messages.jsonl": line({ id: "m", role: "user", content: [] }),
      "mixed/.agent/threads/bad/thread.json": "{",
      "empty/x.txt": "",
      "text.tar.gz": "not an archive",
    });
    const { code, stdout, stderr } = await home.run([
      ...["import", "nowhere.tar.gz", "text.tar.gz", "empty", "mixed", "one"],
      ...["--workspace", "one"],
    ]);
    expect(code).toBe(1);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toBe(
      "refused   nowhere.tar.gz: nowhere.tar.gz can't be read: there is no such file or directory",
    );
    expect(lines[1]).toMatch(/^refused {3}text\.tar\.gz: /);
    expect(lines[2]).toBe("refused   empty: there are no threads in it");
    expect(lines[3]).toMatch(/^invalid {3}bad: .*thread\.json/);
    expect(lines.slice(4, 5)).toEqual(["imported  good"]);
    expect(lines).toContain(`exists    ${id}`);
    expect(stderr).toMatch(/^Into one: 1 imported, \d exists, 1 invalid, 3 refused\n$/);
    expect(existsSync(filesIn("one", "bad"))).toBe(false);
  });

  test("[CLI135] standard input is taken once, and never a terminal's", async () => {
    expect((await home.run(["import", "-", "-"])).code).toBe(2);
    expect((await home.onTerminal(["import", "-"])).stdout).toContain("it is a terminal");
  });
});

describe("with a running gateway", () => {
  test("[CLI130] the file is written where the command runs, by a path or by its bytes", async () => {
    const id = await startThread();
    const { url, token } = await home.serve();
    await home.ok("export", id, "by-path.tar.gz");
    const elsewhere = ["--url", url, "--token", token];
    await home.ok("export", id, "by-bytes.tar.gz", ...elsewhere);
    const bytes = readFileSync(join(home.cwd, "by-bytes.tar.gz"));
    expect(entries(bytes)).toBe(entries(readFileSync(join(home.cwd, "by-path.tar.gz"))));
    writeFileSync(join(home.cwd, "by-bytes.tar.gz"), "mine");
    expect((await home.run(["export", id, "by-bytes.tar.gz", ...elsewhere])).code).toBe(1);
    await home.ok("export", id, "by-bytes.tar.gz", "--force", ...elsewhere);
    expect(readFileSync(join(home.cwd, "by-bytes.tar.gz"))).toEqual(bytes);
  });

  test("[CLI132] one that was named by its address is sent archives, and directories thread by thread", async () => {
    const id = await startThread();
    await home.ok("export", id);
    home.write({ "more/.agent/threads/other/thread.json": JSON.stringify(envelopeOf("other")) });
    const { url, token } = await home.serve();
    const elsewhere = ["--url", url, "--token", token, "--workspace", "two"];
    expect(await home.ok("import", `${id}.tar.gz`, "more", ...elsewhere)).toBe(
      `imported  ${id}\nimported  other\n`,
    );
    expect(await home.ok("import", join("one", ".agent", "threads", id), ...elsewhere)).toBe(
      `exists    ${id}\n`,
    );
    const missing = await home.run(["import", "nowhere", ...elsewhere]);
    expect({ code: missing.code, stdout: missing.stdout }).toEqual({
      code: 1,
      stdout: "refused   nowhere: nowhere can't be read: there is no such file or directory\n",
    });
  });

  test("[CLI132] what is too large to be sent is refused with the way around it", async () => {
    const id = await startThread();
    const noise = Buffer.alloc(5 * 1024 * 1024);
    for (let at = 0; at < noise.length; at += 4)
      noise.writeUInt32LE((Math.imul(at + 1, 2654435761) ^ (at * 40503)) >>> 0, at);
    mkdirSync(join(filesIn("one", id), "assets"));
    for (const name of ["a", "b", "c"]) {
      writeFileSync(join(filesIn("one", id), "assets", `noise-${name}.bin`), noise);
    }
    const { url, token } = await home.serve();
    const elsewhere = ["--url", url, "--token", token];
    const big = await home.run(["export", id, "big.tar.gz", ...elsewhere]);
    expect(big.code).toBe(1);
    expect(big.stderr).toContain("On the gateway's own machine, without --url, there is no such limit.");
    expect(existsSync(join(home.cwd, "big.tar.gz"))).toBe(false);
    await home.ok("export", id, "big.tar.gz");
    const sent = await home.run(["import", "big.tar.gz", ...elsewhere, "--workspace", "two"]);
    expect(sent.code).toBe(1);
    expect(sent.stdout).toContain("too many to send. Import it on the gateway's own machine, without --url");
    expect(await home.ok("import", "big.tar.gz", "--workspace", "two")).toBe(`imported  ${id}\n`);
  });
});
