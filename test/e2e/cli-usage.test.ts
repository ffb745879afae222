import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.js";
import { buildCommand, CliHome, COMMAND, ended } from "../support/cli.js";

let home: CliHome;
beforeAll(async () => {
  await buildCommand();
  home = new CliHome();
});
afterAll(() => home.remove());

describe("the command line itself", () => {
  test("[CLI21] an unknown command is named, with the likeliest one", async () => {
    const { code, stdout, stderr } = await home.run(["treee"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe(
      "heddle: unknown command 'treee'. Did you mean tree?\n`heddle --help` lists the commands.\n",
    );
    expect((await home.run(["frobnicate"])).stderr).toContain("unknown command 'frobnicate'.\n");
  });

  test("[CLI21] an unknown verb is named, though its group has a default", async () => {
    for (const group of ["folders", "threads", "workspaces", "agents-md"]) {
      const { code, stderr } = await home.run([group, "frobnicate"]);
      expect(code, group).toBe(2);
      expect(stderr).toBe(
        `heddle: unknown command 'frobnicate'.\n\`heddle ${group} --help\` lists the commands.\n`,
      );
    }
    expect((await home.run(["threads", "renam", "x", "y"])).stderr).toContain("Did you mean rename?");
  });

  test("[CLI21] so it is where help is asked for: the help of something else is no answer", async () => {
    const asked = [
      ["help", "treee"],
      ["treee", "--help"],
      ["treee", "x", "-h"],
      ["help", "treee", "--help"],
    ];
    for (const args of asked) {
      expect(await home.run(args), args.join(" ")).toMatchObject({
        code: 2,
        stdout: "",
        stderr: "heddle: unknown command 'treee'. Did you mean tree?\n`heddle --help` lists the commands.\n",
      });
    }
    for (const args of [
      ["help", "threads", "renam"],
      ["threads", "renam", "--help"],
    ]) {
      expect(await home.run(args), args.join(" ")).toMatchObject({
        code: 2,
        stdout: "",
        stderr:
          "heddle: unknown command 'renam'. Did you mean rename?\n`heddle threads --help` lists the commands.\n",
      });
    }
    for (const [args, usage] of [
      [["help"], "heddle [command]"],
      [["help", "--help"], "heddle [command]"],
      [["help", "threads"], "heddle threads"],
      [["help", "threads", "rename"], "heddle threads rename"],
      [["send", "hello", "--help"], "heddle send"],
    ] as const) {
      const { code, stdout } = await home.run(args);
      expect({ args, code }).toEqual({ args, code: 0 });
      expect(stdout).toContain(`Usage: ${usage}`);
    }
  });

  test("[CLI20] a wrong command line ends with 2 and changes nothing", async () => {
    const wrong = [
      ["threads", "--limit", "x"],
      ["threads", "list", "--limit", "0"],
      ["threads", "show"],
      ["tree", "a", "b"],
      ["tree", "--jsn"],
      ["serve", "--port", "70000"],
      ["serve", "more"],
      ["folders", "create", "/"],
      ["folders", "move", "a", "/", "--first", "--after", "b"],
      ["workspaces", "create"],
      ["agents-md"],
      ["agents-md", "set", "/", "file", "--text", "x"],
      ["agents-md", "history", "--version", "1", "--restore", "1"],
      ["agents-md", "edit"],
      ["tree", "--url", "http://127.0.0.1:1"],
      ["tree", "--url", "nonsense", "--token", "x"],
      ["tree", "--token", "x"],
      ["doctor", "--store", "mysql://x"],
    ];
    for (const args of wrong) {
      const { code, stdout, stderr } = await home.run(args);
      expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: "" });
      expect(stderr).toMatch(/--help` (lists|shows)|^Usage:/m);
    }
    expect(existsSync(home.data)).toBe(false);
  });

  test("[CLI22] options before a command are told where they belong", async () => {
    const { code, stderr } = await home.run(["--data", "x", "tree"]);
    expect(code).toBe(2);
    expect(stderr).toContain("Options come after the command: heddle tree …");
  });

  test("[CLI24] an error is one line of JSON on standard error", async () => {
    const unknown = await home.run(["treee", "--json"]);
    expect(unknown).toMatchObject({ code: 2, stdout: "" });
    expect(JSON.parse(unknown.stderr)).toEqual({
      error: { kind: "usage", message: "unknown command 'treee'. Did you mean tree?" },
    });
    const refused = await home.run(["threads", "show", "thr_none", "--json"]);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(JSON.parse(refused.stderr)).toEqual({
      error: { kind: "thread.not_found", thread_id: "thr_none", message: "There is no thread thr_none." },
    });
  });

  test("[CLI20] output that can't be written is a failure", async () => {
    const readOnly = openSync("package.json", "r");
    const child = spawn(process.execPath, [COMMAND, "tree"], {
      env: home.env,
      cwd: home.cwd,
      stdio: ["ignore", readOnly, "pipe"],
    });
    const { code, stderr } = await ended(child);
    closeSync(readOnly);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^heddle: EBADF.*\n$/);
  });

  test("[CLI20] a refusal ends with 1 and says what to do", async () => {
    const { code, stderr } = await home.run(["threads", "show", "thr_none"]);
    expect(code).toBe(1);
    expect(stderr).toBe("heddle: There is no thread thr_none.\n`heddle threads` lists the ones there are.\n");
  });

  test("[CLI199] what does not fit is told in plain words", async () => {
    const told = async (...args: string[]) => {
      const { code, stderr } = await home.run(args);
      return { code, first: stderr.split("\n")[0] };
    };
    expect(await told("threads", "search", "")).toEqual({
      code: 1,
      first: "heddle: query must not be empty.",
    });
    expect(await told("send", "--model", "", "x")).toEqual({
      code: 1,
      first: "heddle: config.model must not be empty.",
    });
  });
});

type Program = ReturnType<typeof createProgram>;

function* everyCommand(command: Program, name: string): Generator<{ name: string; command: Program }> {
  yield { name, command };
  for (const each of command.commands) yield* everyCommand(each, `${name} ${each.name()}`);
}

describe("help", () => {
  test("[CLI23] every command describes itself, its arguments and its options", () => {
    const poor: string[] = [];
    for (const { name, command } of everyCommand(createProgram(), "heddle")) {
      const parts = [...command.options, ...command.registeredArguments].map((part) => part.description);
      if ([command.description(), ...parts].some((text) => !text || text.length < 6)) poor.push(name);
      const flags = new Set(command.options.map(({ long }) => long));
      const leaf = command.commands.length === 0;
      // The files themselves need no gateway.
      const bare = name.startsWith("heddle atsf ");
      if (leaf && !(flags.has("--json") && (bare || flags.has("--data")))) poor.push(name);
    }
    expect(poor).toEqual([]);
  });

  test("[CLI23] help goes to standard output and ends with 0", async () => {
    const main = await home.run(["--help"]);
    expect(main).toMatchObject({ code: 0, stderr: "" });
    for (const word of [
      "serve",
      "tree",
      "folders",
      "threads",
      "agents-md",
      "workspaces",
      "doctor",
      "Exit codes",
    ]) {
      expect(main.stdout).toContain(word);
    }
    expect(await home.run(["help", "tree"])).toMatchObject({ code: 0, stderr: "" });
    const { stdout } = await home.run(["agents-md", "show", "--help"]);
    expect(stdout).toContain("heddle agents-md show Backend/Payments");
    expect(stdout).toContain("--text");
    for (const option of ["--data", "--workspace", "--json", "--url", "--token"])
      expect(stdout).toContain(option);
    const { version } = JSON.parse(readFileSync("package.json", "utf8"));
    expect(await home.run(["--version"])).toMatchObject({ code: 0, stdout: `${version}\n` });
  });

  test("[CLI28] the help loads the argument parser and little else", () => {
    const seen = new Map<string, string>();
    const follow = (file: string) => {
      if (seen.has(file)) return;
      const source = readFileSync(file, "utf8");
      seen.set(file, source);
      // The first part, and what parts ask for at once; what is asked for later stands behind an arrow.
      for (const [, asked, first] of source.matchAll(/(?<!=>)require\("\.\/([^"]+)"\)|[`"](main-[^`"]+)/g))
        follow(join(dirname(file), (asked ?? first) as string));
    };
    follow(COMMAND);
    const loaded = [...seen.values()].join("");
    expect(loaded.length).toBeGreaterThan(50_000);
    expect(loaded.length).toBeLessThan(200_000);
    for (const word of ["thread_agents_doc", "WebSocketServer", "ZodObject", "thread-stream"]) {
      expect(loaded).not.toContain(word);
    }
  });
});
