import { readFileSync } from "node:fs";
import { join } from "node:path";
import zlib from "node:zlib";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../support/stores.js";
import { readAll, readOne, words } from "./read.js";
import { at, Codex, jsonl, PNG, write } from "./sessions.js";

const made = (id?: string, more = {}, home = temporaryDirectory()) => new Codex(home, "/src/shop", id, more);
const place = ({ home }: Codex) => join(home, ".codex");

describe("a session of Codex", () => {
  test("[IMP10] [IMP13] what was said, asked of tools and answered is there, with the model of each turn, tokens and diffs", async () => {
    const session = made()
      .add("turn_context", { model: "gpt-test", cwd: "/src/shop" })
      .user("Patch it")
      .item({ type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }], encrypted_content: "x" })
      .says("I patch.")
      .item({ type: "custom_tool_call", call_id: "t1", name: "apply_patch", input: "*** Begin Patch" })
      .event({
        type: "patch_apply_end",
        call_id: "t1",
        success: true,
        changes: {
          "/src/shop/a.ts": { type: "update", unified_diff: "@@ -1,2 +1,2 @@\n same\n-old\n+new\n" },
        },
      })
      .item({ type: "custom_tool_call_output", call_id: "t1", output: "Success" })
      .event({
        type: "token_count",
        info: { last_token_usage: { input_tokens: 9, cached_input_tokens: 4, output_tokens: 2 } },
      })
      .says("Patched.")
      .ends()
      .save();
    const { branches, ...known } = await readOne("codex", place(session));
    expect(known).toMatchObject({
      title: "Patch it",
      createdAt: at(0),
      version: "0.166.0",
      gitBranch: "topic",
      gitCommit: "abc123",
      cwd: "/src/shop",
      lossy: [],
    });
    expect(branches[0]?.messages).toMatchObject([
      { role: "user", content: [{ type: "text", text: "Patch it" }] },
      {
        role: "agent",
        model: "gpt-test",
        tokens: { input: 9, output: 2, cachedInput: 4 },
        content: [
          { type: "thinking", text: "Hm." },
          { type: "text", text: "I patch." },
          { type: "tool_call_ref", toolCallId: "t1" },
        ],
        toolCalls: [
          {
            toolCallId: "t1",
            name: "apply_patch",
            status: "completed",
            input: "*** Begin Patch",
            output: "Success",
            diff: { path: "/src/shop/a.ts", oldText: "same\nold\n", newText: "same\nnew\n" },
          },
        ],
      },
      { role: "agent", stopReason: "end_turn", content: [{ type: "text", text: "Patched." }] },
    ]);
  });

  test("[IMP30] what the user said comes from events, once, with its images; context that was sent in their name does not", async () => {
    const image = { type: "input_image", image_url: `data:image/png;base64,${PNG}` };
    const session = made()
      .item({ type: "message", role: "developer", content: [{ type: "input_text", text: "<rules>" }] })
      .item({
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "<environment_context>x" }],
      })
      .item({ type: "message", role: "user", content: [{ type: "input_text", text: "See" }, image] })
      .event({ type: "user_message", message: "See", images: [], local_images: ["/tmp/a.png"] })
      .event({
        type: "item_completed",
        item: { type: "UserMessage", id: "u", content: [{ type: "text", text: "See" }] },
      })
      .says("Seen.")
      .ends()
      .event({
        type: "item_completed",
        item: { type: "UserMessage", id: "v", content: [{ type: "text", text: "See" }] },
      })
      .save();
    const { branches, lossy } = await readOne("codex", place(session));
    expect(branches.map(words)).toEqual([
      [
        ["user", "See", "image"],
        ["agent", "Seen."],
        ["user", "See"],
      ],
    ]);
    expect(branches[0]?.messages[0]?.content).toContainEqual({
      type: "image",
      data: PNG,
      mimeType: "image/png",
    });
    expect(lossy).toEqual([{ what: "context that Codex adds for the model", count: 2 }]);
  });

  test("[IMP30] where no event tells, what was sent as the user's is taken", async () => {
    const sent = (words: string) => ({
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: words }],
    });
    const session = made()
      .item(sent("# AGENTS.md instructions for x"))
      .item(sent("One"))
      .says("Two.")
      .item(sent("Three"))
      .save();
    const { branches } = await readOne("codex", place(session));
    expect(branches.map(words)).toEqual([
      [
        ["user", "One"],
        ["agent", "Two."],
        ["user", "Three"],
      ],
    ]);
  });

  test("[IMP31] turns that were taken back are a branch beside those that replaced them", async () => {
    const session = made().user("One").says("1").ends().user("Two").says("2").ends();
    session.event({ type: "thread_rolled_back", num_turns: 1 }).user("Rather").says("3").ends().save();
    const { branches } = await readOne("codex", place(session));
    expect(branches.map(words)).toEqual([
      [
        ["user", "One"],
        ["agent", "1"],
        ["user", "Two"],
        ["agent", "2"],
      ],
      [
        ["user", "One"],
        ["agent", "1"],
        ["user", "Rather"],
        ["agent", "3"],
      ],
    ]);
  });

  test("[IMP15] [IMP32] a fork has the history it goes on with, up to its line; without that file, its own part, and says so", async () => {
    const first = made().user("One").says("1").ends().user("Two").save();
    const history_base = { thread_id: first.id, end_ordinal_exclusive: 5 };
    const fork = made(
      "55555555-5555-7555-8555-555555555555",
      { forked_from_id: first.id, history_base },
      first.home,
    );
    fork.user("Other").says("2").ends().save();
    const { sessions } = await readAll("codex", place(first));
    expect(sessions.map(({ parentId, branches }) => [parentId, words(branches[0])])).toEqual([
      [
        undefined,
        [
          ["user", "One"],
          ["agent", "1"],
          ["user", "Two"],
        ],
      ],
      [
        first.id,
        [
          ["user", "One"],
          ["agent", "1"],
          ["user", "Other"],
          ["agent", "2"],
        ],
      ],
    ]);
    const alone = made(fork.id, { history_base }).user("Other").says("2").ends().save();
    const { branches, lossy } = await readOne("codex", place(alone));
    expect(words(branches[0])).toEqual([
      ["user", "Other"],
      ["agent", "2"],
    ]);
    expect(lossy.map(({ what }) => what)).toEqual([
      "the history it was forked from, whose file is not there",
    ]);
  });

  test("[IMP33] a packed session is read where this Node.js can unpack it; else its file is listed, with what to do", async () => {
    const session = made().user("Packed").says("Yes.").ends();
    const plain = session.save().path;
    const compress = (zlib as { zstdCompressSync?: (data: Buffer) => Buffer }).zstdCompressSync;
    const home = temporaryDirectory();
    const packed = join(home, ".codex/archived_sessions", `rollout-${session.id}.jsonl.zst`);
    write(packed, "");
    if (!compress) {
      const { sessions, notRead } = await readAll("codex", join(home, ".codex"));
      expect(sessions).toEqual([]);
      expect(notRead).toMatchObject([{ path: packed, reason: expect.stringContaining("zstd -d") }]);
      return;
    }
    const { writeFileSync } = await import("node:fs");
    writeFileSync(packed, compress(readFileSync(plain)));
    const { branches } = await readOne("codex", join(home, ".codex"));
    expect(words(branches[0])).toEqual([
      ["user", "Packed"],
      ["agent", "Yes."],
    ]);
  });

  test("[IMP12] the last name of a session is its title", async () => {
    const session = made().user("Words").save();
    const named = (thread_name: string, id = session.id) => ({ id, thread_name, updated_at: at(0) });
    jsonl(join(place(session), "session_index.jsonl"), [named("Old"), named("New"), named("Other", "x")]);
    expect((await readOne("codex", place(session))).title).toBe("New");
  });

  test("[IMP17] a turn that was stopped is complete, with its call failed; one that has no end may not be", async () => {
    const stopped = made()
      .user("Go")
      .calls("t1", "shell", {})
      .event({ type: "turn_aborted", reason: "interrupted" })
      .save();
    const [branch] = (await readOne("codex", place(stopped))).branches;
    expect(branch).toMatchObject({
      open: false,
      messages: [{}, { stopReason: "cancelled", toolCalls: [{ status: "failed" }] }],
    });
    const going = made().user("Go").calls("t1", "shell", {}).output("t1", "ok").says("And").save();
    expect((await readOne("codex", place(going))).branches[0]?.open).toBe(true);
  });

  test("[IMP10] tools that Codex runs itself, and summaries, are there", async () => {
    const session = made()
      .user("Search")
      .item({ type: "web_search_call", status: "completed", action: { type: "search", query: "x" } })
      .item({ type: "local_shell_call", call_id: "t1", status: "completed", action: { command: ["ls"] } })
      .item({ type: "function_call", namespace: "mcp__files", name: "read", arguments: "{}", call_id: "t2" })
      .output("t1", [
        { type: "input_text", text: "a" },
        { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
      ])
      .output("t2", { content: "b", success: true })
      .add("compacted", { message: "We searched." })
      .save();
    const { branches } = await readOne("codex", place(session));
    const calls = branches[0]?.messages[1]?.toolCalls as { name: string }[];
    expect(calls.map((call) => [call.name, (call as { output?: string }).output])).toEqual([
      ["web_search", undefined],
      ["local_shell", "a"],
      ["mcp__files.read", "b"],
    ]);
    expect(words(branches[0])).toEqual([
      ["user", "Search"],
      ["agent", "tool_call_ref", "tool_call_ref", "image", "tool_call_ref"],
      ["system", "We searched."],
    ]);
  });
});
