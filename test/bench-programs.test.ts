import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { Bench, row } from "../bench/harness.js";
import { closing, table } from "../bench/report.js";
import { LongLived } from "../bench/support/long-lived.js";
import { installed } from "../bench/support/programs.js";
import { ANSWER, startFakeModel } from "../bench/support/turns.js";
import { temporaryDirectory } from "./support/stores.js";

function quickBench(): Bench {
  const bench = new Bench({ quick: true });
  onTestFinished(() => bench.end());
  return bench;
}

interface Event {
  readonly choices?: readonly { readonly delta: { readonly content?: string } }[];
  readonly delta?: string | { readonly text?: string };
}

function wordsOf({ choices, delta }: Event): string {
  if (choices) return choices[0]?.delta.content ?? "";
  return (typeof delta === "string" ? delta : delta?.text) ?? "";
}

test("[BENCH14] the fake model says the same words to whoever asks", async () => {
  const model = await startFakeModel(quickBench());
  const asked = (path: string) => fetch(`${model}/${path}`, { method: "POST", body: "{}" });
  const said = async (path: string) => {
    const answer = await asked(path);
    expect(answer.headers.get("content-type"), path).toBe("text/event-stream");
    const lines = (await answer.text()).split("\n").filter((line) => line.startsWith("data: {"));
    return lines.map((line) => wordsOf(JSON.parse(line.slice("data: ".length)))).join("");
  };
  const words = await said("chat/completions");
  expect(words).toHaveLength(ANSWER);
  expect(await said("messages?beta=true")).toBe(words);
  expect(await said("responses")).toBe(words);
  expect(await (await asked("messages/count_tokens?beta=true")).json()).toEqual({ input_tokens: 1 });
});

test("[BENCH15] what could not be measured is told with the rows and at the end", () => {
  const target = { of: "ratio", atMost: 2 } as const;
  const rows = [row({ name: "a", unit: "ms", samples: [1], against: { name: "b", samples: [1] }, target })];
  const leftOut = ["c is not installed"];
  expect(table({ title: "An entry" }, rows, leftOut)).toMatch(
    / a .* ok\n {2}not measured: c is not installed\n$/,
  );
  expect(table({ title: "An entry" }, [], leftOut)).toBe("An entry\n  not measured: c is not installed\n");
  const entry = { name: "entry", title: "An entry", rows };
  expect(closing([entry])).toBe("every target met\n");
  expect(closing([{ ...entry, leftOut }])).toBe(
    "every target that was measured is met\nnot measured: entry: c is not installed\n",
  );
});

test("[BENCH15] a program counts as installed only in the version that is tested", () => {
  const folder = temporaryDirectory();
  expect(installed("pi", folder)).toBeUndefined();
  const { pi } = JSON.parse(readFileSync("scripts/agent-programs.json", "utf8"));
  const modules = join(folder, "pi", "node_modules");
  mkdirSync(join(modules, pi.package), { recursive: true });
  const install = (version: string) =>
    writeFileSync(join(modules, pi.package, "package.json"), JSON.stringify({ version }));
  install("0.0.1");
  expect(installed("pi", folder)).toBeUndefined();
  install(pi.version);
  const command = join(modules, ".bin", "pi");
  expect(installed("pi", folder)).toEqual({ name: "pi", command, version: pi.version });
});

/** Speaks as pi does in its rpc mode, and does as it is told. */
const SPEAKER = `#!/usr/bin/env node
import { createInterface } from "node:readline";
const say = (line) => console.log(typeof line === "string" ? line : JSON.stringify(line));
const delta = (text) => ({ type: "message_update", assistantMessageEvent: { type: "text_delta", delta: text } });
const turns = {
  well: () => ["a line that is no message", "{half", delta("x".repeat(500)), delta("x".repeat(12)), { type: "agent_end" }],
  silent: () => [{ type: "agent_end" }],
  refused: () => [{ type: "response", success: false, error: "busy" }],
  leave: () => {
    process.stderr.write("SAW " + Object.keys(process.env).sort().join(" "));
    process.exitCode = 3;
    process.stdin.destroy();
    return [];
  },
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, type, message } = JSON.parse(line);
  if (type === "get_state") say({ id, type: "response", success: true });
  else for (const one of turns[message]()) say(one);
});
`;

test("[BENCH16] a program alone is timed until its turn has ended, and must have said all of the answer", async () => {
  const bench = quickBench();
  const command = join(bench.directory(), "speaker.mjs");
  writeFileSync(command, SPEAKER);
  chmodSync(command, 0o755);
  vi.stubEnv("ANTHROPIC_API_KEY", "somebody's");
  onTestFinished(() => void vi.unstubAllEnvs());
  const alone = await LongLived.open(bench, { name: "pi", command, version: "1" }, "http://127.0.0.1:1/v1");
  const turn = await alone.take("well");
  expect(turn.firstWords).toBeGreaterThan(0);
  expect(turn.whole).toBeGreaterThanOrEqual(turn.firstWords);
  await expect(alone.take("silent")).rejects.toThrow("a turn with 0 characters for 512");
  await expect(alone.take("refused")).rejects.toThrow("busy");
  // Nothing of this machine but where programs are.
  const seen = /ended with 3: SAW .*\bHOME\b(?!.*ANTHROPIC)/;
  await expect(alone.take("leave")).rejects.toThrow(seen);
  await expect(alone.take("well")).rejects.toThrow(seen);
}, 30_000);
