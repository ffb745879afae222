import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { GITIGNORE } from "../../src/atsf/index.js";
import { ownGit, repositoryAt } from "../atsf/repository.js";
import { envelopeOf, line } from "../atsf/support.js";
import { buildCommand, CliHome } from "../support/cli.js";

let home: CliHome;
beforeAll(buildCommand);
beforeEach(() => {
  ownGit();
  home = new CliHome();
});
afterEach(async () => {
  await home.remove();
  vi.unstubAllEnvs();
});

const said = (id: string, words: string, minute = "00") => ({
  id,
  role: "user",
  timestamp: `2026-03-01T10:${minute}:00.000Z`,
  content: [{ type: "text", text: words }],
});

const stats = (messageCount: number) => ({
  stats: { messageCount, userMessageCount: messageCount, agentMessageCount: 0, toolCallCount: 0 },
});

/** A thread whose counts are right, as far as nothing else is said. */
function thread(id: string, messages: readonly object[], more: object = {}, below = "."): void {
  const updatedAt = (messages.at(-1) as { timestamp?: string } | undefined)?.timestamp;
  const derived = { ...stats(messages.length), ...(updatedAt && { updatedAt }) };
  home.write({
    [join(below, ".agent/.gitignore")]: GITIGNORE,
    [join(below, ".agent/threads", id, "thread.json")]: JSON.stringify(
      envelopeOf(id, { ...derived, ...more }),
    ),
    [join(below, ".agent/threads", id, "messages.jsonl")]: messages.map(line).join(""),
  });
}

describe("atsf validate", () => {
  test("[CLI120] names every problem with file, line and advice, counts them, and ends with 1 for errors", async () => {
    thread("sound", [said("m1", "fine")]);
    thread("broken", [said("m1", "one"), said("m1", "again")]);
    const log = join(home.cwd, ".agent/threads/broken/messages.jsonl");
    writeFileSync(log, `${readFileSync(log, "utf8")}not json\n{"id":"torn`);
    const { code, stdout, stderr } = await home.run(["atsf", "validate"]);
    expect(code).toBe(1);
    expect(stdout).toBe(
      [
        ".agent/threads/broken/messages.jsonl:2  warning  Its id m1 stands in line 1 too; this one counts.",
        "    → Nothing needs to be done.",
        ".agent/threads/broken/messages.jsonl:3  error  The line is not JSON.",
        "    → Readers skip it; its bytes stay. Correct it by hand.",
        ".agent/threads/broken/messages.jsonl:4  error  The last line was not written to its end.",
        "    → Repair puts it aside; so does the next append.",
        "2 errors, 1 warning",
        "",
      ].join("\n"),
    );
    expect(stderr).toBe("`heddle atsf repair` mends 1 of them.\n");
  });

  test("[CLI120] warnings alone end with 0, and as JSON it is one object", async () => {
    thread("stale", [said("m1", "one")], stats(7), "sub/shop");
    const { code, stdout } = await home.run(["atsf", "validate", "sub/shop", "--json"]);
    expect(code).toBe(0);
    const dir = join(home.cwd, "sub/shop");
    expect(JSON.parse(stdout)).toEqual({
      dir,
      ok: true,
      errors: 0,
      warnings: 1,
      repairable: 1,
      problems: [
        {
          file: join(dir, ".agent/threads/stale/thread.json"),
          problem: "stale_stats",
          severity: "warning",
          message: "Its counts or its time of change are not those of the log.",
          advice: "Repair counts anew.",
          repairable: true,
        },
      ],
    });
    const plain = await home.run(["atsf", "validate", "sub/shop"]);
    expect(plain).toMatchObject({ code: 0, stderr: "`heddle atsf repair sub/shop` mends 1 of them.\n" });
    expect(plain.stdout).toMatch(/\n0 errors, 1 warning\n$/);
  });

  test("[CLI120] what does not fit the format is told in plain words", async () => {
    const call = { toolCallId: "c", name: "bash", status: "done" };
    const odd = { ...said("m1", "x"), timestamp: "now", toolCalls: [call], tokens: { input: "many" } };
    thread("odd", [odd, said("m2", "fine")]);
    thread("title", [said("m1", "one")], { title: 7 });
    const { stdout } = await home.run(["atsf", "validate"]);
    expect(stdout).toContain("title must be a string, not a number.");
    expect(stdout).toContain("toolCalls.0.status must be one of pending, running, completed, failed.");
    expect(stdout).toContain("tokens.input must be a number, not a string.");
    expect(stdout).toContain("timestamp must be a time such as");
    expect(stdout).not.toMatch(/Invalid|expected/);
  });

  test("[CLI120] a directory without threads says so, one that is not there is refused", async () => {
    expect(await home.ok("atsf", "validate")).toBe(`No threads here: there is no .agent in ${home.cwd}\n`);
    const missing = await home.run(["atsf", "validate", "nowhere"]);
    expect(missing).toMatchObject({ code: 1, stdout: "", stderr: "heddle: nowhere does not exist.\n" });
    writeFileSync(join(home.cwd, "file"), "");
    expect((await home.run(["atsf", "show", "file"])).stderr).toBe("heddle: file is not a directory.\n");
  });
});

describe("atsf repair", () => {
  const breakIt = () => {
    thread("torn", [said("m1", "one")]);
    const log = join(home.cwd, ".agent/threads/torn/messages.jsonl");
    writeFileSync(log, `bad line\n${readFileSync(log, "utf8")}{"id":"half`);
    return log;
  };

  test("[CLI121] mends what can be mended, keeps what it cuts, and says what is left", async () => {
    const log = breakIt();
    const { code, stdout, stderr } = await home.run(["atsf", "repair"]);
    expect(code).toBe(0);
    expect(stdout.replace(/torn-[\w.-]+/, "torn-…")).toBe(
      [
        ".agent/threads/torn/messages.jsonl:3  The last line was not written to its end.",
        "    put it aside as messages.jsonl.torn-…",
        "Mended 1.",
        "",
      ].join("\n"),
    );
    expect(stderr).toBe("Left for you: 1 error, 0 warnings. `heddle atsf validate` tells what to do.\n");
    expect(readFileSync(log, "utf8")).toBe(`bad line\n${line(said("m1", "one"))}`);
    const aside = readdirSync(join(log, "..")).find((name) => name.startsWith("messages.jsonl.torn-"));
    expect(readFileSync(join(log, "..", aside as string), "utf8")).toBe('{"id":"half');
    rmSync(join(home.cwd, ".agent"), { recursive: true });
    thread("sound", []);
    expect(await home.ok("atsf", "repair")).toBe("There is nothing to mend.\n");
  });

  test("[CLI121] --dry-run says what would be mended and changes nothing", async () => {
    const log = breakIt();
    const before = readFileSync(log);
    const { stdout, stderr } = await home.run(["atsf", "repair", "--dry-run"]);
    expect(stdout).toContain(
      "    → Repair puts it aside; so does the next append.\nNothing was changed. It would mend 1.\n",
    );
    expect(stderr).toContain("Left for you: 1 problem.");
    expect(readFileSync(log)).toEqual(before);
    const { dry_run, data, left } = await home.json("atsf", "repair", "--dry-run");
    expect({ dry_run, problems: data.map(({ problem }: { problem: string }) => problem), left }).toEqual({
      dry_run: true,
      problems: ["torn"],
      left: { errors: 2, warnings: 0, repairable: 1 },
    });
    expect((await home.json("atsf", "repair")).data[0].done).toContain("put it aside");
  });
});

describe("atsf and what is no thread", () => {
  test("[CLI121] [ATSF35] one odd entry is left, and everything behind it is mended", async () => {
    thread("sound", [said("m1", "one")]);
    symlinkSync("nowhere", join(home.cwd, ".agent/threads/dangling"));
    thread("torn", [said("m1", "one")]);
    const log = join(home.cwd, ".agent/threads/torn/messages.jsonl");
    writeFileSync(log, `${readFileSync(log, "utf8")}{"id":"half`);
    const { code, stdout, stderr } = await home.run(["atsf", "repair"]);
    expect({ code, last: stdout.trimEnd().split("\n").at(-1) }).toEqual({ code: 0, last: "Mended 1." });
    expect(stderr).toBe("Left for you: 0 errors, 1 warning. `heddle atsf validate` tells what to do.\n");
    expect(await home.ok("atsf", "validate")).toBe(
      [
        ".agent/threads/dangling  warning  It is a link to nothing where threads have their directories.",
        "    → Move it away.",
        "0 errors, 1 warning",
        "",
      ].join("\n"),
    );
  });

  test("[CLI121] what could not be mended is told with the reason, keeps nothing else out, and ends it with 1", async () => {
    for (const id of ["a-locked", "b-next"]) {
      thread(id, [said("m1", "one")]);
      writeFileSync(join(home.cwd, ".agent/threads", id, "thread.json"), "{");
    }
    mkdirSync(join(home.cwd, ".agent/threads/a-locked/thread.lock"));
    const { code, stdout } = await home.run(["atsf", "repair"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/a-locked\/thread\.json .*\n {4}not mended: .*thread\.lock/);
    expect(stdout).toMatch(/b-next\/thread\.json .*\n {4}made a new one from the log; /);
    expect(stdout).toMatch(/\nMended 1, not 1\.\n$/);
  });
});

describe("atsf and worktrees", () => {
  test("[CLI120] [CLI121] threads in git worktrees are validated and repaired with the project's", async () => {
    const repository = repositoryAt(home.cwd);
    repository.git("init", "-q");
    repository.commit({ "a.txt": "a" });
    repository.git("worktree", "add", "-q", "-b", "two", join(home.dir, "two"));
    thread("there", [said("m1", "one")], {}, "../two");
    const log = join(home.dir, "two/.agent/threads/there/messages.jsonl");
    writeFileSync(log, `${readFileSync(log, "utf8")}{"id":"torn`);
    const found = await home.run(["atsf", "validate"]);
    expect(found.code).toBe(1);
    expect(found.stdout).toContain(`${log}:2  error  The last line was not written to its end.\n`);
    expect(found.stdout).toContain("1 error, 0 warnings\n");
    expect((await home.json("atsf", "repair", "--dry-run")).data).toHaveLength(1);
    const { stdout, stderr } = await home.run(["atsf", "repair"]);
    expect(stdout).toContain(`${log}:2  The last line was not written to its end.\n    put it aside as `);
    expect({ last: stdout.trimEnd().split("\n").at(-1), stderr }).toEqual({ last: "Mended 1.", stderr: "" });
    expect(await home.ok("atsf", "validate")).toBe("0 errors, 0 warnings\n");
  });
});

describe("atsf show", () => {
  test("[CLI122] lists the threads of a directory, the latest first, and those that can't be read with the reason", async () => {
    thread("old", [said("m1", "one", "01")], { title: "First" });
    thread("new", [said("m1", "one", "05"), said("m2", "two", "06")], { title: "Second" });
    thread("bad", []);
    writeFileSync(join(home.cwd, ".agent/threads/bad/thread.json"), "{");
    const { code, stdout, stderr } = await home.run(["atsf", "show"]);
    expect(code).toBe(0);
    const [heading, ...rows] = stdout.trimEnd().split("\n");
    expect(heading).toMatch(/^ID +UPDATED +MESSAGES +AGENT +WORKTREE +TITLE$/);
    expect(rows[0]).toMatch(/^new +2026-03-01 10:06 +2 +demo +Second$/);
    expect(rows[1]).toMatch(/^old +2026-03-01 10:01 +1 +demo +First$/);
    expect(rows[2]).toMatch(/^bad +.*thread\.json/);
    expect(stderr).toBe("1 thread can't be read: `heddle atsf validate` tells why.\n");
    const { data } = await home.json("atsf", "show");
    expect(data.map(({ thread_id }: { thread_id: string }) => thread_id)).toEqual(["new", "old", "bad"]);
    expect(data[0].envelope).toMatchObject({ title: "Second", stats: { messageCount: 2 } });
    expect(data[2].error).toContain("thread.json");
  });

  test("[CLI122] threads in git worktrees are found, each once", async () => {
    const repository = repositoryAt(home.cwd);
    repository.git("init", "-q");
    repository.commit({ "a.txt": "a\n" });
    const worktree = join(home.dir, "elsewhere");
    repository.git("worktree", "add", "-q", "-b", "side", worktree);
    const context = { workingDir: worktree, worktree: { path: worktree, branch: "side" } };
    thread("both", [], { title: "Left behind", context });
    thread("both", [said("m1", "one")], { title: "In the worktree", context }, "../elsewhere");
    thread("main", []);
    thread("foreign", [], { context: { workingDir: "/x", relativeDir: "other/project" } }, "../elsewhere");
    const { data } = await home.json("atsf", "show");
    expect(
      data.map(({ thread_id, place }: { thread_id: string; place: string }) => [thread_id, place]),
    ).toEqual([
      ["both", worktree],
      ["main", home.cwd],
    ]);
    expect(await home.ok("atsf", "show")).toMatch(/^both +\S+ \S+ +1 +demo +side +In the worktree$/m);
    expect(await home.ok("atsf", "show", ".", "both")).toContain(`\nworktree   ${worktree}  branch side\n`);
  });

  test("[CLI122] one thread: what its envelope says, and its last messages in their order", async () => {
    thread(
      "long",
      Array.from({ length: 30 }, (_, index) =>
        said(`m${index}`, `number ${index}`, String(index).padStart(2, "0")),
      ),
      { title: "Long one" },
    );
    const { stdout, stderr } = await home.run(["atsf", "show", ".", "long", "--limit", "2"]);
    expect(stdout).toMatch(/^Long one\nid +long\nagent +Demo {2}demo\n/);
    expect(stdout).toContain("\nmessages   30: 30 by the user, 0 by the agent; 0 tool calls\n");
    expect(stdout).toContain(`\ndirectory  ${join(home.cwd, ".agent/threads/long")}\n`);
    expect(stdout).toMatch(
      /\n\n2026-03-01 10:28 {2}user\n {2}number 28\n\n2026-03-01 10:29 {2}user\n {2}number 29\n$/,
    );
    expect(stderr).toContain("There are more: --limit 20");
    const { messages, more, envelope } = await home.json("atsf", "show", ".", "long", "--limit", "30");
    expect({ count: messages.length, first: messages[0].id, more, title: envelope.title }).toEqual({
      count: 30,
      first: "m0",
      more: false,
      title: "Long one",
    });
  });

  test("[CLI122] a thread that is not there, or stands where the directory should, is told", async () => {
    thread("here", []);
    const missing = await home.run(["atsf", "show", ".", "gone", "--json"]);
    expect(missing.code).toBe(1);
    expect(JSON.parse(missing.stderr).error).toMatchObject({
      kind: "thread.unknown",
      thread_id: "gone",
      dir: home.cwd,
    });
    expect((await home.run(["atsf", "show", "here"])).stderr).toBe(
      "heddle: here does not exist. For a thread of this directory: heddle atsf show . here\n",
    );
  });
});

describe("without a gateway", () => {
  test("[CLI123] none is started, and nothing is made", async () => {
    thread("one", [said("m1", "one")]);
    const before = readdirSync(join(home.cwd, ".agent"), { recursive: true }).sort();
    for (const args of [["validate"], ["show"], ["show", ".", "one"], ["repair", "--dry-run"], ["repair"]]) {
      await home.ok("atsf", ...args);
    }
    expect(readdirSync(join(home.cwd, ".agent"), { recursive: true }).sort()).toEqual(before);
    expect(existsSync(join(home.dir, "data"))).toBe(false);
  });
});
