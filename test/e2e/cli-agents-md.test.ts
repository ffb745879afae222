import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buildCommand, CliHome, type RunOptions } from "../support/cli.js";

let home: CliHome;
let workspace: string;
let count = 0;

beforeAll(async () => {
  await buildCommand();
  home = new CliHome();
  await home.serve();
});
afterAll(() => home.remove());
beforeEach(async () => {
  workspace = join(home.dir, `w${++count}`);
  mkdirSync(workspace);
  await home.ok("workspaces", "create", workspace, "--name", "Work");
});

const ok = (...args: string[]) => home.ok("agents-md", ...args, "--workspace", workspace);
const json = (...args: string[]) => home.json("agents-md", ...args, "--workspace", workspace);
const run = (args: string[], options: RunOptions = {}) =>
  home.run(["agents-md", ...args, "--workspace", workspace], options);
const folders = (...paths: string[]) =>
  Promise.all(paths.map((path) => home.ok("folders", "create", path, "--workspace", workspace)));
const dated = (text: string) => text.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, "DATE");
const RULE = "─".repeat(40);

describe("show", () => {
  test("[CLI60] where it comes from and what it overrides, then the text; with --text the text alone", async () => {
    await folders("Backend/Payments");
    await ok("set", "/", "--text", "# Root\n");
    await ok("set", "Backend", "--text", "# Old\n");
    await ok("set", "Backend", "--text", "# Backend\n\nnot the end");
    const own = await run(["show", "Backend"]);
    expect(own).toMatchObject({ code: 0, stderr: "" });
    expect(dated(own.stdout)).toBe(
      [
        "AGENTS.md in effect for Backend  workspace Work",
        "from       Backend (its own), version 2, saved DATE by cli",
        "overrides  /, version 1",
        RULE,
        "# Backend",
        "",
        "not the end",
        "",
      ].join("\n"),
    );
    const inherited = await run(["show", "Backend/Payments"]);
    expect(inherited.stdout).toContain("from       Backend (inherited), version 2");
    expect(await ok("show", "Backend/Payments", "--text")).toBe("# Backend\n\nnot the end");
    const root = await run(["show"]);
    expect(root.stdout).toMatch(/─\n# Root\n$/);
    expect(root.stdout).not.toContain("overrides");
  });

  test("[CLI60] everything it overrides, nearest first; as JSON too", async () => {
    await folders("A/B/C");
    for (const folder of ["/", "A", "A/B/C"]) await ok("set", folder, "--text", `of ${folder}`);
    const { stdout } = await run(["show", "A/B/C"]);
    expect(stdout).toContain("overrides  A, version 1\n           /, version 1\n");
    const shown = await json("show", "A/B");
    expect(shown).toMatchObject({
      path: ["A", "B"],
      effective: {
        source_path: ["A"],
        inherited: true,
        doc: { content: "of A", version: 1, updated_by: "cli" },
      },
      overrides: [{ path: [], status: "active", version: 1 }],
    });
    expect(shown.explicit).toBeUndefined();
    expect((await json("show", "A/B/C")).explicit).toMatchObject({ version: 1, status: "active" });
  });

  test("[CLI61] a draft here does not count, and it says so", async () => {
    await folders("Backend");
    await ok("set", "/", "--text", "root");
    const saved = await run(["set", "Backend", "--text", " \n"]);
    expect(saved.stdout).toBe("Saved the AGENTS.md of Backend: version 1\n");
    expect(saved.stderr).toBe("It is empty, so it does not count: in effect is that of /, version 1.\n");
    const { stdout } = await run(["show", "Backend"]);
    expect(stdout).toMatch(/─\nroot\n$/);
    expect(stdout).toContain(
      "draft      Backend has one of its own (version 1), but it is empty and does not count",
    );
  });

  test("[CLI61] nothing in effect: it says so, and how to write one", async () => {
    await folders("In\\/Out now");
    const { code, stdout, stderr } = await run(["show", "In\\/Out now"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await ok("show", "In\\/Out now", "--text")).toBe("");
    expect(stdout).toBe(
      "No AGENTS.md is in effect for In\\/Out now  workspace Work\nwrite one  heddle agents-md edit 'In\\/Out now'\n",
    );
    expect(await json("show", "In\\/Out now")).toMatchObject({ path: ["In/Out now"], overrides: [] });
  });

  test("[CLI62] of a thread: what is in effect in its folder", async () => {
    await folders("Backend/Payments");
    await ok("set", "Backend", "--text", "backend");
    const { thread } = await home.json(
      ...["threads", "start", "--title", "Cards", "--folder", "Backend/Payments", "--workspace", workspace],
    );
    // By the thread's id alone: the workspace of the current directory is another one.
    const { stdout } = await home.run(["agents-md", "show", thread.id]);
    expect(stdout).toMatch(/─\nbackend\n$/);
    expect(stdout).toContain(
      'AGENTS.md in effect for the thread "Cards" in Backend/Payments  workspace Work',
    );
    const shown = await home.json("agents-md", "show", thread.id);
    expect(shown).toMatchObject({ thread_id: thread.id, path: ["Backend", "Payments"] });
    expect((await home.run(["agents-md", "show", "thr_none"])).stderr).toContain(
      "There is no thread thr_none.",
    );
  });
});

describe("set", () => {
  test("[CLI63] from a file, from standard input, from the command line", async () => {
    await folders("Backend");
    home.write({ "rules.md": "from a file\n" });
    await ok("set", "/", "rules.md");
    expect(await ok("show", "--text")).toBe("from a file\n");
    expect((await run(["set", "Backend"], { input: "from input\r\n" })).code).toBe(0);
    expect(await ok("show", "--text", "Backend")).toBe("from input\n");
    expect((await run(["set", "/", "-"], { input: "\uFEFFdash" })).stdout).toContain("version 2");
    expect(await ok("show", "--text")).toBe("dash");
    const { doc } = await json("set", "/", "--text", "by hand");
    expect(doc).toMatchObject({ version: 3, content: "by hand", status: "active" });
    expect((await json("history")).data[0]).toMatchObject({ reason: "manual", saved_by: "cli", version: 3 });
  });

  test("[CLI63] a text it has already is unchanged", async () => {
    expect(await ok("set", "/", "--text", "same")).toBe("Saved the AGENTS.md of /: version 1\n");
    expect(await ok("set", "/", "--text", "same")).toBe(
      "Unchanged: the AGENTS.md of / has this text already (version 1).\n",
    );
  });

  test("[CLI63] a file where the folder should be is told apart", async () => {
    home.write({ "AGENTS.md": "x" });
    const { code, stderr } = await run(["set", "AGENTS.md"]);
    expect(code).toBe(2);
    expect(stderr).toContain("heddle agents-md set / AGENTS.md");
  });

  test("[CLI64] what can't be saved is refused and nothing is saved", async () => {
    home.write({ "latin1.md": Buffer.from("caf\xe9", "latin1"), "long.md": "é".repeat(65_537) });
    const refusals: [string[], string][] = [
      [["set", "/", "latin1.md"], "latin1.md is not UTF-8 text"],
      [["set", "/", "long.md"], "65537 characters; the limit is 65536"],
      [["set", "/", "none.md"], "none.md can't be read: there is no such file"],
      [["set", "/", "."], ". can't be read: it is a directory"],
    ];
    for (const [args, why] of refusals) {
      const { code, stderr } = await run(args);
      expect({ args, code }).toEqual({ args, code: 1 });
      expect(stderr).toContain(why);
    }
    expect((await run(["set", "/"], { input: "a\0b" })).stderr).toContain("content contains a NUL character");
    expect((await json("history")).data).toEqual([]);
  });

  test("[CLI65] --expected-version refuses to build on another version", async () => {
    await ok("set", "/", "--text", "one", "--expected-version", "0");
    for (const args of [
      ["set", "/", "--text", "two", "--expected-version", "0"],
      ["archive", "/", "--expected-version", "7"],
      ["history", "/", "--restore", "1", "--expected-version", "2"],
    ]) {
      const { code, stderr } = await run([...args, "--json"]);
      expect({ args, code }).toEqual({ args, code: 1 });
      expect(JSON.parse(stderr).error).toMatchObject({ kind: "version_conflict", actual_version: 1 });
    }
    expect((await json("history")).data).toHaveLength(1);
  });
});

describe("archive and history", () => {
  test("[CLI70] archive says what is in effect then and how to undo it", async () => {
    await folders("Back end");
    await ok("set", "/", "--text", "root");
    await ok("set", "Back end", "--text", "backend");
    const { stdout, stderr } = await run(["archive", "Back end"]);
    expect(stdout).toBe("Archived the AGENTS.md of Back end; in effect is that of /, version 1.\n");
    const [, undo = ""] = /^Undo: heddle agents-md (.+)$/m.exec(stderr) ?? [];
    expect(undo).toMatch(/^history 'Back end' --restore 1 --doc agd_/);
    expect(await ok("show", "--text", "Back end")).toBe("root");
    await ok("history", "Back end", ...undo.split(" ").slice(3));
    expect(await ok("show", "--text", "Back end")).toBe("backend");
    expect(await ok("archive", "/")).toBe("Archived the AGENTS.md of /; nothing is in effect.\n");
    expect(await ok("archive", "/")).toBe("/ has no AGENTS.md of its own. Nothing was changed.\n");
    expect(await json("archive", "/")).toEqual({ archived: false });
  });

  test("[CLI71] history lists every version, prints one and restores one", async () => {
    expect(await ok("history")).toBe("/ never had an AGENTS.md of its own.\n");
    for (const text of ["one", "two\n", "three"]) await ok("set", "/", "--text", text);
    expect(dated(await ok("history"))).toBe(
      [
        "VERSION  SAVED             BY   REASON  CHARACTERS",
        "3        DATE  cli  manual  5",
        "2        DATE  cli  manual  4",
        "1        DATE  cli  manual  3",
        "",
      ].join("\n"),
    );
    const limited = await run(["history", "--limit", "2"]);
    expect(limited.stdout.trim().split("\n")).toHaveLength(3);
    expect(limited.stderr).toBe("There are more: --limit 20\n");
    const printed = await run(["history", "--version", "2"]);
    expect(printed.stdout).toBe("two\n");
    expect(dated(printed.stderr)).toBe("AGENTS.md of /, version 2, DATE by cli (manual)\n");
    expect((await json("history", "--version", "1")).revision).toMatchObject({ content: "one", version: 1 });
    expect(await ok("history", "--restore", "1")).toBe(
      "Restored version 1 of the AGENTS.md of / as version 4\n",
    );
    expect(await ok("show", "--text")).toBe("one");
    const missing = await run(["history", "--version", "9"]);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain("no version 9; its latest is 4");
  });

  test("[CLI71] after an archive, earlier documents are reached by their id", async () => {
    await ok("set", "/", "--text", "first");
    const [{ doc_id: first }] = (await json("history")).data;
    await ok("archive");
    expect(await ok("history", "--version", "1")).toBe("first");
    await ok("set", "/", "--text", "second");
    expect(await ok("history", "--version", "1")).toBe("second");
    expect(await ok("history", "--version", "1", "--doc", first)).toBe("first");
    const listed = await ok("history");
    expect(listed).toMatch(/^DOC +VERSION/);
    expect(listed.match(new RegExp(first, "g"))).toHaveLength(2);
    const { data, more } = await json("history", "--doc", first);
    expect({ ids: data.map(({ doc_id }: { doc_id: string }) => doc_id), more }).toEqual({
      ids: [first, first],
      more: false,
    });
    expect(await json("history", "--doc", first, "--limit", "1")).toMatchObject({ data: [{}], more: true });
    const unknown = await run(["history", "--doc", "agd_none"]);
    expect(unknown).toMatchObject({ code: 1, stdout: "" });
    expect(unknown.stderr).toContain("/ never had a document agd_none.");
  });

  test("[CLI71] history goes on past a page", async () => {
    for (let version = 1; version <= 3; version++) await ok("set", "/", "--text", `v${version}`);
    const { data, more } = await json("history", "--limit", "2");
    expect({ versions: data.map((each: { version: number }) => each.version), more }).toEqual({
      versions: [3, 2],
      more: true,
    });
    expect((await json("history", "--limit", "1000")).more).toBe(false);
  });
});

describe("edit", () => {
  const edit = (script: string, ...args: string[]) =>
    run(["edit", ...args], { env: { VISUAL: home.editor(script), EDITOR: "false" } });
  const left = () => readdirSync(join(home.dir, "tmp"));

  test("[CLI66] opens a file called AGENTS.md with the scope's own text and saves it", async () => {
    await folders("Backend");
    await ok("set", "/", "--text", "root");
    await ok("set", "Backend", "--text", "backend\n");
    const { code, stdout } = await edit(
      'basename "$1" >> "$1"; stat -c %a "$1" >> "$1" || stat -f %Lp "$1" >> "$1"',
      "Backend",
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Saved the AGENTS.md of Backend: version 2\n" });
    expect(await ok("show", "--text", "Backend")).toBe("backend\nAGENTS.md\n600\n");
    expect((await json("history", "Backend")).data[0]).toMatchObject({ reason: "manual" });
    expect(left()).toEqual([]);
  });

  test("[CLI66] a new one starts empty, or from the inherited text", async () => {
    await folders("A", "B");
    await ok("set", "/", "--text", "root\n");
    const empty = await edit('echo own >> "$1"', "A");
    expect(empty.stderr).toContain("A has none yet and inherits that of /.");
    expect(await ok("show", "--text", "A")).toBe("own\n");
    await edit('echo more >> "$1"', "B", "--inherited");
    expect(await ok("show", "--text", "B")).toBe("root\nmore\n");
  });

  test("[CLI66] an editor with arguments, and from EDITOR", async () => {
    const editor = home.editor('echo "$1 $2" > "$3"');
    const { code } = await run(["edit"], { env: { EDITOR: `${editor} --wait 'a b'` } });
    expect(code).toBe(0);
    expect(await ok("show", "--text")).toBe("--wait a b\n");
  });

  test("[CLI67] a failed or idle editor saves nothing", async () => {
    await ok("set", "/", "--text", "before");
    const idle = await edit("true");
    expect(idle).toMatchObject({ code: 0, stdout: "No change: the AGENTS.md of / stays as it is.\n" });
    expect(await edit("exit 4")).toMatchObject({ code: 1, stdout: "" });
    expect(left()).toEqual([]);
    const missing = await run(["edit"], { env: { VISUAL: "no-such-editor-here" } });
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain(
      "`no-such-editor-here` was not found; set VISUAL or EDITOR. Nothing was saved.",
    );
    const half = await run(["edit", "--json"], { env: { VISUAL: home.editor('echo half >> "$1"; exit 4') } });
    const { error } = JSON.parse(half.stderr);
    expect(error.kind).toBe("edit.editor_failed");
    expect(readFileSync(error.kept, "utf8")).toBe("beforehalf\n");
    expect((await json("history")).data).toHaveLength(1);
  });

  test("[CLI68] after a conflict both texts are there, and the message names the file", async () => {
    await ok("set", "/", "--text", "base\n");
    const theirs = `'${process.execPath}' '${join(process.cwd(), "dist/bin/heddle.js")}' agents-md set / --text theirs --workspace '${workspace}'`;
    const { code, stderr } = await edit(`${theirs} > /dev/null; echo mine >> "$1"`);
    expect(code).toBe(1);
    expect(stderr).toContain("Someone saved version 2 while you were editing. Yours was not saved.");
    const [, kept = ""] = /Your text is in (.+)$/m.exec(stderr) ?? [];
    expect(readFileSync(kept, "utf8")).toBe("base\nmine\n");
    expect(await ok("show", "--text")).toBe("theirs");
    expect(stderr).toContain(`heddle agents-md set / ${kept}`);
    await ok("set", "/", kept);
    expect(await ok("show", "--text")).toBe("base\nmine\n");
  });

  test("[CLI68] a text that is refused stays in its file too", async () => {
    const long = await edit('head -c 70000 /dev/zero | tr "\\0" x > "$1"');
    expect(long.code).toBe(1);
    expect(long.stderr).toContain("Not saved: content has 70000 characters");
    const [, kept = ""] = /Your text is in (.+)$/m.exec(long.stderr) ?? [];
    expect(readFileSync(kept, "utf8")).toHaveLength(70_000);
    const binary = await edit("printf 'a\\377' > \"$1\"");
    expect(binary.stderr).toContain("is not UTF-8 text");
    expect(existsSync((/Your text is in (.+)$/m.exec(binary.stderr) ?? [])[1] ?? "")).toBe(true);
    expect((await json("history")).data).toEqual([]);
  });
});

describe("without a gateway", () => {
  test("[CLI69] other commands work while the editor is open", async () => {
    const alone = new CliHome();
    try {
      const command = `'${process.execPath}' '${join(process.cwd(), "dist/bin/heddle.js")}'`;
      const editor = alone.editor(`${command} folders create Meanwhile > "$1"`);
      const { code } = await alone.run(["agents-md", "edit"], { env: { VISUAL: editor } });
      expect(code).toBe(0);
      expect(await alone.ok("agents-md", "show", "--text")).toMatch(/^Created Meanwhile {2}fld_/);
      expect(await alone.ok("tree")).toContain("Meanwhile/");
    } finally {
      await alone.remove();
    }
  });
});
