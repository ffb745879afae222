import { appendFileSync, closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type FoundSession, TOOLS } from "../../src/imports/session.js";
import { sources } from "../../src/imports/tools.js";
import { temporaryDirectory } from "../support/stores.js";
import { anything, expectFormat, readAll, readOne, words } from "./read.js";
import { Claude, Codex, jsonl, Opencode, Pi, text } from "./sessions.js";

const claude = () => new Claude(temporaryDirectory(), "/src/shop");

describe("files that are not as they should be", () => {
  test("[IMP4] [IMP90] lines that can't be read are counted and skipped; a last line that is still being written is no line", async () => {
    const session = claude().user("a", null, "Before");
    session.lines.push("{not json", "[1]", "null", "\u0000\u0000", "");
    session.user("b", "a", "Behind \u0000").save();
    appendFileSync(session.path, '{"type":"user","uuid":"c","par');
    const { branches, lossy } = await readOne("claude", session.home);
    expect(words(branches[0])).toEqual([
      ["user", "Before"],
      ["user", "Behind \u0000"],
    ]);
    expect(lossy).toEqual([{ what: "lines that can't be read", count: 4 }]);
  });

  test("[IMP90] parents in a circle, missing ones and two lines of one name lose no message", async () => {
    const session = claude()
      .user("a", "c", "One")
      .user("b", "a", "Two")
      .user("c", "b", "Three")
      .user("c", "nowhere", "Four")
      .save();
    const { branches, lossy } = await readOne("claude", session.home);
    expect(branches.flatMap(words)).toEqual([
      ["user", "One"],
      ["user", "Two"],
      ["user", "Three"],
      ["user", "Four"],
    ]);
    expect(lossy).toEqual([{ what: "lines that answer one that is not there", count: 2 }]);
  });

  test("[IMP90] results that nobody asked for, and images that are none, are listed", async () => {
    const bad = (data: unknown, media_type: unknown) => ({ type: "image", source: { data, media_type } });
    const session = claude()
      .user("z", null, "Hello")
      .result("r", "z", ["t9", "whose?"])
      .user("a", "r", [
        text("See"),
        bad("no base64!", "image/png"),
        bad("AAAA", "text/html"),
        bad(7, "image/png"),
        bad("", 1),
      ])
      .save();
    const { branches, lossy } = await readOne("claude", session.home);
    expect(branches.map(words)).toEqual([
      [
        ["user", "Hello"],
        ["user", "See"],
      ],
    ]);
    expect(lossy).toMatchObject([
      { what: "results of calls that are not there", count: 1 },
      { what: "images that are damaged, too large or not in the session", count: 4 },
    ]);
  });

  test("[IMP91] a line that is too long is skipped, and a long session is never held as a whole", async () => {
    const session = claude().user("a", null, "Before").save();
    const file = openSync(session.path, "a");
    const huge = Buffer.alloc(1024 * 1024, "x");
    for (let n = 0; n < 65; n++) writeSync(file, huge);
    writeSync(file, "\n");
    const large = "y".repeat(1024 * 1024);
    const line = {
      type: "user",
      sessionId: session.id,
      cwd: session.cwd,
      message: { role: "user", content: large },
    };
    const lines = Array.from({ length: 60 }, (_, n) => ({ ...line, uuid: `u${n}`, parentUuid: `u${n - 1}` }));
    for (const each of lines) writeSync(file, `${JSON.stringify(each)}\n`);
    closeSync(file);
    const { value: found } = await sources.claude.find(session.path)[Symbol.asyncIterator]().next();
    const opened = await sources.claude.open(found as FoundSession);
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const held = () => {
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    let [messages, most] = [0, 0];
    const before = held();
    for await (const { message } of opened.branches[0]?.messages() ?? []) {
      messages += message.content.length;
      if (messages % 10 === 0) most = Math.max(most, held() - before);
    }
    await opened.close();
    expect(messages).toBe(61);
    expect(opened.lossy.list()[0]).toEqual({ what: "lines that can't be read", count: 1 });
    expect(most).toBeLessThan(20 * 1024 * 1024);
  });

  test("[IMP14] [IMP90] a file of nothing but branches gives at most 200, and says how many are left out", async () => {
    const session = claude().user("a", null, "Root");
    for (let n = 0; n < 300; n++) session.user(`b${n}`, "a", `Try ${n}`);
    const { branches, lossy } = await readOne("claude", session.save().home);
    expect(branches.length).toBe(200);
    expect(lossy).toEqual([{ what: "branches past the first 200", count: 100 }]);
  });

  test("[IMP90] whatever values stand in the lines, every message that comes of them is one of the format", async () => {
    const block = fc.record(
      {
        type: fc.oneof(
          fc.constantFrom("text", "thinking", "tool_use", "tool_result", "image", "toolCall", "input_text"),
          anything,
        ),
        text: anything,
        id: anything,
        tool_use_id: anything,
        content: anything,
        input: anything,
        source: anything,
      },
      { requiredKeys: ["type"] },
    );
    const line = fc.record(
      {
        type: fc.oneof(
          fc.constantFrom(
            "user",
            "assistant",
            "system",
            "message",
            "response_item",
            "event_msg",
            "session",
            "compaction",
          ),
          anything,
        ),
        uuid: fc.constantFrom("a", "b", "c", 7),
        id: fc.constantFrom("a", "b", "c", 7),
        parentUuid: fc.constantFrom("a", "b", "c", null, 7),
        parentId: fc.constantFrom("a", "b", "c", null, 7),
        sessionId: fc.constant("s"),
        timestamp: anything,
        message: fc.oneof(
          anything,
          fc.record({
            role: fc.constantFrom("user", "assistant", "toolResult", "bashExecution", 7),
            stopReason: anything,
            id: anything,
            model: anything,
            usage: fc.oneof(
              anything,
              fc.dictionary(
                fc.constantFrom(
                  "input_tokens",
                  "cache_read_input_tokens",
                  "input",
                  "cacheRead",
                  "cacheWrite",
                ),
                anything,
              ),
            ),
            content: fc.oneof(anything, fc.array(block, { maxLength: 3 })),
          }),
        ),
        payload: fc.oneof(
          anything,
          fc.record({
            type: fc.constantFrom(
              "message",
              "reasoning",
              "function_call",
              "function_call_output",
              "user_message",
              "thread_rolled_back",
              "token_count",
              "task_complete",
            ),
            role: fc.constantFrom("user", "assistant", 7),
            call_id: fc.constantFrom("a", "b", 7),
            content: fc.oneof(anything, fc.array(block, { maxLength: 3 })),
            message: anything,
            output: anything,
            num_turns: anything,
            info: anything,
          }),
        ),
      },
      { requiredKeys: ["type"] },
    );
    const home = temporaryDirectory();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom("claude", "codex", "pi"),
        fc.array(line, { maxLength: 12 }),
        async (tool, lines) => {
          const head = {
            claude: { type: "user", uuid: "first", parentUuid: null, sessionId: "s" },
            codex: { type: "session_meta", payload: { id: "s" } },
            pi: { type: "session", id: "s" },
          }[tool];
          const path = jsonl(join(home, "one.jsonl"), [head, ...lines] as Record<string, unknown>[]);
          await expectFormat(tool, path);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("[IMP4] every tool lists what it can't read instead of ending", async () => {
    const home = temporaryDirectory();
    jsonl(join(home, "one.jsonl"), ["rubbish", { type: "other" }]);
    mkdirSync(join(home, "empty"));
    for (const tool of TOOLS) {
      const { sessions, notRead } = await readAll(tool, home);
      expect(sessions).toEqual([]);
      expect(notRead.map(({ path }) => path)).toEqual(tool === "opencode" ? [] : [join(home, "one.jsonl")]);
    }
  });

  test("[IMP11] the same session gives the same ids for ever: they are part of the format", async () => {
    const { messageIdOf, threadIdOf } = await import("../../src/imports/ids.js");
    expect(threadIdOf("claude", "1b8e2386-bc20-4c04-9289-9443edae0502")).toBe(
      "48d9c68d-e68d-56bc-ad69-c23a91049679",
    );
    expect(messageIdOf("codex", "s", "0:8")).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(threadIdOf("pi", "s", "a")).not.toBe(threadIdOf("pi", "s", "b"));
    const all = [
      new Codex(temporaryDirectory(), "/a").user("x"),
      new Pi(temporaryDirectory(), "/a").user("x", null, "x"),
    ];
    for (const session of all) session.save();
    const opencode = new Opencode(temporaryDirectory(), "/a")
      .begin()
      .message("m", { role: "user" }, [text("x")]);
    expect(new Set([...all.map(({ id }) => id), opencode.id]).size).toBe(3);
  });
});
