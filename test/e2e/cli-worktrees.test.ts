import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { ownGit, type Repository, repositoryAt } from "../atsf/repository.js";
import { buildCommand, CliHome, ended } from "../support/cli.js";

let home: CliHome;
let repository: Repository;

beforeAll(buildCommand);
/** The current directory is a repository with one commit, and a person who may commit. */
beforeEach(async () => {
  ownGit();
  home = new CliHome();
  writeFileSync(join(home.dir, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n");
  repository = repositoryAt(home.cwd);
  repository.git("init", "-q");
});
afterEach(async () => {
  await home.remove();
  vi.unstubAllEnvs();
});

/** Commits a project whose new worktrees are to be set up so, and makes its workspace. */
async function project(hooks?: object, defaults?: object): Promise<void> {
  const config = {
    specVersion: "1.1",
    ...(defaults && { defaults }),
    ...(hooks && { worktreeHooks: hooks }),
  };
  repository.commit({ "a.txt": "a\n", ".agent/config.json": JSON.stringify(config) });
  await home.ok("workspaces", "create", ".");
}

const HOOKS = {
  symlinks: [{ source: "a.txt", target: "linked.txt" }],
  postSetupCommands: [{ command: "echo set up > made.txt", label: "Making a file" }],
  initialPrompt: "Read a.txt.",
};

describe("threads start --worktree", () => {
  test("[CLI104] tells where the worktree is, waits for its set-up and tells each step", async () => {
    await project(HOOKS);
    await home.ok("trust", "--yes");
    const { code, stdout, stderr } = await home.run(["threads", "start", "--worktree", "--title", "One"]);
    expect(code).toBe(0);
    const [, id = "", path = "", branch = ""] =
      /^Started One {2}(\S+)\nworktree {2}(\S+) {2}branch (\S+)\n$/.exec(stdout) ?? [];
    expect(path).toBe(join(home.data, "worktrees", "work", `thread-${id.slice(-8).toLowerCase()}`));
    expect(branch).toBe(`am-${id.slice(-8).toLowerCase()}`);
    expect(readFileSync(join(path, "made.txt"), "utf8")).toBe("set up\n");
    expect(readFileSync(join(path, "linked.txt"), "utf8")).toBe("a\n");
    expect(stderr).toBe(
      [
        "set-up 1 of 2: a.txt -> linked.txt",
        "set-up 2 of 2: Making a file",
        "set-up    done, 2 steps",
        "          first prompt: Read a.txt.",
        "",
      ].join("\n"),
    );
    const shown = await home.ok("threads", "show", id);
    expect(shown).toContain(`\nworktree   ${path}  branch ${branch}\n`);
    expect(shown).toContain(`\ndirectory  ${join(path, ".agent", "threads", id)}\n`);
    expect(shown).toContain("\nset-up     done, 2 steps\n");
    expect(repository.git("branch", "--list", branch)).toContain(branch);
  });

  test("[CLI104] with a running gateway as well, as JSON with the set-up's end, on a terminal on one line", async () => {
    await project(HOOKS);
    await home.serve();
    await home.ok("trust", "--yes");
    const { stdout, stderr } = await home.run(["threads", "start", "--worktree", "--json"]);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout).thread.setup).toMatchObject({ status: "done", initial_prompt: "Read a.txt." });
    const shown = await home.onTerminal(["threads", "start", "--worktree"], { env: { NO_COLOR: "1" } });
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain("\rset-up 2 of 2: Making a file");
    expect(shown.stdout).toContain("set-up    done, 2 steps\r\n");
  });

  test("[CLI104] a set-up that fails is told with the end of its output, and the thread is there", async () => {
    await project({
      postSetupCommands: [{ command: "echo about to fail; exit 3" }, { command: "echo never > never.txt" }],
    });
    await home.ok("trust", "--yes");
    const { code, stdout, stderr } = await home.run(["threads", "start", "--worktree", "--title", "One"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Started One/);
    expect(stderr).toContain("set-up    failed; the thread works all the same\n");
    expect(stderr).toContain("          failed  echo about to fail; exit 3: ");
    expect(stderr).toContain("            about to fail\n");
    expect(stderr).toContain("          skipped  echo never > never.txt: ");
    const { data } = await home.json("threads");
    expect(data[0].setup).toMatchObject({ status: "failed" });
    await home.ok("threads", "append", data[0].id, "works");
  });

  test("[CLI104] a step that is skipped is told as such, and is not counted among those that ran", async () => {
    const elsewhere = process.platform === "linux" ? "win32" : "linux";
    await project({
      symlinks: [{ source: "a.txt" }],
      postSetupCommands: [
        { command: "echo never > never.txt", label: "Elsewhere", platforms: [elsewhere] },
        { command: "echo set up > made.txt", label: "Here" },
      ],
    });
    await home.ok("trust", "--yes");
    const { stderr } = await home.run(["threads", "start", "--worktree"]);
    expect(stderr).toBe(
      [
        "set-up 1 of 3: a.txt",
        "set-up 2 of 3: Elsewhere  skipped",
        "set-up 3 of 3: Here",
        "set-up    done, 1 step, 2 skipped",
        "          skipped  a.txt: a.txt is there already",
        `          skipped  Elsewhere: not for ${process.platform}`,
        "",
      ].join("\n"),
    );
  });

  test("[CLI116] what is wrong with the project's configuration is told once, on standard error", async () => {
    await project();
    const config = { specVersion: "1.1", agentSettings: { demo: { apiKey: "sk-abcdefghijklmnop" } } };
    repository.write({ ".agent/config.json": JSON.stringify(config) });
    const { code, stdout, stderr } = await home.run(["threads", "start", "--title", "One"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Started One {2}\S+\n$/);
    expect(stderr.match(/looks like a key or token/g)).toHaveLength(1);
    expect((await home.run(["threads", "start", "--json"])).stderr).toBe("");
  });

  test("[CLI105] hooks that are not trusted are not run, and it says how to look at them", async () => {
    await project(HOOKS, { useWorktree: true });
    const { code, stdout, stderr } = await home.run(["threads", "start"]);
    expect(code).toBe(0);
    expect(stderr).toContain("not trusted, so they were not run.\n`heddle trust` shows what they do");
    const [, path = ""] = /^worktree {2}(\S+)/m.exec(stdout) ?? [];
    expect(existsSync(path)).toBe(true);
    expect(existsSync(join(path, "made.txt"))).toBe(false);
    const { data } = await home.json("threads");
    expect(await home.ok("threads", "show", data[0].id)).toMatch(/^set-up +not run: .*`heddle trust`/m);
  });

  test("[CLI104] --no-worktree overrules the project, and without git it is refused", async () => {
    await project(HOOKS, { useWorktree: true });
    expect((await home.json("threads", "start", "--no-worktree")).thread.worktree).toBeUndefined();
    const refused = await home.run(["threads", "start", "--worktree", "--workspace", "Home"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("git");
    expect((await home.json("threads", "--workspace", "Home")).data).toEqual([]);
  });

  test("[CLI106] --no-wait leaves the set-up to a running gateway; a private one has to see to its end", async () => {
    await project({ postSetupCommands: [{ command: "while [ ! -e go ]; do sleep 0.05; done" }] });
    await home.ok("trust", "--yes");
    const gateway = await home.serve();
    const { stdout, stderr } = await home.run(["threads", "start", "--worktree", "--no-wait"]);
    const [, id = ""] = /(thr_\S+)/.exec(stdout) ?? [];
    const [, path = ""] = /^worktree {2}(\S+)/m.exec(stdout) ?? [];
    expect(stderr).toBe(`Its set-up goes on: \`heddle threads show ${id}\` tells how far it is.\n`);
    expect(await home.ok("threads", "show", id)).toMatch(/^set-up +under way$/m);
    const busy = await home.run(["threads", "remove-worktree", id]);
    expect(busy.stderr).toContain("still being set up");
    writeFileSync(join(path, "go"), "");
    await vi.waitFor(
      async () => expect((await home.json("threads", "show", id)).thread.setup.status).toBe("done"),
      { timeout: 20_000, interval: 100 },
    );
    await gateway.stop();
    repository.commit({ go: "" });
    const alone = await home.run(["threads", "start", "--worktree", "--no-wait"]);
    expect(alone.stderr).toContain(
      "No gateway is running that could go on with the set-up: waiting for its end.\n",
    );
    expect(alone.stderr).toContain("set-up    done, 1 step\n");
  });

  test("[CLI107] Ctrl-C ends what a private gateway has started, and the thread says so", async () => {
    await project({ postSetupCommands: [{ command: "echo $$ > pid; exec sleep 600" }] });
    await home.ok("trust", "--yes");
    const child = home.spawn(["threads", "start", "--worktree"]);
    const ending = ended(child);
    let shown = "";
    child.stdout?.on("data", (chunk) => {
      shown += chunk;
    });
    const pidFile = await vi.waitFor(
      () => {
        const [, path = ""] = /^worktree {2}(\S+)/m.exec(shown) ?? [];
        expect(readFileSync(join(path, "pid"), "utf8")).toMatch(/^\d+\n$/);
        return join(path, "pid");
      },
      { timeout: 20_000, interval: 50 },
    );
    child.kill("SIGINT");
    const { signal, stderr } = await ending;
    expect(signal).toBe("SIGINT");
    expect(stderr).not.toContain("heddle:");
    const pid = Number(readFileSync(pidFile, "utf8"));
    for (let tries = 0; tries < 100 && isRunning(pid); tries++) await delay(50);
    expect(isRunning(pid)).toBe(false);
    const { data } = await home.json("threads");
    expect(data[0].setup.status).toBe("interrupted");
    expect(await home.ok("threads", "show", data[0].id)).toMatch(/^set-up +interrupted/m);
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("threads remove-worktree", () => {
  test("[CLI108] work that would be lost is refused with the way to force it; the thread stays", async () => {
    await project();
    const { thread } = await home.json("threads", "start", "--worktree", "--title", "Mine");
    const { id, worktree } = thread;
    await home.ok("threads", "append", id, "keep me");
    writeFileSync(join(worktree.path, "new.txt"), "not committed");
    const refused = await home.run(["threads", "remove-worktree", id]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("new.txt");
    expect(refused.stderr).toContain("`--force` removes the worktree all the same, and they are lost.");
    expect(existsSync(worktree.path)).toBe(true);
    const removed = await home.run(["threads", "remove-worktree", id, "--force"]);
    expect(removed).toMatchObject({ code: 0, stdout: `Removed the worktree of Mine  ${id}\n` });
    expect(existsSync(worktree.path)).toBe(false);
    expect((await home.json("threads", "messages", id)).data[0].content[0].text).toBe("keep me");
    const shown = await home.ok("threads", "show", id);
    expect(shown).toContain(`\ndirectory  ${join(home.cwd, ".agent", "threads", id)}\n`);
    expect(shown).not.toMatch(/^worktree .*[^d]$/m);
  });

  test("[CLI108] the thread's own files are in nobody's way, whatever ignore file the project has", async () => {
    repository.commit({ ".agent/.gitignore": "threads/*/messages.jsonl\n" });
    await project();
    const { thread } = await home.json("threads", "start", "--worktree");
    await home.ok("threads", "append", thread.id, "keep me");
    await home.ok("threads", "remove-worktree", thread.id);
    expect(existsSync(thread.worktree.path)).toBe(false);
    expect((await home.json("threads", "messages", thread.id)).data[0].content[0].text).toBe("keep me");
  });

  test("[CLI108] a worktree that was deleted by hand has taken the thread's files along, and nobody says otherwise", async () => {
    await project();
    const { thread } = await home.json("threads", "start", "--worktree", "--title", "Lost");
    rmSync(thread.worktree.path, { recursive: true });
    const removed = await home.run(["threads", "remove-worktree", thread.id]);
    expect(removed.code).toBe(0);
    expect(removed.stderr).toBe(
      `There was nothing to move: its worktree ${thread.worktree.path} is gone, with the files of this thread. It stays listed.\n`,
    );
    const deleted = await home.run(["threads", "delete", thread.id]);
    expect(deleted).toMatchObject({ code: 0, stdout: `Deleted ${thread.id}\n` });
    expect(deleted.stderr).toBe(`Its files can't come back: its worktree ${thread.worktree.path} is gone.\n`);
  });

  test("[CLI108] a thread without a worktree says so", async () => {
    await project();
    const { thread } = await home.json("threads", "start");
    const { code, stderr } = await home.run(["threads", "remove-worktree", thread.id]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "heddle: This thread has no worktree.\n" });
  });
});

describe("threads delete", () => {
  test("[CLI115] says that a worktree stays and how to remove it, and says nothing of one that is gone", async () => {
    await project();
    const { thread } = await home.json("threads", "start", "--worktree");
    const { id, worktree } = thread;
    const deleted = await home.run(["threads", "delete", id]);
    expect(deleted).toMatchObject({ code: 0, stdout: `Deleted ${id}\n` });
    expect(deleted.stderr).toContain(`Its worktree stays: ${worktree.path}, branch ${worktree.branch}.\n`);
    const [, command = ""] = /else `(git worktree remove [^`]+)`/.exec(deleted.stderr) ?? [];
    expect(existsSync(worktree.path)).toBe(true);
    await home.ok("threads", "undelete", id);
    expect((await home.run(["threads", "delete", id, "--json"])).stderr).toBe("");
    repository.git(...command.split(" ").slice(1));
    expect(existsSync(worktree.path)).toBe(false);
    await home.ok("threads", "undelete", id);
    const { stderr } = await home.run(["threads", "delete", id]);
    expect(stderr).toBe(`Undo within 30 days: heddle threads undelete ${id}\n`);
  });
});

describe("trust", () => {
  test("[CLI110] shows everything that would be done, word for word", async () => {
    await project({
      symlinks: [{ source: ".env" }, { source: "node_modules", target: "lib/node_modules" }],
      postSetupCommands: [
        { command: "npm ci\nnpm test", label: "Harmless", timeout: 300_000, continueOnError: true },
        { command: "chmod +x run \u202e# \u001b[2K", timeout: 0, platforms: ["linux", "darwin"] },
      ],
      initialPrompt: "First line\nsecond line",
    });
    const { code, stdout, stderr } = await home.run(["trust"]);
    expect(code).toBe(0);
    expect(stdout.replace(/[0-9a-f]{64}/, "…")).toBe(
      [
        `Worktree hooks of work  ${home.cwd}`,
        "links into the worktree",
        "  .env",
        "  node_modules -> lib/node_modules",
        "commands, run in the worktree one after the other",
        "  $ npm ci",
        "  > npm test",
        '    (called "Harmless"; at most 300 s; may fail)',
        "  $ chmod +x run \\u{202e}# ^[[2K",
        "    (at most 1800 s; only on linux, darwin)",
        "first prompt",
        "  First line",
        "  second line",
        "sha256  …",
        "They are not trusted: worktrees are made without them.",
        "",
      ].join("\n"),
    );
    expect(stderr).toBe("`heddle trust --yes` trusts exactly this.\n");
  });

  test("[CLI110] links that lead out are told with the reason", async () => {
    const outside = join(home.dir, "outside");
    mkdirSync(outside);
    symlinkSync(outside, join(home.cwd, "away"));
    await project({
      symlinks: [
        { source: "a.txt", target: "b.txt" },
        { source: "../secret" },
        { source: "a.txt", target: "/etc/x" },
        { source: "away/key" },
        { source: "away" },
      ],
    });
    const lines = (await home.ok("trust")).split("\n").slice(2, 7);
    expect(lines).toEqual([
      "  a.txt -> b.txt",
      '  ../secret  not made: "../secret" is no path below the repository\'s root',
      '  a.txt -> /etc/x  not made: "/etc/x" is no path below the worktree\'s root',
      "  away/key  not made: a link on the way to away/key leads out of the repository",
      "  away",
    ]);
    await home.ok("trust", "--yes");
    const { thread } = await home.json("threads", "start", "--worktree");
    const made = thread.setup.steps.map(({ status }: { status: string }) => status === "done");
    expect(made).toEqual(lines.map((line) => !line.includes("not made")));
  });

  test("[CLI110] changes nothing unless it is told to, and trusts that content alone", async () => {
    await project(HOOKS);
    const state = async (...args: string[]) => (await home.json("trust", ...args)).trust[0].trusted;
    expect(await state()).toBe(false);
    await home.ok("trust");
    expect(await state()).toBe(false);
    expect(await state("--yes")).toBe(true);
    expect(await state()).toBe(true);
    expect(await home.ok("trust")).toContain("They are trusted.\n");
    const config = { specVersion: "1.1", worktreeHooks: { ...HOOKS, initialPrompt: "Another." } };
    repository.write({ ".agent/config.json": JSON.stringify(config) });
    expect(await state()).toBe(false);
  });

  test("[CLI110] without hooks it says so, and a configuration that can't be read is told", async () => {
    await project();
    expect(await home.ok("trust")).toBe(
      `work has no worktree hooks, no heddle.config.json and no .mcp.json.  ${home.cwd}\n`,
    );
    expect(await home.ok("trust", "--kind", "hooks")).toBe(`work has no worktree hooks.  ${home.cwd}\n`);
    repository.write({ ".agent/config.json": "{" });
    const { stdout, stderr } = await home.run(["trust", "--yes"]);
    expect(stdout).toBe("");
    expect(stderr).toContain("config.json");
  });

  test("[CLI111] on a terminal it asks, and a no changes nothing", async () => {
    await project(HOOKS);
    const question = "Let exactly this run";
    const no = await home.onTerminal(["trust"], { answers: [[question, "n"]] });
    expect(no.code).toBe(1);
    expect(no.stdout).toContain("Nothing was changed.");
    expect((await home.json("trust")).trust[0].trusted).toBe(false);
    const yes = await home.onTerminal(["trust"], { answers: [[question, "y"]] });
    expect(yes.code).toBe(0);
    expect(yes.stdout).toContain("Trusted:");
    expect((await home.json("trust")).trust[0].trusted).toBe(true);
  });

  test("[CLI111] what was changed while the question stood is not trusted", async () => {
    await project(HOOKS);
    const config = join(home.cwd, ".agent", "config.json");
    const changed = JSON.stringify({ specVersion: "1.1", worktreeHooks: { initialPrompt: "Another." } });
    const answer: [string, string] = ["Let exactly this run", "y"];
    // The file changes in the moment the answer is typed.
    Object.defineProperty(answer, 1, {
      get() {
        writeFileSync(config, changed);
        return "y";
      },
    });
    const { code, stdout } = await home.onTerminal(["trust"], { answers: [answer] });
    expect(code).toBe(1);
    expect(stdout).toContain("look at it again before you trust it");
    expect((await home.json("trust")).trust[0].trusted).toBe(false);
  });
});
