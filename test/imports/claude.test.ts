import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../support/stores.js";
import { readAll, readOne, words } from "./read.js";
import { at, Claude, jsonl, PNG, text, toolUse, write } from "./sessions.js";

const made = (id?: string) => new Claude(temporaryDirectory(), "/src/shop", id);
const place = ({ home }: Claude) => join(home, ".claude");

describe("a session of Claude Code", () => {
  test("[IMP10] [IMP13] what was said, thought, asked of tools and answered is there, with models, tokens, times and diffs", async () => {
    const session = made()
      .user("a", null, [
        text("Look"),
        { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
      ])
      .answer(
        "b",
        "a",
        [
          { type: "thinking", thinking: "Hm.", signature: "x" },
          text("I look."),
          toolUse("t1", "Edit", { file_path: "/src/shop/a.ts" }),
        ],
        { stop_reason: "tool_use" },
      )
      .result(
        "c",
        "b",
        ["t1", [text("edited"), { type: "image", source: { media_type: "image/png", data: PNG } }]],
        {
          toolUseResult: { filePath: "/src/shop/a.ts", oldString: "1", newString: "2", durationMs: 12 },
        },
      )
      .answer("d", "c", [text("Done.")])
      .save();
    const { branches, ...known } = await readOne("claude", place(session));
    expect(known).toMatchObject({
      title: "Look",
      createdAt: at(0),
      version: "2.1.0",
      gitBranch: "topic",
      cwd: "/src/shop",
      lossy: [],
    });
    expect(branches.map(({ messages }) => messages)).toEqual([
      [
        {
          role: "user",
          timestamp: at(0),
          content: [text("Look"), { type: "image", data: PNG, mimeType: "image/png" }],
        },
        {
          role: "agent",
          timestamp: at(1),
          model: "claude-test",
          tokens: { input: 15, output: 5, cachedInput: 3 },
          content: [
            { type: "thinking", text: "Hm." },
            text("I look."),
            { type: "tool_call_ref", toolCallId: "t1" },
            { type: "image", data: PNG, mimeType: "image/png" },
          ],
          toolCalls: [
            {
              toolCallId: "t1",
              name: "Edit",
              status: "completed",
              input: '{"file_path":"/src/shop/a.ts"}',
              output: "edited",
              duration: 12,
              diff: { path: "/src/shop/a.ts", oldText: "1", newText: "2" },
            },
          ],
        },
        {
          role: "agent",
          timestamp: at(3),
          model: "claude-test",
          tokens: { input: 15, output: 5, cachedInput: 3 },
          stopReason: "end_turn",
          content: [text("Done.")],
        },
      ],
    ]);
  });

  test("[IMP20] lines of one answer are one message, also with results between them, and count their tokens once", async () => {
    const answer = { id: "msg_1", requestId: "req_1", stop_reason: "tool_use" };
    const session = made()
      .user("a", null, "Both")
      .answer("b", "a", [text("Two at once.")], answer)
      .answer("c", "b", [toolUse("t1", "Read", {})], answer)
      .result("r1", "c", ["t1", "one"])
      .answer("d", "c", [toolUse("t2", "Read", {})], answer)
      .result("r2", "d", ["t2", "two"], { is_error: true })
      .answer("e", "r1", [text("Both read.")], { id: "msg_1", requestId: "req_2" })
      .save();
    const { branches } = await readOne("claude", place(session));
    expect(branches.map(words)).toEqual([
      [
        ["user", "Both"],
        ["agent", "Two at once.", "tool_call_ref", "tool_call_ref"],
        ["agent", "Both read."],
      ],
    ]);
    expect(branches[0]?.messages[1]).toMatchObject({
      tokens: { input: 15, output: 5 },
      toolCalls: [
        { toolCallId: "t1", output: "one", status: "completed" },
        { toolCallId: "t2", output: "two", status: "failed" },
      ],
    });
  });

  test("[IMP16] [IMP21] what only the model was to see, notices and answers no model gave are left out and listed", async () => {
    const session = made()
      .user("a", null, "Real")
      .add("attachment", "b", "a", { attachment: { type: "date" } })
      .user("c", "b", "Caveat", { isMeta: true })
      .add("system", "d", "c", { subtype: "local_command", content: "x" })
      .answer("e", "d", [text("No response requested.")], { id: "s", isApiErrorMessage: false })
      .answer("f", "e", [{ type: "redacted_thinking", data: "x" }, text("Yes.")])
      .user("g", "f", "From a side chain", { isSidechain: true });
    (session.lines[4] as { message: { model: string } }).message.model = "<synthetic>";
    session.lines.push({ type: "file-history-snapshot", messageId: "x" });
    session.save();
    const { branches, lossy } = await readOne("claude", place(session));
    expect(branches.map(words)).toEqual([
      [
        ["user", "Real"],
        ["agent", "Yes."],
      ],
    ]);
    expect(Object.fromEntries(lossy.map(({ what, count }) => [what, count]))).toEqual({
      "context that Claude Code adds for the model": 1,
      "notes that Claude Code adds for the model": 1,
      "notices of Claude Code": 1,
      "answers that no model gave": 1,
      "thoughts that the provider keeps to itself": 1,
      "lines of sub-agents that stand within the session": 1,
      "snapshots of files": 1,
    });
  });

  test("[IMP14] another answer to the same message is a branch; the first stays the trunk, and results make none", async () => {
    const session = made()
      .user("a", null, "Start")
      .answer("b", "a", [toolUse("t1", "Read", {})], { stop_reason: "tool_use" })
      .result("r", "b", ["t1", "read"])
      .answer("c", "r", [text("First.")])
      .user("d", "b", "Rather this")
      .answer("e", "d", [text("Second.")])
      .user("f", "d", "Or that")
      .save();
    const { branches } = await readOne("claude", place(session));
    expect(branches.map(({ key, parentKey }) => [key, parentKey])).toEqual([
      ["", undefined],
      ["d", ""],
      ["f", "d"],
    ]);
    expect(branches.map((branch) => words(branch).at(-1))).toEqual([
      ["agent", "First."],
      ["agent", "Second."],
      ["user", "Or that"],
    ]);
    expect(words(branches[2]).length).toBe(4);
  });

  test("[IMP12] a title that was given counts before one that was made, and that before the first words", async () => {
    const session = made().user("a", null, "<command-name>/x</command-name>\n  First words \nmore").save();
    const titleNow = async () => (await readOne("claude", place(session.save()))).title;
    expect(await titleNow()).toBe("First words");
    session.lines.push({ type: "ai-title", aiTitle: "Made up", sessionId: session.id });
    expect(await titleNow()).toBe("Made up");
    session.lines.push({ type: "custom-title", customTitle: "Mine", sessionId: session.id });
    expect(await titleNow()).toBe("Mine");
  });

  test("[IMP22] a summary stands where it was made, and the conversation goes on behind it", async () => {
    const session = made()
      .user("a", null, "Long")
      .answer("b", "a", [text("Talk.")])
      .add("system", "c", null, { subtype: "compact_boundary", logicalParentUuid: "b" })
      .user("d", "c", "We talked.", { isCompactSummary: true })
      .user("e", "d", "On")
      .save();
    const { branches } = await readOne("claude", place(session));
    expect(branches.map(words)).toEqual([
      [
        ["user", "Long"],
        ["agent", "Talk."],
        ["system", "We talked."],
        ["user", "On"],
      ],
    ]);
  });

  test("[IMP15] a sub-agent's session names the one that asked for it, wherever its file stands", async () => {
    const session = made().user("a", null, "Ask someone").save();
    const sub = made("agent-7");
    sub.user("x", null, "Search", { isSidechain: true, agentId: "7", sessionId: session.id });
    sub.answer("y", "x", [text("Found.")], { isSidechain: true, agentId: "7", sessionId: session.id });
    const folder = session.path.replace(/\.jsonl$/, "");
    jsonl(join(folder, "subagents/agent-7.jsonl"), sub.lines);
    jsonl(join(folder, "../agent-8.jsonl"), sub.lines);
    write(join(folder, "tool-results/t1.jsonl"), "no session");
    const { sessions, notRead } = await readAll("claude", place(session));
    expect(notRead).toEqual([]);
    expect(sessions.map(({ id, parentId, branches }) => [id, parentId, words(branches[0])])).toEqual([
      [
        `${session.id}/agent-7`,
        session.id,
        [
          ["user", "Search"],
          ["agent", "Found."],
        ],
      ],
      [session.id, undefined, [["user", "Ask someone"]]],
      [
        `${session.id}/agent-8`,
        session.id,
        [
          ["user", "Search"],
          ["agent", "Found."],
        ],
      ],
    ]);
  });

  test("[IMP17] a call without its result is a failed one, and the answer may not be complete", async () => {
    const session = made()
      .user("a", null, "Go")
      .answer("b", "a", [toolUse("t1", "Bash", {})], { stop_reason: "tool_use" })
      .save();
    const { branches } = await readOne("claude", place(session));
    expect(branches[0]).toMatchObject({ open: true, messages: [{}, { toolCalls: [{ status: "failed" }] }] });
    expect(branches[0]?.messages[1]).not.toHaveProperty("toolCalls.0.output");
  });

  test("[IMP112] a line that was written again, to the byte, is one message; another one of its name is another", async () => {
    const session = made()
      .user("a", null, "One")
      .answer("b", "a", [text("Two")]);
    session.lines.push(...session.lines);
    session.user("a", "b", "Three").save();
    const { branches, lossy } = await readOne("claude", place(session));
    expect(branches.map(words)).toEqual([
      [
        ["user", "One"],
        ["agent", "Two"],
        ["user", "Three"],
      ],
    ]);
    expect(lossy).toEqual([{ what: "lines that stand there twice", count: 2 }]);
  });

  test("[IMP3] links below a place are not followed; the place itself may be one", async () => {
    const session = made().user("a", null, "Here").save();
    const other = made("44444444-4444-4444-8444-444444444444").user("a", null, "Elsewhere").save();
    symlinkSync(other.path, join(session.path, "..", "linked.jsonl"));
    symlinkSync(join(other.path, ".."), join(session.path, "..", "linked"));
    expect((await readAll("claude", place(session))).sessions.map(({ title }) => title)).toEqual(["Here"]);
    mkdirSync(join(session.home, "links"));
    symlinkSync(place(session), join(session.home, "links/here"));
    expect((await readAll("claude", join(session.home, "links/here"))).sessions.length).toBe(1);
  });
});
