import { spawn } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { agentNamed, playByAgent } from "../support/agents.js";
import { freshRepository } from "../support/repository.js";
import { RunScene, runStage } from "../support/runs.js";
import { temporaryDirectory } from "../support/stores.js";
import { type Call, recorded, step, toldOf } from "./support.js";

const stage = runStage(undefined, {
  config: (url) => ({
    plugins: { artifacts: { enabled: false }, agents: { enabled: false } },
    agents: [agentNamed(url, "filer", { toolApprovals: { allow: ["files_*"] }, toolDenylist: ["bash"] })],
  }),
});

const SECRET = "the-secret-outside";

/** A project beside what must not be reached. */
async function project(): Promise<{ scene: RunScene; outer: string }> {
  const outer = realpathSync(temporaryDirectory());
  mkdirSync(join(outer, "project/src"), { recursive: true });
  mkdirSync(join(outer, "outside"));
  writeFileSync(join(outer, "outside/a.txt"), `${SECRET}\n`);
  writeFileSync(join(outer, "project/src/a.txt"), "open\n");
  const scene = await RunScene.over(stage.gateway(), stage.model(), join(outer, "project"));
  return { scene, outer };
}

/** What the agent is told of these calls, made in steps of its own thread. */
async function tries(scene: RunScene, attempts: readonly Call[], thread_id?: string) {
  const id = thread_id ?? (await scene.start({ agent_id: "filer" })).id;
  playByAgent(scene.model, { filer: [step(...attempts), "I see."] });
  await scene.answered(id, "go");
  return { id, told: toldOf(scene, "filer", attempts.length) };
}

const everyTool = (path: string): Call[] => [
  ["files_read", { path }],
  ["files_write", { path, content: "overwritten" }],
  ["files_edit", { path, old_text: SECRET, new_text: "overwritten" }],
  ["files_list", { path }],
  ["files_search", { path, pattern: SECRET }],
];

test("[SCP60] no file tool leads out of the project or into .git and .agent, by whatever path", async () => {
  const { scene, outer } = await project();
  symlinkSync("../outside", join(scene.root, "link"));
  symlinkSync(join(outer, "outside/a.txt"), join(scene.root, "file.txt"));
  symlinkSync("link", join(scene.root, "chain"));
  symlinkSync(".git", join(scene.root, "git"));
  mkdirSync(join(scene.root, ".git"));
  writeFileSync(join(scene.root, ".git/config"), SECRET);
  const paths = [
    "../outside/a.txt",
    "src/../../outside/a.txt",
    join(outer, "outside/a.txt"),
    `${scene.root}/../outside/a.txt`,
    "link/a.txt",
    "chain/a.txt",
    "file.txt",
    "link/new/b.txt",
    ".git/config",
    ".GIT/config",
    "git/config",
    ".agent/config.json",
    "src/.agent/x",
    "/proc/self/environ",
    "/dev/fd/3",
    `/proc/self/cwd/../${"../".repeat(20)}${outer}/outside/a.txt`,
    "src/a.txt\0/../../outside/a.txt",
    `${"a/".repeat(3_000)}b`,
    "x".repeat(300),
    "~/.ssh/id_rsa",
    "file:///etc/passwd",
    "",
  ];
  const attempts = paths.flatMap(everyTool);
  const { id } = await tries(scene, attempts);
  const made = await recorded(scene, id);
  for (const [at, { name, status, output }] of made.entries()) {
    const path = paths[Math.floor(at / 5)] as string;
    // A file of a strange name in the project is a file.
    if (name === "files_write" && /^(~|file:)/.test(path)) continue;
    expect(status, `${name} ${path.slice(0, 80)}: ${output}`).toBe("failed");
    if (!path.startsWith("/")) expect(output).not.toContain(outer);
  }
  expect(made).toHaveLength(attempts.length);
  expect(readFileSync(join(outer, "outside/a.txt"), "utf8")).toBe(`${SECRET}\n`);
  expect(readdirSync(join(outer, "outside"))).toEqual(["a.txt"]);
  expect(readFileSync(join(scene.root, ".git/config"), "utf8")).toBe(SECRET);
  const answers = made.map(({ output }) => output).join("\n");
  expect(answers).not.toContain(`${SECRET}\n`);
});

test("[SCP61] nothing is listed or found that could not be opened and read", async () => {
  const { scene, outer } = await project();
  const word = "needle";
  for (const path of [
    "src/b.txt",
    "deep/er/c.txt",
    ".hidden",
    "odd\nname.txt",
    ".git/x",
    ".agent/y",
    "sub/.git",
  ])
    scene.write(path, `${word}\n`);
  writeFileSync(join(outer, "outside/n.txt"), `${word}\n`);
  symlinkSync("../outside", join(scene.root, "dir-link"));
  symlinkSync("../outside/n.txt", join(scene.root, "file-link"));
  symlinkSync("src/b.txt", join(scene.root, "own-link"));
  symlinkSync("/proc/self", join(scene.root, "proc"));
  const { told } = await tries(scene, [
    ["files_list", { depth: 10 }],
    ["files_list", { glob: "**" }],
    ["files_search", { pattern: word }],
    ["files_search", { pattern: "need.e", regex: true, include: "**" }],
  ]);
  const plain = (line: string): string => (line.startsWith('"') ? JSON.parse(line) : line);
  const listed = told
    .slice(0, 2)
    .flatMap((text) => text.split("\n"))
    .filter((line) => line !== "" && !line.endsWith("/") && !line.endsWith("(a link)"))
    .map(plain);
  const found = told
    .slice(2)
    .flatMap((text) => text.split("\n"))
    .flatMap((line) => /^(.*?):\d+: /.exec(line)?.[1] ?? [])
    .map(plain);
  expect(new Set(found)).toEqual(new Set([".hidden", "deep/er/c.txt", "odd\nname.txt", "src/b.txt"]));
  expect(listed).toEqual(expect.arrayContaining(found));
  const shown = [...new Set([...listed, ...found])];
  const read = await tries(
    scene,
    shown.map((path) => ["files_read", { path }] as const),
  );
  for (const { status, output } of await recorded(scene, read.id)) expect(status, output).toBe("completed");
  for (const name of ["n.txt", ".git", ".agent", "environ"]) expect(shown.join("\n")).not.toContain(name);
});

/** Another program that puts the link in the place of the directory and back, as fast as it can. */
function swapping(root: string) {
  const program = `const { renameSync, rmSync, existsSync } = require("node:fs");
    // A tool that writes may have made the directory anew meanwhile.
    const clear = (path) => {
      try { rmSync(path, { recursive: true, force: true }); } catch {}
    };
    const move = (from, to) => {
      for (;;) try { return renameSync(from, to); } catch { clear(to); }
    };
    let times = 0;
    for (; !existsSync("enough"); times++) {
      move("dir", "aside"); move("link", "dir"); move("dir", "link"); move("aside", "dir");
    }
    process.stdout.write(String(times));`;
  const child = spawn(process.execPath, ["-e", program], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stdout.on("data", (text) => {
    said += text;
  });
  const over = new Promise((resolve) => child.once("close", resolve));
  return {
    /** How often it was swapped. */
    async ended(): Promise<number> {
      writeFileSync(join(root, "enough"), "");
      await over;
      return Number(said);
    },
  };
}

test("[SCP62] a directory that is swapped for a link out, again and again, while tools are at work lets nothing in or out", async () => {
  const { scene, outer } = await project();
  const { root, workspace_id } = scene;
  mkdirSync(join(root, "dir"));
  writeFileSync(join(root, "dir/a.txt"), "open\n");
  symlinkSync(join(outer, "outside"), join(root, "link"));
  const swapper = swapping(root);
  const { id: thread_id } = await scene.start({ agent_id: "filer" });
  const call = async ([name, given]: Call) =>
    (await scene.wire.result("tool/call", { workspace_id, thread_id, name, arguments: given as never }))
      .output;
  const outputs: string[] = [];
  for (let round = 0; round < 40; round++) {
    const attempts: Call[] = [
      ["files_read", { path: "dir/a.txt" }],
      ["files_write", { path: `dir/${round}.txt`, content: "written" }],
      ["files_write", { path: `dir/new${round}/b.txt`, content: "written" }],
      ["files_edit", { path: "dir/a.txt", old_text: SECRET, new_text: "overwritten" }],
      ["files_list", { path: "dir" }],
      ["files_search", { path: "dir", pattern: "secret" }],
    ];
    outputs.push(...(await Promise.all(attempts.map(call))));
  }
  expect(await swapper.ended()).toBeGreaterThan(100);
  for (const output of outputs) expect(output).not.toContain(SECRET);
  expect(readdirSync(join(outer, "outside"))).toEqual(["a.txt"]);
  expect(readFileSync(join(outer, "outside/a.txt"), "utf8")).toBe(`${SECRET}\n`);
});

test("[SCP63] a thread in a worktree can't change the main checkout, nor another's worktree, nor one in the checkout theirs", async () => {
  const repository = freshRepository({ "a.txt": `${SECRET}\n` });
  const scene = await RunScene.over(stage.gateway(), stage.model(), repository.dir);
  const [one, two, main] = [
    await scene.start({ agent_id: "filer", use_worktree: true }),
    await scene.start({ agent_id: "filer", use_worktree: true }),
    await scene.start({ agent_id: "filer" }),
  ];
  const [here = "", there = ""] = [one, two].map(({ worktree }) => worktree?.path);
  symlinkSync(repository.dir, join(here, "checkout"));
  symlinkSync(there, join(repository.dir, "theirs"));
  const places: [string, string[]][] = [
    [one.id, [repository.dir, there, "checkout", `../${there.split("/").at(-1)}`]],
    [main.id, [here, "theirs", ".agent/worktrees"]],
  ];
  for (const [thread_id, roots] of places) {
    const attempts = roots.flatMap((root) => [...everyTool(`${root}/a.txt`), ...everyTool(`${root}/.git`)]);
    await tries(scene, attempts, thread_id);
    for (const { name, status, output } of await recorded(scene, thread_id)) {
      expect(status, `${name}: ${output}`).toBe("failed");
      expect(output).not.toContain(SECRET);
    }
  }
  for (const root of [repository.dir, here, there])
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe(`${SECRET}\n`);
  await tries(scene, [["files_write", { path: "a.txt", content: "mine" }]], one.id);
  expect(readFileSync(join(here, "a.txt"), "utf8")).toBe("mine");
  expect(readFileSync(join(repository.dir, "a.txt"), "utf8")).toBe(`${SECRET}\n`);
});

test("[SCP64] a hard link to a file outside can be read, since nothing tells the two apart, but never written through", async () => {
  const { scene, outer } = await project();
  linkSync(join(outer, "outside/a.txt"), join(scene.root, "hard.txt"));
  const { told } = await tries(scene, [["files_read", { path: "hard.txt" }]]);
  expect(told[0]).toContain(SECRET);
  await tries(scene, [["files_edit", { path: "hard.txt", old_text: SECRET, new_text: "mine" }]]);
  expect(readFileSync(join(scene.root, "hard.txt"), "utf8")).toBe("mine\n");
  await tries(scene, [["files_write", { path: "hard.txt", content: "mine too" }]]);
  expect(readFileSync(join(scene.root, "hard.txt"), "utf8")).toBe("mine too");
  expect(readFileSync(join(outer, "outside/a.txt"), "utf8")).toBe(`${SECRET}\n`);
});

test("[SCP65] from a workspace without a project the data directory around it is out of reach", async () => {
  const gateway = stage.gateway();
  const { dataDir } = gateway.place;
  const scene = new RunScene(await gateway.wire(), gateway.home, join(dataDir, "workspaces"), stage.model());
  const names = ["token", "gateway.json", "heddle.db", "heddle.config.json", "skills/bin/heddle"];
  const paths = names.flatMap((name) => [`../../${name}`, join(dataDir, name)]);
  const { id } = await tries(scene, paths.flatMap(everyTool));
  for (const { name, status, output } of await recorded(scene, id)) {
    expect(status, name).toBe("failed");
    expect(output).not.toContain(gateway.token);
  }
  expect(readFileSync(join(dataDir, "token"), "utf8").trim()).toBe(gateway.token);
  expect(existsSync(join(dataDir, "heddle.config.json"))).toBe(false);
});

test("[SCP66] where a project holds the gateway's own data or configuration, no file tool sees or touches it", async () => {
  const { dataDir } = stage.gateway().place;
  const root = realpathSync(join(dataDir, ".."));
  const scene = await RunScene.over(stage.gateway(), stage.model(), root);
  const data = relative(root, realpathSync(dataDir));
  const paths = [`${data}/token`, `${data}/heddle.config.json`, `${data}/new.txt`, data];
  const { told } = await tries(scene, paths.flatMap(everyTool));
  expect(told.filter((text) => !/No tool touches it|is a directory|There is no/.test(text))).toEqual([]);
  expect(told.join("\n")).not.toContain(stage.gateway().token);
  expect(existsSync(join(dataDir, "new.txt"))).toBe(false);
  const { told: seen } = await tries(scene, [
    ["files_list", { path: ".", depth: 3 }],
    ["files_search", { path: ".", pattern: stage.gateway().token }],
  ]);
  expect(seen[0]).not.toContain(`${data}/`);
  expect(seen[1]).not.toContain(`${data}/`);
});

test("[SCP66] neither the configuration that --config names, in the project or behind a link", async () => {
  const folder = dirname(stage.configFile());
  const scene = await RunScene.over(stage.gateway(), stage.model(), folder);
  const before = readFileSync(stage.configFile(), "utf8");
  symlinkSync("heddle.config.json", join(folder, "mine.json"));
  const { told } = await tries(scene, ["heddle.config.json", "mine.json"].flatMap(everyTool));
  expect(told.filter((text) => !/No tool touches it|is a file/.test(text))).toEqual([]);
  expect(readFileSync(stage.configFile(), "utf8")).toBe(before);
});
