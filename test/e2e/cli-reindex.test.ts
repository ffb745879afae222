import { renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { envelopeOf, line } from "../atsf/support.js";
import { buildCommand, CliHome } from "../support/cli.js";

let home: CliHome;
beforeAll(buildCommand);
beforeEach(() => {
  home = new CliHome();
});
afterEach(() => home.remove());

function thread(project: string, id: string, words: string): void {
  const message = {
    id: `${id}-1`,
    role: "user",
    timestamp: "2026-03-01T10:00:00.000Z",
    content: [{ type: "text", text: words }],
  };
  home.write({
    [`${project}/.agent/threads/${id}/thread.json`]: JSON.stringify(envelopeOf(id)),
    [`${project}/.agent/threads/${id}/messages.jsonl`]: line(message),
  });
}

describe("reindex", () => {
  test("[CLI140] reads the threads of a workspace again and tells what it found", async () => {
    thread("shop", "one", "first");
    thread("shop", "two", "second");
    await home.ok("workspaces", "create", "shop");
    expect(await home.ok("reindex", "--workspace", "shop")).toMatch(
      /^shop: 2 threads; \d added, \d changed, 0 removed\n$/,
    );
    thread("shop", "three", "third");
    home.write({ "shop/.agent/threads/broken/thread.json": "{" });
    const { code, stdout, stderr } = await home.run(["reindex", "--workspace", "shop"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const [summary, problem] = stdout.split("\n");
    expect(summary).toMatch(/^shop: 3 threads; .*, 1 problem$/);
    expect(problem).toContain(join(home.cwd, "shop/.agent/threads/broken"));
    const { data } = await home.json("reindex", "--workspace", "shop");
    expect(data).toEqual([
      expect.objectContaining({
        name: "shop",
        threads: 3,
        problems: [expect.objectContaining({ message: expect.any(String) })],
      }),
    ]);
    expect((await home.json("threads", "search", "third", "--workspace", "shop")).data).toHaveLength(1);
  });

  test("[CLI140] shows on a terminal how far it is, with a running gateway", async () => {
    for (let index = 0; index < 5; index++) thread("shop", `t${index}`, "x");
    await home.ok("workspaces", "create", "shop");
    await home.serve();
    const { code, stdout } = await home.onTerminal(["reindex", "--workspace", "shop"], {
      env: { NO_COLOR: "1" },
    });
    expect(code).toBe(0);
    expect(stdout).toContain("\rshop: looking for threads");
    expect(stdout).toContain("\rshop: reading messages for the search");
    expect(stdout).toMatch(/\rshop: 5 threads; 0 added, 0 changed, 0 removed\r\n$/);
  });

  test("[CLI141] --all goes through every workspace; one whose directory is away keeps no other out", async () => {
    thread("shop", "one", "first");
    thread("away", "two", "second");
    await home.ok("workspaces", "create", "away");
    await home.ok("workspaces", "create", "shop");
    renameSync(join(home.cwd, "away"), join(home.cwd, "unmounted"));
    const { code, stdout } = await home.run(["reindex", "--all"]);
    expect(code).toBe(1);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^Home: 0 threads/);
    expect(lines[1]).toContain(
      `away: The directory of this workspace is not there: ${join(home.cwd, "away")}`,
    );
    expect(lines[2]).toMatch(/^shop: 1 thread; /);
    const { data } = JSON.parse((await home.run(["reindex", "--all", "--json"])).stdout);
    expect(data[1].error).toMatchObject({ kind: "workspace.directory_missing" });
    const alone = await home.run(["reindex", "--workspace", "away"]);
    expect(alone.code).toBe(1);
    expect(alone.stderr).toContain("`heddle workspaces` lists them with their directories.");
    expect((await home.run(["reindex", "--all", "--workspace", "shop"])).code).toBe(2);
  });
});

describe("doctor", () => {
  const check = async (name: string, env: Record<string, string> = {}) => {
    const { stdout } = await home.run(["doctor", "--json"], { env });
    return JSON.parse(stdout).checks.filter((each: { name: string }) => each.name === name);
  };

  test("[CLI96] git is named with its version; without it, what does not work is said", async () => {
    expect(await check("git")).toEqual([
      { name: "git", verdict: "ok", detail: expect.stringMatching(/^git version \d/) },
    ]);
    const [missing] = await check("git", { PATH: home.dir });
    expect(missing).toMatchObject({
      verdict: "warning",
      detail: "not found",
      advice: expect.stringContaining("worktrees"),
    });
  });

  test("[CLI97] with a running gateway, projects that are away or have a wrong configuration are told", async () => {
    home.write({ "away/x": "", "secret/.agent/config.json": "{}" });
    const { workspace } = await home.json("workspaces", "create", "away");
    await home.ok("workspaces", "create", "secret");
    expect(await check("projects")).toEqual([]);
    await home.serve();
    expect(await check("projects")).toEqual([
      { name: "projects", verdict: "ok", detail: "3 workspaces, 2 with a directory" },
    ]);
    renameSync(join(home.cwd, "away"), join(home.cwd, "unmounted"));
    writeFileSync(join(home.cwd, "secret/.agent/config.json"), "{");
    const found = await check("projects");
    expect(found.map(({ verdict }: { verdict: string }) => verdict)).toEqual(["warning", "warning"]);
    expect(found[0].detail).toBe(`the directory of away is not there: ${join(home.cwd, "away")}`);
    expect(found[0].advice).toContain(workspace.id);
    expect(found[1].detail).toMatch(/^secret: .*config\.json/);
  });

  test("[CLI97] [THR120] threads that can't be read are told by doctor, by the list's files and by a reindex", async () => {
    thread("shop", "one", "first");
    await home.ok("workspaces", "create", "shop");
    await home.ok("reindex", "--workspace", "shop");
    const threads = join(home.cwd, "shop/.agent/threads");
    renameSync(threads, `${threads}.away`);
    symlinkSync(threads, threads);
    expect(await home.ok("threads", "list", "--workspace", "shop")).toContain("one");
    const { code, stdout } = await home.run(["reindex", "--workspace", "shop"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^shop: 1 thread; 0 added, 0 changed, 0 removed, 1 problem\n/);
    expect(stdout).toContain(`  ${threads}: `);
    await home.serve();
    const [found] = await check("projects");
    expect(found).toMatchObject({ verdict: "warning", advice: expect.stringContaining(threads) });
    expect(found.detail).toMatch(/^shop: its threads can't be read: /);
  });
});
