import { rm } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { ProviderEvent } from "../../src/providers/index.js";
import {
  began,
  codexStage,
  collect,
  command,
  done,
  note,
  ofType,
  SECRET,
  saying,
  says,
  system,
  user,
} from "../support/programs/fake-codex-stage.js";
import { groupRuns } from "../support/programs.js";

type Stage = Awaited<ReturnType<typeof codexStage>>;

function failure(events: readonly ProviderEvent[]) {
  const end = events.at(-1);
  if (end?.type !== "failed") throw new Error(`it did not fail: ${JSON.stringify(events)}`);
  return end;
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const groupsOf = (on: Stage) => on.pids().filter((pid) => groupRuns(pid));
const straysOf = (on: Stage) => on.heard().flatMap(({ stray }) => stray ?? []);

describe("ends of codex", () => {
  test("[CDX40] a cancelled turn leaves nothing within a second", async () => {
    const on = await codexStage({
      stubborn: true,
      turns: [[began(command("c1")), { child: true }, { stray: true }, says("m", "go"), { hang: true }]],
    });
    const abort = new AbortController();
    const events: ProviderEvent[] = [];
    let at = 0;
    for await (const event of on.provider.generate(on.request([user("hi")]), { signal: abort.signal })) {
      events.push(event);
      if (event.type !== "text") continue;
      at = performance.now();
      abort.abort();
    }
    expect(events.at(-1)).toEqual({ type: "aborted" });
    expect(performance.now() - at).toBeLessThan(3_000);
    expect([groupsOf(on), on.pids().length]).toEqual([[], 1]);
    if (process.platform === "linux") await expect.poll(() => straysOf(on).filter(lives)).toEqual([]);
    on.play({ turns: [[], saying("again")] });
    expect((await on.ask([user("hi"), user("still there?")])).at(-1)?.type).toBe("finish");
  });

  test("[CDX40] a turn that is cancelled while codex waits for an answer ends as well", async () => {
    const asks = { ask: "item/commandExecution/requestApproval", params: { itemId: "c1" } };
    const on = await codexStage({ turns: [[began(command("c1")), asks, ...saying("ok")]] });
    const abort = new AbortController();
    const request = on.request([user("hi")], {
      ask: () =>
        new Promise((resolve) => {
          abort.signal.addEventListener("abort", () => resolve("deny"));
          abort.abort();
        }),
    });
    expect((await collect(on.provider, request, abort.signal)).at(-1)).toEqual({ type: "aborted" });
    expect(groupsOf(on)).toEqual([]);
  });

  test("[CDX40] a turn that is cancelled before it begins starts nothing", async () => {
    const on = await codexStage({ turns: [saying("ok")] });
    const events = await collect(on.provider, on.request([user("hi")]), AbortSignal.abort());
    expect(events).toEqual([{ type: "aborted" }]);
    expect(on.pids()).toEqual([]);
  });

  test.each([
    ["an exit", { exit: 3 }, "ended with exit code 3"],
    ["a kill", { kill: true }, "was ended by SIGKILL"],
  ])("[CDX41] %s in mid-turn is told with its last words", async (_, step, how) => {
    const words = { words: "\u001b[31mERROR\u001b[0m the disk\nis full\n" };
    const turns = [
      [began(command("c1")), { child: true }, says("m", "so far"), words, step],
      [],
      saying("ok"),
    ];
    const on = await codexStage({ turns });
    const events = await on.ask([user("hi")]);
    expect(ofType(events, "text")).toHaveLength(1);
    expect(failure(events)).toMatchObject({ code: "program.exited", retryable: true });
    expect(failure(events).message).toContain(`${how}. Its last words: ERROR the disk is full`);
    expect(groupsOf(on)).toEqual([]);
  });

  test("[CDX41] it asks for a permission and dies", async () => {
    const on = await codexStage({ turns: [[began(command("c1")), { note: "x" }, { hang: true }]] });
    on.play({
      turns: [
        [
          began(command("c1")),
          {
            raw: `${JSON.stringify({ id: 0, method: "item/commandExecution/requestApproval", params: { itemId: "c1" } })}\n`,
          },
          { exit: 1 },
        ],
      ],
    });
    expect(failure(await on.ask([user("hi")])).code).toBe("program.exited");
    expect(groupsOf(on)).toEqual([]);
  });

  test("[CDX42] one that ends at once", async () => {
    const on = await codexStage({ before: [{ words: "no such option" }, { exit: 2 }] });
    const failed = failure(await on.ask([user("hi")]));
    expect(failed.code).toBe("program.exited");
    expect(failed.message).toContain("ended with exit code 2. Its last words: no such option");
  });

  test("[CDX43] one that says nothing is ended, at the start and later", async () => {
    const before = await codexStage({ before: [{ hang: true }] }, { timeouts: { startMs: 300 } });
    expect(failure(await before.ask([user("hi")])).code).toBe("program.silent");
    const later = await codexStage({ turns: [[{ hang: true }]] }, { timeouts: { silenceMs: 300 } });
    expect(failure(await later.ask([user("hi")])).code).toBe("program.silent");
    expect([...groupsOf(before), ...groupsOf(later)]).toEqual([]);
  });
});

describe("failures of codex", () => {
  const failed = (message: string, codexErrorInfo: unknown = "other") =>
    note("turn/completed", { turn: { status: "failed", error: { message, codexErrorInfo } } });

  test.each([
    ["words", failed("too much at once"), "program.failed", "too much at once"],
    ["a body", failed('{"error":{"message":"nope","type":"x"}}'), "program.failed", "codex-cli: nope."],
    ["a key", failed(`wrong key ${SECRET}`), "program.failed", "wrong key [redacted]"],
    ["401", failed("no", { httpConnectionFailed: { httpStatusCode: 401 } }), "program.signed_out", "no"],
    [
      "an end",
      note("turn/completed", { turn: { status: "interrupted" } }),
      "program.failed",
      "as interrupted",
    ],
  ])("[CDX50] a turn that fails with %s", async (_, step, code, words) => {
    const on = await codexStage({ turns: [[step]] });
    const end = failure(await on.ask([user("hi")]));
    expect([end.code, end.message.includes(words)]).toEqual([code, true]);
  });

  test("[CDX50] no event holds a key", async () => {
    const on = await codexStage({ turns: [[{ raw: `key: ${SECRET}\n` }, { words: SECRET }, { exit: 1 }]] });
    const events = JSON.stringify(await on.ask([user("hi")]));
    expect([events.includes(SECRET), events.split("[redacted]").length - 1]).toEqual([false, 2]);
  });

  test("[CDX51] who is not signed in", async () => {
    const account = { result: { account: null, requiresOpenaiAuth: true } };
    const on = await codexStage({ answers: { "account/read": account } });
    const end = failure(await on.ask([user("hi")]));
    expect([end.code, end.message.includes("codex login")]).toEqual(["program.signed_out", true]);
    expect(on.heard("thread/start")).toEqual([]);
  });

  test("[CDX51] a version that does not know the question is asked nevertheless", async () => {
    const unknown = { error: { code: -32_601, message: "unknown" } };
    const on = await codexStage({ turns: [saying("ok")], answers: { "account/read": unknown } });
    expect((await on.ask([user("hi")])).at(-1)?.type).toBe("finish");
  });

  test("[CDX52] a program or a folder that is not there", async () => {
    const missing = await codexStage({}, { command: "/nowhere/codex" });
    expect(failure(await missing.ask([user("hi")])).code).toBe("program.missing");
    const on = await codexStage();
    await rm(on.folder, { recursive: true });
    const end = failure(await on.ask([user("hi")]));
    expect([end.code, end.message.includes("its folder is not there")]).toEqual(["program.no_start", true]);
  });

  test("[CDX53] lines that are no messages, warnings and retries are diagnostics", async () => {
    const on = await codexStage({
      before: [{ raw: "Update available!\n" }, note("configWarning", { summary: "no bubblewrap" })],
      turns: [
        [
          { raw: "{not json\n\n[1]\n" },
          note("warning", { message: "long thread" }),
          note("error", {
            error: { message: "Reconnecting... 1/5", additionalDetails: "503", codexErrorInfo: null },
            willRetry: true,
          }),
          says("m", "ok"),
          done,
        ],
      ],
    });
    const events = await on.ask([user("hi")]);
    expect(ofType(events, "diagnostic").map(({ text }) => text)).toEqual([
      "Update available!",
      "no bubblewrap",
      "{not json",
      "[1]",
      "long thread",
      "Reconnecting... 1/5 (503)",
    ]);
    expect(events.at(-1)?.type).toBe("finish");
  });

  test("[CDX53] half a line at the end is left out", async () => {
    const on = await codexStage({
      turns: [[says("m", "so far"), { raw: '{"method":"turn/compl' }, { exit: 0 }]],
    });
    const events = await on.ask([user("hi")]);
    expect(failure(events).message).toContain("ended with exit code 0");
    expect(ofType(events, "diagnostic")).toEqual([]);
  });

  test.each([{ before: [{ flood: 500, line: "Usage: cat" }] }, { turns: [[{ flood: 500, line: "?" }]] }])(
    "[CDX54] one that can't be understood",
    async (play) => {
      const on = await codexStage(play);
      expect(failure(await on.ask([user("hi")])).code).toBe("program.unintelligible");
      expect(groupsOf(on)).toEqual([]);
    },
  );

  test("[CDX54] an answer in unknown words", async () => {
    const on = await codexStage({ answers: { "thread/start": { result: { thread: {} } } } });
    expect(failure(await on.ask([user("hi")])).code).toBe("program.unintelligible");
  });

  test("[CDX55] a flood is read to its end", async () => {
    const noise = { flood: 150, line: "x".repeat(5_000) };
    const unknown = { flood: 3_000, line: JSON.stringify({ method: "thread/noise", params: {} }) };
    const on = await codexStage({ turns: [[noise, unknown, noise, ...saying("done")]] });
    const events = await on.ask([user("hi")]);
    const lines = ofType(events, "diagnostic");
    expect([lines.length, lines[0]?.text.length]).toEqual([100, 2_000]);
    expect(ofType(events, "text")).toEqual([{ type: "text", text: "done" }]);
  });
});

describe("what codex is sent", () => {
  test("[CDX60] any text, as it is", async () => {
    const odd = `--help\u0000 "\\ \u2028\n${"x".repeat(1_000_000)}`;
    const on = await codexStage({ turns: [saying("ok"), saying("ok")] });
    await on.ask([system(`-c ${"y".repeat(1_000_000)}`), user(odd)]);
    const [asked] = on.heard("turn/start");
    expect(asked?.params?.input).toEqual([{ type: "text", text: odd, text_elements: [] }]);
    expect(String(on.heard("thread/start")[0]?.params?.developerInstructions)).toHaveLength(1_000_003);
    await on.ask([system("half \ud83d"), user("one \ud83d half")]);
    expect(on.heard("turn/start")[1]?.params?.input).toMatchObject([{ text: "one \ufffd half" }]);
  });

  test("[CDX60] one that codex does not take", async () => {
    const error = { code: -32_602, message: "Input exceeds the maximum length of 1048576 characters." };
    const on = await codexStage({ answers: { "turn/start": { error } } });
    const end = failure(await on.ask([user("hi")]));
    expect([end.code, end.message.includes(error.message)]).toEqual(["program.failed", true]);
  });

  test("[CDX61] images and the effort", async () => {
    const on = await codexStage({ turns: [saying("ok")] });
    const content = [
      { type: "text" as const, text: "look" },
      { type: "image" as const, data: "AAAA", mimeType: "image/png" },
    ];
    const request = on.request([{ role: "user", content }]);
    await collect(on.provider, { ...request, params: { reasoning_effort: "high" } });
    expect(on.heard("turn/start")[0]?.params).toMatchObject({
      effort: "high",
      input: [
        { type: "text", text: "look" },
        { type: "image", url: "data:image/png;base64,AAAA" },
      ],
    });
  });

  test("[CDX62] [PDT34] nothing that anybody wrote is an argument, and the environment is the given one", async () => {
    const on = await codexStage({ turns: [saying("ok")] });
    await on.ask([system("RULE"), user("-c evil=true")]);
    const [{ argv, env } = {}] = on.heard();
    expect(argv?.filter((one) => /RULE|evil/.test(one))).toEqual([]);
    const seen = ["FAKE_CODEX", "FAKE_KEY", "HEDDLE_CHILD", "NO_PROXY", "PATH", "no_proxy"];
    expect([...(env ?? [])].sort()).toEqual(seen);
  });
});
