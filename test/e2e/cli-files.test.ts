import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buildCommand, CliHome, type ServedGateway } from "../support/cli.js";
import { Wire } from "../support/wire.js";

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
beforeEach(async () => {
  workspace = join(home.dir, `w${++count}`);
  mkdirSync(workspace);
  await home.ok("workspaces", "create", workspace);
});

const run = (...args: string[]) => home.run([...args, "--workspace", workspace]);
const ok = (...args: string[]) => home.ok(...args, "--workspace", workspace);
/** Runs a command of which something is refused. */
const refused = async (...args: string[]) => {
  const { code, stdout } = await run(...args, "--json");
  expect(code).toBe(1);
  return JSON.parse(stdout);
};
const dir = (name: string) => join(home.cwd, `${count}`, name);
const write = (files: Record<string, string | Buffer>) =>
  home.write(Object.fromEntries(Object.entries(files).map(([path, text]) => [join(`${count}`, path), text])));

/** Every document of the workspace by its path. */
async function documents(): Promise<Record<string, string>> {
  const tree = await home.json("tree", "--workspace", workspace);
  const { data } = await home.json("folders", "--workspace", workspace);
  const found: Record<string, string> = {};
  for (const { folder_id } of tree.agents_docs) {
    const folder = data.find(({ id }: { id: string }) => id === folder_id);
    found[folder ? folder.path.join("/") : "/"] = await ok("agents-md", "show", "--text", folder_id ?? "/");
  }
  return found;
}

/** Every file below a directory by its path. */
function files(below: string, path = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(join(below, path), { withFileTypes: true })) {
    const name = join(path, entry.name);
    if (entry.isDirectory()) Object.assign(found, files(below, name));
    else found[name] = readFileSync(join(below, name), "utf8");
  }
  return found;
}

describe("import", () => {
  test("[CLI80] each file becomes the document of the folder with the same path", async () => {
    write({
      "p/AGENTS.md": "root\n",
      "p/a/b/AGENTS.md": "deep\r\n",
      "p/a/other.md": "no",
      "p/back\\slash/AGENTS.md": "slash",
      "p/c/agents.md": "no",
    });
    expect(await ok("agents-md", "import", dir("p"))).toBe(
      [
        "folder     a",
        "folder     a/b",
        "folder     back\\slash",
        "created    /",
        "created    a/b",
        "created    back\\slash",
        "3 created, 0 updated, 0 unchanged, 0 refused",
        "",
      ].join("\n"),
    );
    expect(await documents()).toEqual({ "/": "root\n", "a/b": "deep\n", "back\\slash": "slash" });
    expect(await ok("agents-md", "import", dir("p"))).toBe("0 created, 0 updated, 3 unchanged, 0 refused\n");
    write({ "p/AGENTS.md": "new\n" });
    const again = await ok("agents-md", "import", dir("p"));
    expect(again).toBe("updated    /\n0 created, 1 updated, 2 unchanged, 0 refused\n");
    const { data } = await home.json("agents-md", "history", "--workspace", workspace);
    expect(data.map((each: { reason: string }) => each.reason)).toEqual(["manual", "manual"]);
  });

  test("[CLI81] hidden directories, node_modules and links that lead out are left out", async () => {
    write({
      "p/.git/AGENTS.md": "no",
      "p/.hidden/x/AGENTS.md": "no",
      "p/node_modules/x/AGENTS.md": "no",
      "p/real/AGENTS.md": "yes",
      "p/linked/CLAUDE.md": "by a link",
      "p/out/x": "",
      "secret/AGENTS.md": "secret",
    });
    symlinkSync("CLAUDE.md", join(dir("p"), "linked/AGENTS.md"));
    symlinkSync(join(dir("secret"), "AGENTS.md"), join(dir("p"), "out/AGENTS.md"));
    symlinkSync(dir("secret"), join(dir("p"), "secret"));
    symlinkSync("..", join(dir("p"), "real/circle"));
    const { data, summary } = await refused("agents-md", "import", dir("p"));
    expect(summary).toEqual({ created: 2, updated: 0, unchanged: 0, refused: 1 });
    expect(data.find(({ status }: { status: string }) => status === "refused")).toEqual({
      path: ["out"],
      file: join(dir("p"), "out/AGENTS.md"),
      status: "refused",
      reason: "it is a link that leads out of the directory",
    });
    expect(await documents()).toEqual({ real: "yes", linked: "by a link" });
  });

  test("[CLI82] what can't be taken is told of, the rest is imported", async () => {
    write({
      "p/bin/AGENTS.md": Buffer.from([0x61, 0xff]),
      "p/good/AGENTS.md": "good",
      "p/huge/AGENTS.md": Buffer.alloc(700_000, "a"),
      "p/long/AGENTS.md": "😀".repeat(65_537),
      "p/most/AGENTS.md": "😀".repeat(65_536),
      "p/nul/AGENTS.md": "a\0b",
      "p/tab\tx/AGENTS.md": "t",
      "p/twin/AGENTS.md": "t",
    });
    await ok("folders", "create", "twin");
    await ok("folders", "create", "other");
    await ok("folders", "rename", "other", "twin");
    const { code, stdout } = await run("agents-md", "import", dir("p"));
    expect(code).toBe(1);
    const place = (name: string) => `  ${join(dir("p"), name, "AGENTS.md")}`;
    expect(stdout.split("\n")).toEqual([
      "folder     good",
      "folder     most",
      `refused    bin: it is not UTF-8 text${place("bin")}`,
      "created    good",
      `refused    huge: it has more characters; the limit is 65536${place("huge")}`,
      `refused    long: it has 65537 characters; the limit is 65536${place("long")}`,
      "created    most",
      `refused    nul: it contains a NUL character or a lone surrogate, which can't be stored${place("nul")}`,
      expect.stringMatching(
        /^refused {4}tab\^Ix: a folder can't be called "tab\\tx": its name contains a control/,
      ),
      expect.stringMatching(/^refused {4}twin: 2 folders are called twin/),
      "2 created, 0 updated, 0 unchanged, 6 refused",
      "",
    ]);
    expect(Object.keys(await documents())).toEqual(["good", "most"]);
    expect((await run("agents-md", "import", dir("nowhere"))).stderr).toContain(
      "can't be read: there is no such",
    );
  });

  test("[CLI83] a dry run says the same and changes nothing", async () => {
    write({ "p/AGENTS.md": "root", "p/a/AGENTS.md": "a", "p/bin/AGENTS.md": Buffer.from([0xff]) });
    const dry = await refused("agents-md", "import", dir("p"), "--dry-run");
    expect(dry).toMatchObject({ dry_run: true, folders_created: [] });
    expect(await documents()).toEqual({});
    expect((await run("agents-md", "import", dir("p"), "--dry-run")).stdout).toContain(
      "Nothing was changed.",
    );
    const real = await refused("agents-md", "import", dir("p"));
    expect(real.data).toEqual(dry.data);
    expect(real.folders_created).toEqual([["a"]]);
  });

  test("[CLI87] what someone changes meanwhile is not overwritten", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [
        `p/d${String(index).padStart(3, "0")}/AGENTS.md`,
        "imported",
      ]),
    );
    write(many);
    const wire = await Wire.open(gateway.url, gateway.token);
    const { workspace_id } = await home.json("tree", "--workspace", workspace);
    await wire.result("subscribe", { workspace_id });
    const importing = home.run(["agents-md", "import", dir("p"), "--workspace", workspace, "--json"]);
    // Folders are made before anything is saved: the last ones are overtaken before their turn comes.
    const overtaken: string[] = [];
    for (const wanted of ["d198", "d199"]) {
      const folder = await folderNamed(wire, wanted);
      await wire.result("thread/agents_doc/save", { workspace_id, folder_id: folder, content: "mine" });
      overtaken.push(folder);
    }
    const { code, stdout } = await importing;
    const { data, summary } = JSON.parse(stdout);
    expect({ code, summary }).toEqual({
      code: 1,
      summary: { created: 198, updated: 0, unchanged: 0, refused: 2 },
    });
    expect(data.at(-1)).toMatchObject({
      path: ["d199"],
      reason: "someone else changed it meanwhile; import again",
    });
    for (const folder_id of overtaken) {
      const { explicit } = await wire.result("thread/agents_doc/get", { workspace_id, folder_id });
      expect(explicit?.content).toBe("mine");
    }
    wire.close();
  });
});

/** Waits until a folder of that name is announced. */
async function folderNamed(wire: Wire, name: string): Promise<string> {
  for (let seen = 1; ; seen++) {
    for (const { params } of await wire.heard(seen)) {
      const found = params.changes?.folders?.find((each: { name: string }) => each.name === name);
      if (found) return found.id;
    }
  }
}

describe("export", () => {
  test("[CLI84] writes each document to the path of its folder, and overwrites only by --force", async () => {
    for (const path of ["Backend/Payments", "Empty"]) await ok("folders", "create", path);
    await ok("agents-md", "set", "/", "--text", "root");
    await ok("agents-md", "set", "Backend/Payments", "--text", "pay\n");
    await ok("agents-md", "set", "Empty", "--text", "");
    expect(await ok("agents-md", "export", dir("out/new"))).toBe(
      [
        "created    /",
        "created    Backend/Payments",
        "created    Empty",
        "3 created, 0 updated, 0 unchanged, 0 refused",
        "",
      ].join("\n"),
    );
    const written = { "AGENTS.md": "root", "Backend/Payments/AGENTS.md": "pay\n", "Empty/AGENTS.md": "" };
    expect(files(dir("out/new"))).toEqual(written);
    write({ "out/new/AGENTS.md": "mine", "out/new/Backend/Payments/AGENTS.md": "pay\r\n" });
    const { data, summary } = await refused("agents-md", "export", dir("out/new"));
    expect(summary).toEqual({ created: 0, updated: 0, unchanged: 2, refused: 1 });
    expect(data[0].reason).toBe("a file that differs is there; --force replaces it");
    expect(files(dir("out/new"))["AGENTS.md"]).toBe("mine");
    expect(await ok("agents-md", "export", dir("out/new"), "--force", "--dry-run")).toContain("updated    /");
    expect(files(dir("out/new"))["AGENTS.md"]).toBe("mine");
    await ok("agents-md", "export", dir("out/new"), "--force");
    expect(files(dir("out/new"))["AGENTS.md"]).toBe("root");
    expect(files(dir("out/new"))["Backend/Payments/AGENTS.md"]).toBe("pay\r\n");
  });

  test("[CLI85] names that can't be a directory are refused", async () => {
    const names = ["..", ".", "a\\/b", ".git", "node_modules", "x".repeat(200) + "é".repeat(50)];
    for (const name of [...names, "fine"]) {
      await ok("folders", "create", name);
      await ok("agents-md", "set", name, "--text", "text");
    }
    await ok("folders", "create", "../below");
    await ok("agents-md", "set", "../below", "--text", "text");
    const { data, summary } = await refused("agents-md", "export", dir("out"));
    expect(summary).toMatchObject({ created: 1, refused: names.length + 1 });
    expect(files(join(home.cwd, `${count}`))).toEqual({ "out/fine/AGENTS.md": "text" });
    const reasons = Object.fromEntries(
      data.map(({ path, reason }: { path: string[]; reason: string }) => [path.join(" > "), reason]),
    );
    expect(reasons[".."]).toBe("a directory can't be called ..");
    expect(reasons[".. > below"]).toBe("a directory can't be called ..");
    expect(reasons["a/b"]).toBe("a directory can't be called a\\/b");
    expect(reasons[".git"]).toBe("an import leaves directories called .git out");
  });

  test("[CLI85] links that lead out are not followed", async () => {
    await ok("folders", "create", "a");
    await ok("folders", "create", "b");
    await ok("folders", "create", "c");
    for (const folder of ["a", "b", "c"]) await ok("agents-md", "set", folder, "--text", "new");
    write({ "secret/AGENTS.md": "secret", "out/b/x": "", "out/c/CLAUDE.md": "old" });
    symlinkSync(dir("secret"), join(dir("out"), "a"));
    symlinkSync(join(dir("secret"), "AGENTS.md"), join(dir("out"), "b/AGENTS.md"));
    symlinkSync("CLAUDE.md", join(dir("out"), "c/AGENTS.md"));
    const { data } = await refused("agents-md", "export", dir("out"), "--force");
    expect(data.map((each: { status: string }) => each.status)).toEqual(["refused", "refused", "updated"]);
    expect(files(dir("secret"))).toEqual({ "AGENTS.md": "secret" });
    expect(lstatSync(join(dir("out"), "c/AGENTS.md")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(dir("out"), "c/CLAUDE.md"), "utf8")).toBe("new");
  });

  test("[CLI84] a file in the way of a directory is told of", async () => {
    await ok("folders", "create", "a/b");
    await ok("agents-md", "set", "a/b", "--text", "x");
    await ok("agents-md", "set", "/", "--text", "root");
    write({ "out/a": "a file" });
    const { summary, data } = await refused("agents-md", "export", dir("out"));
    expect(summary).toMatchObject({ created: 1, refused: 1 });
    expect(data[1].reason).toBe(`${join(dir("out"), "a")} is not a directory`);
    expect(files(dir("out"))).toEqual({ a: "a file", "AGENTS.md": "root" });
  });
});

describe("there and back", () => {
  test("[CLI86] import, export and import again change nothing", async () => {
    const originals = {
      "AGENTS.md": "# Root\n\nText without end",
      "a/AGENTS.md": "",
      "a/b c/AGENTS.md": "tabs\tand 😀\n",
      "ü/日本/AGENTS.md": "\n\n\n",
      "x\\y/AGENTS.md": "back\n",
    };
    write(Object.fromEntries(Object.entries(originals).map(([path, text]) => [`in/${path}`, text])));
    await ok("agents-md", "import", dir("in"));
    await ok("agents-md", "export", dir("out"));
    expect(files(dir("out"))).toEqual(originals);
    const before = await home.json("tree", "--workspace", workspace);
    expect(await ok("agents-md", "import", dir("out"))).toContain(
      "0 created, 0 updated, 5 unchanged, 0 refused",
    );
    expect(await ok("agents-md", "export", dir("in"))).toContain(
      "0 created, 0 updated, 5 unchanged, 0 refused",
    );
    expect(await home.json("tree", "--workspace", workspace)).toEqual(before);
    expect(files(dir("in"))).toEqual(originals);
  });

  test("[CLI86] without a gateway too", async () => {
    const alone = new CliHome();
    try {
      alone.write({ "in/AGENTS.md": "root", "in/a/b/AGENTS.md": "deep" });
      expect(await alone.ok("agents-md", "import", "in")).toContain("2 created");
      expect(await alone.ok("agents-md", "export", "out")).toContain("2 created");
      expect(files(join(alone.cwd, "out"))).toEqual({ "AGENTS.md": "root", "a/b/AGENTS.md": "deep" });
      expect(existsSync(join(alone.data, "command.json"))).toBe(false);
    } finally {
      await alone.remove();
    }
  });
});
