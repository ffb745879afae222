import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buildCommand, CliHome, type ServedGateway } from "../support/cli.js";

const ID = /_[0-9A-Z]{26}/g;
let home: CliHome;
let gateway: ServedGateway;
let workspace: string;
let count = 0;

beforeAll(async () => {
  await buildCommand();
  home = new CliHome();
  gateway = await home.serve();
});
afterAll(() => home.remove());
/** A workspace of its own for each test, bound to the current directory. */
beforeEach(async () => {
  mkdirSync(join(home.dir, `w${++count}`));
  workspace = join(home.dir, `w${count}`);
  await home.ok("workspaces", "create", workspace, "--name", "Work");
});

const ok = (...args: string[]) => home.ok(...args, "--workspace", workspace);
const json = (...args: string[]) => home.json(...args, "--workspace", workspace);
const run = (...args: string[]) => home.run([...args, "--workspace", workspace]);
const anonymous = (text: string) => text.replace(ID, "_…");
const paths = async () => (await json("folders")).data.map(({ path }: { path: string[] }) => path.join("/"));

describe("folders", () => {
  test("[CLI42] create makes what is missing and says which", async () => {
    expect(anonymous(await ok("folders", "create", "Backend/Payments"))).toBe(
      "Created Backend  fld_…\nCreated Backend/Payments  fld_…\n",
    );
    expect(anonymous(await ok("folders", "create", "Backend/Payments/Cards"))).toBe(
      "Created Backend/Payments/Cards  fld_…\n",
    );
    expect(anonymous(await ok("folders", "create", "/Backend"))).toBe("There is already Backend  fld_…\n");
    const { folder, created } = await json("folders", "create", "In\\/Out");
    expect(folder.name).toBe("In/Out");
    expect(created).toEqual([folder]);
    expect((await json("folders", "create", "In\\/Out")).created).toEqual([]);
    expect(anonymous(await ok("folders"))).toBe(
      [
        `ID${" ".repeat(30)}AGENTS.MD  PATH`,
        "fld_…             Backend",
        "fld_…             Backend/Payments",
        "fld_…             Backend/Payments/Cards",
        "fld_…             In\\/Out",
        "",
      ].join("\n"),
    );
  });

  test("[CLI42] a name the gateway refuses is told in plain words", async () => {
    const { code, stderr } = await run("folders", "create", "a\tb");
    expect(code).toBe(1);
    expect(stderr).toBe("heddle: name contains a control character (a line break or tab, for example).\n");
  });

  test("[CLI41] a path that several folders have is refused with their ids", async () => {
    const first = (await json("folders", "create", "Twin")).folder;
    const second = (await json("folders", "create", "Other")).folder;
    await ok("folders", "rename", "Other", "Twin");
    const { code, stderr } = await run("agents-md", "show", "Twin/Below", "--json");
    expect(code).toBe(1);
    expect(JSON.parse(stderr).error).toMatchObject({
      kind: "folder.ambiguous",
      path: ["Twin"],
      folder_ids: [first.id, second.id],
    });
    expect(await ok("tree", second.id)).toBe(`Twin  ${second.id}\n(empty)\n`);
  });

  test("[CLI41] a path that does not exist says how far it does", async () => {
    await ok("folders", "create", "Backend");
    expect((await run("tree", "Backend/Nope/x")).stderr).toContain("no folder Backend/Nope/x, only Backend.");
    expect((await run("tree", `fld_${"0".repeat(26)}`)).stderr).toContain(`no folder fld_${"0".repeat(26)}`);
  });

  test("[CLI43] move and rename", async () => {
    for (const name of ["A", "B", "C"]) await ok("folders", "create", name);
    expect(anonymous(await ok("folders", "move", "A", "B"))).toBe("Moved to B/A  fld_…\n");
    expect(await paths()).toEqual(["B", "B/A", "C"]);
    await ok("folders", "move", "B/A", "/", "--first");
    expect(await paths()).toEqual(["A", "B", "C"]);
    await ok("folders", "move", "A", "/", "--after", "B");
    expect(await paths()).toEqual(["B", "A", "C"]);
    await ok("folders", "move", "B", "/");
    expect(await paths()).toEqual(["A", "C", "B"]);
    expect((await json("folders", "rename", "C", "D/E")).folder.name).toBe("D/E");
    expect(await paths()).toEqual(["A", "D/E", "B"]);
    const inside = await run("folders", "move", "A", "A");
    expect(inside.code).toBe(1);
    expect(inside.stderr).toContain("can't be moved into itself");
    const stranger = await run("folders", "move", "A", "B", "--after", "D\\/E");
    expect(stranger.stderr).toContain("--after must name something in the folder it is moved to.");
  });

  test("[CLI44] delete needs --yes where there is no terminal", async () => {
    await ok("folders", "create", "A/B");
    await ok("threads", "start", "--folder", "A");
    await ok("agents-md", "set", "A", "--text", "x");
    const refused = await run("folders", "delete", "A");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("add --yes");
    expect(await paths()).toEqual(["A", "A/B"]);
    expect(await ok("folders", "delete", "A", "--yes")).toBe(
      "Deleted A. Moved up to /: 1 folder and 1 thread. Its AGENTS.md is archived.\n",
    );
    expect(await paths()).toEqual(["B"]);
    expect(await json("folders", "delete", "B", "--yes")).toMatchObject({
      deleted: true,
      folder: { name: "B" },
    });
  });
});

describe("tree", () => {
  test("[CLI45] draws folders, threads and documents", async () => {
    expect(anonymous(await ok("tree"))).toBe("Work  ws_…\n(empty)\n");
    await ok("folders", "create", "Backend/Payments");
    await ok("folders", "create", "In\\/Out");
    await ok("agents-md", "set", "/", "--text", "root");
    await ok("agents-md", "set", "/", "--text", "root again");
    await ok("agents-md", "set", "Backend", "--text", " \n");
    const { thread } = await json("threads", "start", "--title", "First", "--folder", "Backend/Payments");
    await ok("threads", "start", "--title", "Second", "--folder", "Backend/Payments");
    await ok("threads", "pin", thread.id);
    expect(anonymous(await ok("tree"))).toBe(
      [
        "Work  ws_…",
        "├─ AGENTS.md  version 2",
        "├─ Backend/",
        "│  ├─ AGENTS.md  draft",
        "│  └─ Payments/",
        "│     ├─ First  thr_…  pinned",
        "│     └─ Second  thr_…",
        "└─ In\\/Out/",
        "",
      ].join("\n"),
    );
    expect(anonymous(await ok("tree", "Backend/Payments"))).toBe(
      "Backend/Payments  fld_…\n├─ First  thr_…  pinned\n└─ Second  thr_…\n",
    );
  });

  test("[CLI45] as JSON it is what the wire answers, or the part below a folder", async () => {
    await ok("folders", "create", "A/B");
    await ok("folders", "create", "C");
    await ok("agents-md", "set", "/", "--text", "root");
    await ok("agents-md", "set", "A/B", "--text", "b");
    await ok("threads", "start", "--folder", "C");
    await ok("threads", "start", "--folder", "A");
    const whole = await json("tree");
    expect(Object.keys(whole).sort()).toEqual([
      "agents_docs",
      "folders",
      "placements",
      "seq",
      "threads",
      "workspace_id",
    ]);
    expect(whole.folders.map(({ name }: { name: string }) => name).sort()).toEqual(["A", "B", "C"]);
    const part = await json("tree", "A");
    const [a, b] = part.folders;
    expect([a.name, b.name]).toEqual(["A", "B"]);
    expect(part.agents_docs.map(({ folder_id }: { folder_id: string }) => folder_id)).toEqual([b.id]);
    expect(part.threads.map(({ folder_id }: { folder_id: string }) => folder_id)).toEqual([a.id]);
    expect(part.placements).toHaveLength(1);
  });
});

describe("threads", () => {
  const titles = async (...args: string[]) =>
    (await json("threads", "list", ...args)).data.map(({ title }: { title: string }) => title).sort();

  test("[CLI46] list filters by title, agent and folder", async () => {
    await ok("folders", "create", "A");
    await ok("threads", "start", "--title", "Invoice one", "--folder", "A", "--agent", "demo-notes");
    await ok("threads", "start", "--title", "invoice two");
    await ok("threads", "start", "--title", "Other");
    expect(await titles()).toEqual(["Invoice one", "Other", "invoice two"]);
    expect(await titles("--query", "INVOICE")).toEqual(["Invoice one", "invoice two"]);
    expect(await titles("--agent", "demo-notes")).toEqual(["Invoice one"]);
    expect(await titles("--folder", "A")).toEqual(["Invoice one"]);
    expect(await titles("--folder", "/")).toEqual(["Other", "invoice two"]);
    expect((await ok("threads", "--query", "nothing")).trim()).toContain("No threads found");
    const shown = anonymous(await ok("threads", "--agent", "demo-notes"));
    expect(shown).toMatch(
      /^ID +UPDATED +AGENT +FOLDER +TITLE\nthr_… +\d{4}-\d\d-\d\d \d\d:\d\d +demo-notes +A +Invoice one\n$/,
    );
  });

  test("[CLI46] list goes on to its limit, page by page, and says when there are more", async () => {
    const { url, token } = gateway;
    const { workspace_id } = (await json("threads", "start")).thread;
    const batch = Array.from({ length: 600 }, (_, index) => ({
      jsonrpc: "2.0",
      id: index,
      method: "thread/start",
      params: { workspace_id, title: `Thread ${index}` },
    }));
    await fetch(`${url}/rpc`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
      body: JSON.stringify(batch),
    });
    const all = await json("threads", "--limit", "1000");
    expect(all.more).toBe(false);
    expect(new Set(all.data.map((each: { id: string }) => each.id)).size).toBe(601);
    const some = await json("threads", "--limit", "550", "--folder", "/");
    expect(some.data).toHaveLength(550);
    expect(some.more).toBe(true);
    const { stdout, stderr } = await run("threads");
    expect(stdout.trim().split("\n")).toHaveLength(31);
    expect(stderr).toContain("There are more: --limit 300");
  });

  test("[CLI47] a thread is started, shown, changed, deleted and brought back by its id alone", async () => {
    await ok("folders", "create", "Backend/Payments");
    const { thread } = await json(
      "threads",
      "start",
      "--title",
      "One",
      "--folder",
      "Backend",
      "--agent",
      "demo-notes",
    );
    const { id } = thread;
    expect(thread).toMatchObject({ title: "One", agent_id: "demo-notes", status: "idle" });
    expect(await home.ok("threads", "rename", id, "Two")).toBe(`Renamed to Two  ${id}\n`);
    expect(await home.ok("threads", "move", id, "Backend/Payments")).toBe(
      `Moved Two to Backend/Payments  ${id}\n`,
    );
    await home.ok("threads", "pin", id);
    const shown = await home.ok("threads", "show", id);
    expect(shown).toMatch(/^Two\n/);
    expect(shown).toMatch(/^folder +Backend\/Payments$/m);
    expect(shown).toMatch(/^workspace +Work /m);
    expect(shown).toMatch(/^pinned +\d{4}-/m);
    expect(await home.ok("threads", "unpin", id)).toBe(`Unpinned Two  ${id}\n`);
    expect((await home.json("threads", "show", id)).thread.pinned_at).toBeUndefined();
    const deleted = await home.run(["threads", "delete", id]);
    expect(deleted).toMatchObject({ code: 0, stdout: `Deleted ${id}\n` });
    expect(deleted.stderr).toBe(`Undo within 30 days: heddle threads undelete ${id}\n`);
    expect(await titles()).toEqual([]);
    expect((await home.run(["threads", "show", id])).code).toBe(1);
    expect(await home.ok("threads", "undelete", id)).toBe(`Brought back Two  ${id}\n`);
    expect(await titles()).toEqual(["Two"]);
    expect((await home.json("threads", "move", id, "/")).thread.folder_id).toBeUndefined();
  });
});

describe("workspaces", () => {
  test("[CLI48] made once for a directory, renamed, deleted and brought back", async () => {
    const dir = join(home.dir, `project${count}`);
    mkdirSync(dir);
    const { workspace: made, created } = await home.json("workspaces", "create", dir);
    expect({ created, name: made.name, root_path: made.root_path }).toEqual({
      created: true,
      name: `project${count}`,
      root_path: dir,
    });
    const again = await home.run(["workspaces", "create", dir, "--name", "Else"]);
    expect(again.stdout).toBe(`There is already project${count}  ${made.id}  ${dir}\n`);
    expect(again.stderr).toContain("It keeps its name");
    expect(await home.ok("workspaces", "rename", dir, "Shop")).toBe(`Renamed to Shop  ${made.id}\n`);
    expect(await home.ok("workspaces")).toMatch(new RegExp(`^${made.id} +Shop +${dir}$`, "m"));
    expect((await home.run(["workspaces", "delete", "Shop"])).code).toBe(2);
    const deleted = await home.run(["workspaces", "delete", "Shop", "--yes"]);
    expect(deleted.stderr).toBe(`Undo within 30 days: heddle workspaces undelete ${made.id}\n`);
    expect(await home.ok("workspaces")).not.toContain(made.id);
    expect(await home.ok("workspaces", "undelete", made.id)).toBe(`Shop is back  ${made.id}\n`);
    expect(await home.ok("workspaces")).toContain(made.id);
  });

  test("[CLI49] a workspace whose project was moved is bound to where it is now, and keeps its threads and runs", async () => {
    const dir = join(home.dir, `moved${count}`);
    const now = `${dir}-now`;
    mkdirSync(dir);
    const { workspace: made } = await home.json("workspaces", "create", dir);
    const { thread } = await home.json("threads", "start", "--title", "Stays", "--workspace", made.id);
    await home.ok("send", "--thread", thread.id, "hello");
    renameSync(dir, now);
    const away = await home.run(["send", "--thread", thread.id, "again"]);
    expect(away.code).toBe(1);
    expect(away.stderr).toContain(`heddle workspaces bind ${made.id} DIR`);
    expect(await home.ok("workspaces", "bind", dir, now)).toBe(`Bound moved${count} to ${now}  ${made.id}\n`);
    await home.ok("send", "--thread", thread.id, "again");
    const { data } = await home.json("runs", "--thread", thread.id);
    expect(data.map(({ status }: { status: string }) => status)).toEqual([
      "completed",
      "failed",
      "completed",
    ]);
    const taken = await home.run(["workspaces", "bind", made.id, workspace]);
    expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining("already belongs to") });
  });

  test.each([
    ["workspaces", "delete", "", "--yes"],
    ["folders", "delete", "", "--yes"],
    ["agents-md", "set", "", "--text", "of nobody"],
    ["send", "--folder", "", "hello"],
    ["tree", "--workspace", ""],
    ["tree", "--data", ""],
  ])("[CLI50] an empty name stands for nothing: %s %s", async (...args) => {
    const { code, stdout, stderr } = await home.run(args, { cwd: workspace });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("empty");
    expect(await home.ok("workspaces")).toContain(workspace);
  });

  test("[CLI48] Home can't be deleted, a directory must exist", async () => {
    const refused = await home.run(["workspaces", "delete", "Home", "--yes"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toBe("heddle: The Home workspace can't be deleted.\n");
    const missing = await home.run(["workspaces", "create", "nowhere"]);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain(join(home.cwd, "nowhere"));
  });

  test("[CLI22] the list marks the one a command would use here", async () => {
    const { stdout } = await home.run(["workspaces"], { cwd: workspace });
    expect(stdout).toMatch(new RegExp(`Work \\(here\\) +${workspace}$`, "m"));
    expect((await home.json("workspaces")).data[0]).toMatchObject({ name: "Home" });
  });
});
