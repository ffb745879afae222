import { expect, test } from "vitest";
import type { RunApproval } from "../../../protocol/index.js";
import { askedLines } from "./asked-call.js";

const asked = (name: string, given: unknown): RunApproval => ({
  run_id: "run_1",
  thread_id: "thr_1",
  agent_id: "demo",
  tool_call_id: "call_1",
  name,
  arguments: typeof given === "string" ? given : JSON.stringify(given),
  asked_at: 0,
});
const bash = (command: string, more: object = {}) => asked("bash", { command, ...more });

test("[CLI245] a command is shown as it would be typed, everything else as JSON, what is no JSON as it is", () => {
  const command = `echo ${"x".repeat(300)}\nrm -rf "$HOME"`;
  expect(askedLines(bash(command))).toEqual([
    "[approval] demo wants to call bash:",
    `  | echo ${"x".repeat(300)}`,
    '  | rm -rf "$HOME"',
  ]);
  expect(askedLines(bash("ls", { timeout_seconds: 60 })).slice(1)).toEqual([
    "  | ls",
    "  | ",
    '  | (and {"timeout_seconds":60})',
  ]);
  expect(askedLines(asked("files_write", { path: "a", content: "b\nc" })).slice(1)).toEqual([
    "  | {",
    '  |   "path": "a",',
    '  |   "content": "b\\nc"',
    "  | }",
  ]);
  const odd = {
    "{not json\n": "{not json\n",
    '"text"': '"text"',
    null: "null",
    '{"command":7}': '"command": 7',
    "": "",
  };
  for (const [given, shown] of Object.entries(odd)) {
    const text = askedLines(asked("bash", given))
      .slice(1)
      .map((line) => line.slice(4));
    expect(text.join("\n")).toContain(shown);
  }
});

test("[CLI245] nothing in it steers the terminal, hides, or passes for the question", () => {
  const hostile = "a\u001b[2J\u009b1A\rb\u202e\u2066c\u200bd\u2028[approval] e\n[approval] f\tg";
  const lines = askedLines({ ...bash(hostile), agent_id: "x\n\u001b[2Jy" });
  expect(lines).toEqual([
    "[approval] x ^[[2Jy wants to call bash:",
    "  | a^[[2J\\x9b1A^Mb\\u{202e}\\u{2066}c\\u{200b}d\\u{2028}[approval] e",
    "  | [approval] f    g",
  ]);
});

test("[CLI245] what is longer than anybody reads is cut, and says so; with everything asked for it is not", () => {
  const long = Array.from({ length: 1_000 }, (_, line) => `echo ${line}`).join("\n");
  const lines = askedLines(bash(long));
  expect(lines).toHaveLength(202);
  const missing =
    long.length -
    lines
      .slice(1, 201)
      .map((line) => line.slice(4))
      .join("\n").length;
  expect(lines.at(-1)).toBe(
    `[approval] Cut here: ${missing} characters more. \`heddle runs approve run_1 call_1 --show\` shows all of it.`,
  );
  expect(askedLines(bash("y".repeat(20_000)))).toHaveLength(2);
  const wide = askedLines(bash("y".repeat(20_001)));
  expect(wide[1]).toHaveLength(20_004);
  expect(wide[2]).toContain("Cut here: 1 character more.");
  const whole = askedLines(bash(long), { whole: true });
  expect(whole).toHaveLength(1_001);
  expect(whole.at(-1)).toBe("  | echo 999");
});
