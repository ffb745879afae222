import { spawn } from "node:child_process";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buildCommand, CliHome, COMMAND, ended } from "../support/cli.js";

const ESC = "\u001b";
let home: CliHome;
beforeAll(buildCommand);
beforeEach(async () => {
  home = new CliHome();
  await home.serve();
});
afterEach(() => home.remove());

describe("on a terminal", () => {
  test("[CLI25] there are colours, unless NO_COLOR is set", async () => {
    await home.ok("agents-md", "set", "/", "--text", "x");
    for (const args of [
      ["tree"],
      ["--help"],
      ["workspaces"],
      ["agents-md", "show"],
      ["frobnicate"],
      ["doctor"],
    ]) {
      expect((await home.onTerminal(args)).stdout, args.join(" ")).toContain(`${ESC}[`);
      const plain = await home.onTerminal(args, { env: { NO_COLOR: "1" } });
      expect(plain.stdout, args.join(" ")).not.toContain(ESC);
      const piped = await home.run(args, { env: { CI: "1", FORCE_COLOR: "1" } });
      expect(piped.stdout + piped.stderr, args.join(" ")).not.toContain(ESC);
    }
    expect((await home.onTerminal(["tree"], { env: { TERM: "dumb" } })).stdout).not.toContain(ESC);
    expect((await home.onTerminal(["tree", "--json"])).stdout).not.toContain(ESC);
  });

  test("[CLI44] delete asks: yes does it, no and Ctrl-C change nothing", async () => {
    await home.ok("folders", "create", "A");
    const no = await home.onTerminal(["folders", "delete", "A"], { answers: [["Delete A?", "n"]] });
    expect(no.code).toBe(1);
    expect(no.stdout).toContain("Nothing was changed.");
    const cancelled = await home.onTerminal(["folders", "delete", "A"], {
      answers: [["Delete A?", "\u0003"]],
    });
    expect(cancelled.stdout).toContain("Nothing was changed.");
    expect(await home.ok("tree")).toContain("A/");
    const yes = await home.onTerminal(["folders", "delete", "A"], { answers: [["Delete A?", "y"]] });
    expect(yes.code).toBe(0);
    expect(yes.stdout).toContain("Deleted");
    expect(await home.ok("tree")).not.toContain("A/");
    await home.ok("workspaces", "create", "--name", "Old");
    const answers: [string, string][] = [["Delete the workspace Old?", "y"]];
    expect((await home.onTerminal(["workspaces", "delete", "Old"], { answers })).code).toBe(0);
    expect(await home.ok("workspaces")).not.toContain("Old");
  });

  test("[CLI72] control characters in a text are shown, not obeyed", async () => {
    const text = `a${ESC}]0;title\u0007b\tc\r\nd`;
    await home.run(["agents-md", "set"], { input: text });
    const { stdout } = await home.onTerminal(["agents-md", "show"], { env: { NO_COLOR: "1" } });
    expect(stdout).toContain("a^[]0;title^Gb\tc\r\nd\r\n");
    expect(await home.ok("agents-md", "show", "--text")).toBe(`a${ESC}]0;title\u0007b\tc\nd`);
  });
});

describe("an early end", () => {
  test("[CLI26] a reader that closes its end early is no failure", async () => {
    await home.ok("folders", "create", Array.from({ length: 30 }, (_, index) => `level ${index}`).join("/"));
    const script = `"$0" "$1" tree | head -n 1; echo "\${PIPESTATUS[0]}"; "$0" "$1" tree --json | true; echo "\${PIPESTATUS[0]}"`;
    const child = spawn("bash", ["-c", script, process.execPath, COMMAND], { env: home.env, cwd: home.cwd });
    const { stdout, stderr } = await ended(child);
    expect(stdout).toMatch(/^Home {2}ws_\w+\n0\n0\n$/);
    expect(stderr).toBe("");
  });

  test("[CLI26] what is under way is finished", async () => {
    home.write(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`in/d${index}/AGENTS.md`, "x"])));
    const child = home.spawn(["agents-md", "import", "in"]);
    child.stdout?.destroy();
    const { code, stderr } = await ended(child);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect((await home.json("folders")).data).toHaveLength(40);
  });

  test("[CLI27] Ctrl-C ends a command without a word", async () => {
    const answers: [string, string][] = [["Ctrl-D ends it.", "\u0003"]];
    const { code, stdout } = await home.onTerminal(["agents-md", "set"], { answers, env: { NO_COLOR: "1" } });
    expect(code).toBe(130);
    expect(stdout.replace("^C", "").trim()).toBe("Type the text; Ctrl-D ends it.");
    expect((await home.json("agents-md", "history")).data).toEqual([]);
  });
});
