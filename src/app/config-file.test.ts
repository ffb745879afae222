import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support/stores.js";
import { HeddleError } from "../base/index.js";
import { readConfigFile } from "./config-file.js";

function refusal(attempt: () => unknown): HeddleError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof HeddleError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

const named = (id: string) => JSON.stringify({ agents: [{ agentId: id }], hooks: [{ module: "hook.mjs" }] });

test("[AGT50] the data directory's file is read if it is there", () => {
  const dataDir = temporaryDirectory();
  expect(readConfigFile({ dataDir, env: {} })).toEqual({ warnings: [] });
  expect(readConfigFile({ dataDir: join(dataDir, "not-made-yet"), env: {} })).toEqual({ warnings: [] });
  const file = join(dataDir, "heddle.config.json");
  writeFileSync(file, named("mine"));
  const found = readConfigFile({ dataDir, env: {} });
  expect(found.file).toBe(file);
  expect(found.config?.agents.map(({ agentId }) => agentId)).toEqual(["mine"]);
  expect(found.config?.hooks).toEqual([{ module: join(dataDir, "hook.mjs") }]);
});

test("[AGT50] --config is read instead, by any path", () => {
  const dataDir = temporaryDirectory();
  const elsewhere = temporaryDirectory();
  writeFileSync(join(dataDir, "heddle.config.json"), "not read");
  writeFileSync(join(elsewhere, "own.json"), `\uFEFF${named("own")}`);
  symlinkSync(join(elsewhere, "own.json"), join(elsewhere, "link.json"));
  for (const file of [join(elsewhere, "own.json"), relative(process.cwd(), join(elsewhere, "link.json"))]) {
    const found = readConfigFile({ file, dataDir, env: {} });
    expect(found.config?.agents[0]?.agentId).toBe("own");
    expect(found.config?.hooks).toEqual([{ module: join(elsewhere, "hook.mjs") }]);
  }
});

test("[AGT50] what is wrong inside is told with the file's whole name", () => {
  const dataDir = temporaryDirectory();
  const file = join(dataDir, "heddle.config.json");
  writeFileSync(file, `{\n"agents": [{"agentId": "\${ID}"}],\n"banana": 1}`);
  expect(refusal(() => readConfigFile({ dataDir, env: {} }))).toMatchObject({
    kind: "config.missing_variable",
    data: { file, line: 2, variable: "ID" },
  });
  const { config, warnings } = readConfigFile({ dataDir, env: { ID: "from-env" } });
  expect(config?.agents[0]?.agentId).toBe("from-env");
  expect(warnings).toMatchObject([{ file, line: 3, key: "banana" }]);
});

test("[AGT51] what can't be used is refused, wherever it stands", () => {
  const make: Record<string, [problem: string, make: (file: string) => void]> = {
    directory: ["not_a_file", (file) => mkdirSync(file)],
    device: ["not_a_file", (file) => symlinkSync("/dev/null", file)],
    pipe: ["not_a_file", (file) => void execFileSync("mkfifo", [file])],
    "a link to nothing": ["missing", (file) => symlinkSync(`${file}.gone`, file)],
    "a link to itself": ["not_readable", (file) => symlinkSync(file, file)],
    "too large": ["too_large", (file) => writeFileSync(file, `{}${" ".repeat(1024 * 1024 - 1)}`)],
    "not UTF-8": ["not_utf8", (file) => writeFileSync(file, Buffer.from([0x7b, 0xff, 0x7d]))],
  };
  for (const [what, [problem, makeIt]] of Object.entries(make)) {
    const dataDir = temporaryDirectory();
    const file = join(dataDir, "heddle.config.json");
    makeIt(file);
    for (const given of [{ dataDir }, { dataDir: temporaryDirectory(), file }]) {
      const error = refusal(() => readConfigFile({ ...given, env: {} }));
      expect([error.kind, error.data], what).toEqual(["config.unreadable", { file, problem }]);
      expect(error.message).toMatch(/^The configuration .* can't be used: .*\.$/);
      expect(error.message).toContain(file);
    }
  }
});

test("[AGT51] a file that is named must be there", () => {
  const dataDir = temporaryDirectory();
  writeFileSync(join(dataDir, "heddle.config.json"), "{}");
  for (const file of [join(dataDir, "none.json"), join(dataDir, "heddle.config.json", "below"), ""]) {
    const { kind, data } = refusal(() => readConfigFile({ file, dataDir, env: {} }));
    expect([kind, data.problem], file).toEqual(["config.unreadable", file === "" ? "not_a_file" : "missing"]);
  }
});

test("[AGT51] as large as may be is read", () => {
  const dataDir = temporaryDirectory();
  const file = join(dataDir, "heddle.config.json");
  writeFileSync(file, `{}${" ".repeat(1024 * 1024 - 2)}`);
  expect(readFileSync(file)).toHaveLength(1024 * 1024);
  expect(readConfigFile({ dataDir, env: {} }).config?.agents).toEqual([]);
});
