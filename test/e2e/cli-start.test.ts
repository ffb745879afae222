import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { buildCommand, CliHome, COMMAND } from "../support/cli.js";

let home: CliHome;
/** The command of this build, where nobody else starts it. */
let installed: string;
beforeAll(buildCommand);
beforeEach(() => {
  home = new CliHome();
  mkdirSync(".cache", { recursive: true });
  // Below the project, whose packages it needs.
  installed = mkdtempSync(resolve(".cache/installed-"));
  cpSync(dirname(COMMAND), join(installed, "dist/bin"), { recursive: true });
  copyFileSync("package.json", join(installed, "package.json"));
  // Other versions of Node may have left theirs.
  for (const version of versions())
    if (version !== ownVersion()) rmSync(join(installed, "dist/bin/code", version), { recursive: true });
});
afterEach(async () => {
  await home.remove();
  rmSync(installed, { recursive: true, force: true });
});

test("[CLI261] a build brings compiled code along, and a start takes it from there", () => {
  const brought = kept();
  expect(brought.map(({ part }) => part)).toEqual(expect.arrayContaining(["gateway", "main", "client"]));
  heddle("tree");
  // What is left out, or does not fit, would be there in another form now.
  expect(kept()).toEqual(expect.arrayContaining(brought));
  expect(versions()).toEqual([ownVersion()]);
});

test("[CLI261] without any, as on another version of Node, the first command that ran a gateway leaves it", () => {
  rmSync(join(installed, "dist/bin/code"), { recursive: true });
  heddle("--version");
  expect(readdirSync(join(installed, "dist/bin"))).not.toContain("code");
  heddle("tree");
  const left = kept();
  expect(left.map(({ part }) => part)).toEqual(expect.arrayContaining(["gateway", "main"]));
  heddle("tree");
  expect(kept()).toEqual(left);
});

test("[CLI262] damaged code ends nobody", () => {
  for (const { path } of kept()) {
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 0xff;
    writeFileSync(path, bytes);
  }
  heddle("tree");
  heddle("tree");
});

/** Runs it with a gateway of its own. */
function heddle(...args: string[]): void {
  const command = join(installed, "dist/bin/heddle.js");
  const options = { env: home.env, cwd: home.cwd, encoding: "utf8" } as const;
  const { status, stderr } = spawnSync(process.execPath, [command, ...args], options);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
}

/** As a process has it that was started without the flags of a test's. */
function ownVersion(): string {
  const { stdout } = spawnSync(process.execPath, ["-p", "v8.cachedDataVersionTag()"], { encoding: "utf8" });
  return stdout.trim();
}

function versions(): string[] {
  return readdirSync(join(installed, "dist/bin/code"));
}

function kept(): { path: string; part: string; ino: number }[] {
  return versions().flatMap((version) => {
    const directory = join(installed, "dist/bin/code", version);
    return readdirSync(directory).map((name) => {
      const path = join(directory, name);
      return { path, part: name.slice(0, -"-12345678.js".length), ino: statSync(path).ino };
    });
  });
}
