import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type App, startApp } from "../../src/app/index.js";
import { temporaryDirectory } from "../support/stores.js";

/** The pieces of code in the guide, with the language each is marked with. */
const blocks = [...readFileSync("docs/guide/protocol.md", "utf8").matchAll(/^```(\w+)\n(.*?)^```/gms)].map(
  ([, language, code]) => ({ language, code: code as string }),
);

/** As much of curl as the guide uses, for machines without it. */
const CURL = `#!/usr/bin/env node
const [, , ...args] = process.argv;
const [headers, rest] = [{}, []];
let body;
while (args.length > 0) {
  const arg = args.shift();
  if (arg === "-H") { const [name, value] = args.shift().split(": "); headers[name] = value; }
  else if (arg === "-d") body = args.shift();
  else if (arg !== "-s") rest.push(arg);
}
fetch(rest[0], { method: "POST", headers, body }).then(async (answer) => process.stdout.write(await answer.text()));
`;

let home: string;
let app: App;
beforeAll(async () => {
  home = temporaryDirectory();
  app = await startApp({ dataDir: join(home, ".local/share/heddle"), logLevel: "silent" });
  await app.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await app?.stop();
  rmSync(home, { recursive: true, force: true });
});

test("[CONN4] the guide's shell examples answer what the guide says", async () => {
  const bin = join(home, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "curl"), CURL);
  chmodSync(join(bin, "curl"), 0o755);
  const env = { HOME: home, PATH: [bin, join(process.execPath, ".."), process.env.PATH].join(delimiter) };
  let script = "set -e\n";
  let shown = 0;
  for (const [i, { language, code }] of blocks.entries()) {
    if (language !== "sh") continue;
    const expected =
      blocks[i + 1]?.language === "json" ? JSON.parse(blocks[i + 1]?.code as string) : undefined;
    if (expected === undefined) {
      script += code;
      continue;
    }
    const { stdout } = await promisify(execFile)("sh", ["-c", script + code], { env });
    expect(JSON.parse(stdout)).toMatchObject(loosened(expected));
    // What it set is there for the next one; what it asked was asked.
    script +=
      code.split("curl -s $URL/rpc").length > 2 ? code.slice(0, code.lastIndexOf("curl -s $URL/rpc")) : "";
    shown++;
  }
  expect(shown).toBe(4);
});

test("[CONN4] the guide's TypeScript example runs", async () => {
  const example = blocks.find(({ language }) => language === "ts")?.code ?? "";
  expect(example).toContain('from "heddle/client"');
  mkdirSync(".cache/guide", { recursive: true });
  const file = resolve(".cache/guide/example.ts");
  writeFileSync(file, example.replace('"heddle/client"', JSON.stringify(resolve("src/client/node.ts"))));
  const told = vi.spyOn(console, "log").mockImplementation(() => {});
  vi.stubEnv("HOME", home);
  try {
    await import(file);
    expect(told.mock.calls.at(-1)).toEqual([
      -32600,
      "version_conflict",
      expect.objectContaining({ expected_version: 3 }),
    ]);
    expect(told.mock.calls.map(([first]) => first)).toContain("changed");
  } finally {
    told.mockRestore();
    vi.unstubAllEnvs();
  }
});

/** An expected answer in which `…` stands for whatever comes there. */
function loosened(value: unknown): object {
  return JSON.parse(JSON.stringify(value), (_, each) => {
    if (typeof each !== "string" || !each.includes("…")) return each;
    return expect.stringMatching(new RegExp(`^${each.replace("…", ".+")}$`));
  });
}
