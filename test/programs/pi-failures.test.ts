import { readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ProviderEvent } from "../../src/providers/index.js";
import { all, answer, assistant, piStage, type Step, user } from "../support/programs/fake-pi-stage.js";

const failure = (events: readonly ProviderEvent[]) => {
  const last = events.at(-1);
  if (last?.type !== "failed") throw new Error(`did not fail: ${JSON.stringify(last)}`);
  return last;
};
const diagnostics = (events: readonly ProviderEvent[]) =>
  events.flatMap((event) => (event.type === "diagnostic" ? [event.text] : []));

test("[PIA20] a program that is not there is told as missing", async () => {
  const at = await piStage({}, { command: "/nowhere/pi" });
  const events = await at.turn([user("Hi")]);
  expect(events).toEqual([
    {
      type: "failed",
      code: "program.missing",
      retryable: false,
      message: expect.stringContaining('there is no program "/nowhere/pi"'),
    },
  ]);
});

test("[PIA20] so is a directory, and a file that is no program", async () => {
  const at = await piStage({});
  await rm(at.directory, { recursive: true });
  const gone = failure(await at.turn([user("Hi")]));
  expect(gone).toMatchObject({ code: "program.no_start", message: expect.stringContaining("directory") });

  const other = await piStage({}, { command: join(process.cwd(), "package.json") });
  expect(failure(await other.turn([user("Hi")]))).toMatchObject({
    code: "program.no_start",
    message: expect.stringContaining("EACCES"),
  });
});

test.each([
  ["at its start", { start: { stderr: "No models available. Use /login to log in", exit: 1 } }],
  ["when it is asked", { turns: [{ refused: "No API key found for anthropic.\n\nUse /login" }] }],
  [
    "by its model server",
    { turns: [{ steps: answer("", { stopReason: "error", errorMessage: "401 bad credentials" }) }] },
  ],
])("[PIA21] a sign-in that is missing %s is told with what to do", async (_, script) => {
  const at = await piStage(script);
  const last = failure(await at.turn([user("Hi")]));
  expect(last).toMatchObject({ code: "program.signed_out", retryable: false });
  expect(last.message).toContain("Run `pi` in a terminal and sign in with `/login`");
});

test("[PIA22] one that exits at once is told with its last words, without keys", async () => {
  const at = await piStage({ start: { stderr: "\u001b[31mbad config very-secret\n", exit: 7 } });
  const events = await at.turn([user("Hi")]);
  expect(events).toHaveLength(1);
  expect(failure(events)).toMatchObject({ code: "program.exited", retryable: true });
  expect(failure(events).message).toContain("ended with exit code 7: [31mbad config [redacted]");
});

test("[PIA22] [PIA24] one that exits in mid-turn too, with half a line said; the next turn is well", async () => {
  const broken = [...answer("Half"), { stderr: "out of memory" }, { raw: '{"type":"mess' }, { exit: 9 }];
  const at = await piStage({ session: "s-1", turns: [{ steps: broken }] });
  const events = await at.turn([user("Hi")]);
  expect(events).toContainEqual({ type: "text", text: "Half" });
  expect(failure(events).message).toContain("ended with exit code 9: out of memory");
  expect(diagnostics(events)).toEqual([]);

  await at.play({ turns: [{ steps: answer("Whole") }] });
  const next = await at.turn([user("Hi"), assistant("Half"), user("Again")]);
  expect(next.at(-1)).toEqual({ type: "finish", reason: "stop" });
});

test("[PIA22] its last words hold no token of the bridge", async () => {
  const broken = [...answer("Half"), { stderr: "Bearer t7.bridge-secret-0123456789 refused" }, { exit: 9 }];
  const at = await piStage({ turns: [{ steps: broken }] });
  const bridge = { url: "http://127.0.0.1:1/mcp", token: "t7.bridge-secret-0123456789" };
  const events = await at.turn([user("Hi")], { bridge: { ...bridge, command: "heddle", args: [], env: {} } });
  expect(failure(events).message).toContain("refused");
  expect(JSON.stringify(events)).not.toContain("bridge-secret");
});

test("[PIA22] one that dies between two turns is not noticed by the next", async () => {
  const at = await piStage({ turns: [{ steps: answer("A") }] });
  const id =
    (await at.turn([user("Hi")])).flatMap((event) => (event.type === "session" ? event.id : []))[0] ?? "";
  const pid = at.starts()[0]?.pid as number;
  process.kill(pid, "SIGKILL");
  await expect.poll(() => isRunning(pid)).toBe(false);
  const work = { session: { id, told: 2, instructions: "" } };
  const next = await at.turn([user("Hi"), assistant("A"), user("And?")], work);
  // Noticed before it is asked, or by asking: then a new session is told all.
  expect(next.at(-1)).toEqual({ type: "finish", reason: "stop" });
});

test("[PIA22] one that dies while somebody is asked ends the turn", async () => {
  const at = await piStage({
    turns: [{ steps: [{ type: "agent_start" }, { may: { id: "c", name: "bash", input: {} } }], open: true }],
  });
  at.answer = () => {
    process.kill(at.starts()[0]?.pid as number, "SIGKILL");
    return new Promise(() => {});
  };
  expect(failure(await at.turn([user("Hi")]))).toMatchObject({
    code: "program.exited",
    message: expect.stringContaining("SIGKILL"),
  });
});

test("[PIA23] one that does not get ready is ended", async () => {
  const at = await piStage({ start: { silent: true } }, { timeouts: { startMs: 700 } });
  expect(failure(await at.turn([user("Hi")]))).toMatchObject({ code: "program.silent" });
  await expect.poll(() => isRunning(at.starts()[0]?.pid as number)).toBe(false);
});

test("[PIA24] lines that are no message are diagnostics", async () => {
  const noise: Step[] = [
    { raw: "Warning: very-secret\n" },
    { raw: "\n[1,2]\n" },
    { raw: '{"type":"unheard_of"}\n' },
  ];
  const at = await piStage({ start: { raw: ["hello\n"] }, turns: [{ steps: [...noise, ...answer("A")] }] });
  const events = await at.turn([user("Hi")]);
  expect(diagnostics(events)).toEqual(["Warning: [redacted]", "[1,2]"]);
  expect(events.at(-1)).toEqual({ type: "finish", reason: "stop" });
});

test("[PIA25] one that talks only nonsense is not understood", async () => {
  const at = await piStage({ start: { nonsense: true, silent: true } });
  const last = failure(await at.turn([user("Hi")]));
  expect(last).toMatchObject({ code: "program.unintelligible", retryable: false });
  expect(last.message).toContain('such as "nonsense 200"');
});

test("[PIA25] nor one that does not load the extension, or does not ask it", async () => {
  const bare = await piStage({ start: { bare: true } });
  expect(failure(await bare.turn([user("Hi")]))).toMatchObject({ code: "program.unintelligible" });
  expect(bare.prompts()).toEqual([]);
  const unasked = await piStage({ turns: [{ unasked: true, steps: answer("A") }] });
  expect(failure(await unasked.turn([user("Hi")]))).toMatchObject({ code: "program.unintelligible" });
});

test("[PIA28] a flood arrives whole, and a message without an end is the end of pi", async () => {
  const event = {
    type: "message_update",
    assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: "x" },
  };
  const at = await piStage({ turns: [{ steps: [...answer("A"), { flood: 3_000, event }] }] });
  const events = await at.turn([user("Hi")]);
  expect(events.filter(({ type }) => type === "text")).toHaveLength(3_001);
  expect(events.at(-1)).toEqual({ type: "finish", reason: "stop" });

  const endless = await piStage({ turns: [{ steps: [{ raw: "x".repeat(17 * 1024 * 1024) }], open: true }] });
  expect(failure(await endless.turn([user("Hi")])).message).toContain("more than 16 MiB");
});

test.each([
  ["of its model server", answer("", { stopReason: "error", errorMessage: "400 very-secret is wrong" })],
  [
    "of the extension",
    [{ type: "extension_error", event: "before_agent_start", error: "400 very-secret is wrong" }],
  ],
])("[PIA26] an error %s is told in its words", async (_, steps) => {
  const at = await piStage({ turns: [{ steps }] });
  const last = failure(await at.turn([user("Hi")]));
  expect(last).toMatchObject({ code: "program.failed", retryable: true });
  expect(last.message).toContain("400 [redacted] is wrong");
});

test("[PIA26] a turn without an answer, and one that was broken off, have failed", async () => {
  const at = await piStage({ turns: [{ steps: [] }] });
  expect(failure(await at.turn([user("Hi")])).message).toContain("without an answer");
  const other = await piStage({ turns: [{ steps: answer("A", { stopReason: "aborted" }) }] });
  expect(failure(await other.turn([user("Hi")])).message).toContain("broke its turn off");
});

test("[PIA27] a message that is taken for a command fails", async () => {
  const at = await piStage({ turns: [{ command: true }] });
  expect(failure(await at.turn([user("/deploy now")])).message).toContain("a command of its own");
});

test("[PIA27] other extensions get no answer", async () => {
  const steps = [
    { dialog: "confirm" },
    { type: "extension_ui_request", id: "n", method: "notify", message: "Hm" },
  ];
  const at = await piStage({ turns: [{ steps: [...steps, ...answer("A")] }] });
  const events = await at.turn([user("Hi")]);
  expect(at.logged().flatMap(({ dialog }) => dialog ?? [])).toMatchObject([{ cancelled: true }]);
  expect(diagnostics(events)).toEqual(["Hm"]);
});

test("[PIA30] a cancelled turn leaves nothing within a second, though pi ignores signals", async () => {
  const at = await piStage({
    start: { ignore_signals: true },
    turns: [{ steps: [{ child: true }, ...answer("A")], open: true }],
  });
  const stop = new AbortController();
  const events: ProviderEvent[] = [];
  let stoppedAt = 0;
  for await (const event of at.provider.generate(at.request([user("Hi")]), { signal: stop.signal })) {
    events.push(event);
    if (event.type !== "text") continue;
    stoppedAt = performance.now();
    stop.abort();
  }
  expect(events.at(-1)).toEqual({ type: "aborted" });
  const pids = at.logged().flatMap(({ pid, child }) => [pid ?? child ?? []].flat());
  expect(pids).toHaveLength(2);
  expect(await Promise.all(pids.map(isRunning))).toEqual([false, false]);
  // A second, and another for a machine that is busy.
  expect(performance.now() - stoppedAt).toBeLessThan(2_000);
});

test("[PIA30] pi hears a signal first, and ends what it has put into groups of their own", async () => {
  const at = await piStage({ turns: [{ steps: [{ child: "detached" }, ...answer("A")], open: true }] });
  const stop = new AbortController();
  for await (const event of at.provider.generate(at.request([user("Hi")]), { signal: stop.signal })) {
    if (event.type === "text") stop.abort();
  }
  const child = at.logged().flatMap((entry) => entry.child ?? [])[0] as number;
  await expect.poll(() => isRunning(child)).toBe(false);
});

test("[PIA30] nothing is left of a turn that is cancelled before it began", async () => {
  const at = await piStage({ turns: [{ steps: answer("A") }] });
  const stop = new AbortController();
  const turn = all(at.provider.generate(at.request([user("Hi")]), { signal: stop.signal }));
  stop.abort();
  expect(await turn).toEqual([{ type: "aborted" }]);
  for (const { pid } of at.starts()) expect(await isRunning(pid as number)).toBe(false);
});

test("[PIA31] the extension is private, and gone once it was read", async () => {
  const at = await piStage({ turns: [{ steps: answer("A") }] });
  const events: ProviderEvent[] = [];
  for await (const event of at.provider.generate(at.request([user("Hi")]))) {
    events.push(event);
    if (event.type === "request") expect(await extensionsOf(at.starts()[0]?.argv)).toEqual([]);
  }
  const [started] = at.starts();
  expect(started?.mode).toBe(0o600);
  expect(started?.extension).toContain("export default function heddle(pi)");

  const failing = await piStage({ start: { exit: 1 } });
  await failing.turn([user("Hi")]);
  expect(await extensionsOf(failing.starts()[0]?.argv)).toEqual([]);
});

/** What is left of the folder that the extension was in. */
async function extensionsOf(argv: readonly string[] = []): Promise<string[]> {
  const path = argv.at(-1) ?? "";
  expect(path).toMatch(/heddle-pi-\w+\/heddle\.ts$/);
  return (await readdir(tmpdir())).filter((name) => path.includes(`/${name}/`));
}

/** One that is dead and was not collected yet does not run. */
async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !/\) [ZX]/.test(stat);
}
