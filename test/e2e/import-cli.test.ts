import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Claude, text } from "../imports/sessions.js";
import { newId, old, talk } from "../imports/stage.js";
import { buildCommand, CliHome } from "../support/cli.js";

let home: CliHome;
beforeAll(buildCommand);
beforeEach(() => {
  home = new CliHome();
  mkdirSync(join(home.cwd, "shop"));
});
afterEach(() => home.remove());

const shop = () => join(home.cwd, "shop");
const inShop = (...args: string[]) => home.run(args, { cwd: shop() });
const json = async (...args: string[]) => JSON.parse((await inShop(...args, "--json")).stdout);

describe("heddle import", () => {
  test("[IMP80] alone, it lists what was found and what to type; where there is nothing, it says so", async () => {
    const none = await inShop("import");
    expect({ code: none.code, stdout: none.stdout }).toEqual({ code: 0, stdout: "" });
    expect(none.stderr).toContain("No sessions of Claude Code, Codex, pi or OpenCode were found");
    talk(home.dir, shop());
    talk(home.dir, "/gone");
    const { stdout, stderr } = await inShop("import");
    const path = join(home.dir, ".claude");
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["TOOL", "HERE", "IMPORTED", "ELSEWHERE", "KEPT IN"],
      ["Claude Code", "1", "0", "1", path],
      [""],
    ]);
    expect(stderr).toContain(`To import 1 session of ${shop()}: heddle import --from claude`);
    expect((await json("import")).data).toMatchObject([{ tool: "claude", threads: 1, elsewhere: 1, path }]);
    await inShop("import", "--from", "claude");
    expect((await inShop("import")).stderr).toContain("heddle import --from claude --all");
  });

  test("[IMP81] [IMP82] it imports what belongs here, says what became of it and what was left, and again only what is new", async () => {
    const session = talk(home.dir, shop());
    session.lines.push({ type: "file-history-snapshot" }, "rubbish");
    old(session.save());
    talk(home.dir, "/gone");
    const dry = await inShop("import", "--from", "claude", "--dry-run");
    expect(dry.stdout).toBe("imported  Look  3 messages\n");
    expect(dry.stderr).toContain("Nothing is changed.");
    expect((await home.json("workspaces")).data.length).toBe(1);
    const first = await inShop("import", "--from", "claude");
    expect(first.code).toBe(0);
    expect(first.stdout).toBe("imported  Look  3 messages\n");
    expect(first.stderr).toBe(
      [
        `Claude Code into ${shop()}: 1 imported`,
        "1 session of other directories stayed there: --all takes them too.",
        "Not carried over:",
        "  1 × snapshots of files",
        "  1 × lines that can't be read",
        "",
      ].join("\n"),
    );
    const tree = await home.run(["tree", "--workspace", shop()]);
    expect(tree.stdout).toContain("Imported from Claude Code");
    session.user("e", "d", "More");
    old(session.save());
    expect((await inShop("import", "--from", "claude")).stdout).toBe("updated   Look  1 of 4 messages new\n");
    const whole = await json("import", "--from", "claude");
    expect(whole).toMatchObject({
      data: [{ status: "exists", session_id: session.id }],
      summary: { imported: 0, updated: 0, exists: 1, skipped: 0, invalid: 0 },
      elsewhere: 1,
      total: 1,
    });
    expect((await json("import", "--from", "claude", "--all")).summary).toMatchObject({
      imported: 1,
      exists: 1,
    });
  });

  test("[IMP82] a path names a file or directory of the tool; what is in none is listed", async () => {
    const away = new Claude(join(home.dir, "backup"), "/gone", newId())
      .user("a", null, "Away")
      .answer("b", "a", [text("Yes.")]);
    old(away.save());
    writeFileSync(join(home.dir, "backup/.claude/projects/odd.jsonl"), "rubbish\n");
    const folder = await inShop("import", "--from", "claude", join(home.dir, "backup/.claude"));
    expect(folder.stdout).toBe("");
    expect(folder.stderr).toContain("No sessions of Claude Code for");
    expect(folder.stderr).toContain("odd.jsonl: no message of Claude Code stands at its beginning");
    const file = await inShop("import", "--from", "claude", away.path);
    expect(file.stdout).toBe("imported  Away  2 messages\n");
  });

  test("[IMP83] what can't be meant is wrong usage; a path that is not there is refused", async () => {
    for (const args of [
      ["--from", "other"],
      ["--from", "pi", "a", "b"],
      ["--all"],
      ["--dry-run", "x.tar.gz"],
    ])
      expect((await inShop("import", ...args)).code, args.join(" ")).toBe(2);
    const refused = await inShop("import", "--from", "pi", "none", "--json");
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stderr).error).toMatchObject({ kind: "import.path_invalid" });
  });
});
