import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../support/stores.js";
import { readOne, words } from "./read.js";
import { at, Pi, PNG, text } from "./sessions.js";

const made = (more = {}) => new Pi(temporaryDirectory(), "/src/shop", undefined, more);
const place = ({ home }: Pi) => join(home, ".pi/agent");
const call = (id: string, name: string, given: object) => ({ type: "toolCall", id, name, arguments: given });
const result = (toolCallId: string, content: unknown, isError = false) => ({
  role: "toolResult",
  toolCallId,
  content,
  isError,
});

describe("a session of pi", () => {
  test("[IMP10] [IMP13] what was said, thought, asked of tools and answered is there, with models, tokens, times and diffs", async () => {
    const session = made()
      .user("a", null, [text("Look"), { type: "image", data: PNG, mimeType: "image/png" }])
      .answer(
        "b",
        "a",
        [
          { type: "thinking", thinking: "Hm." },
          text("I edit."),
          call("t1", "edit", { path: "a.ts", edits: [{ oldText: "1", newText: "2" }] }),
        ],
        { stopReason: "toolUse" },
      )
      .message("c", "b", result("t1", [text("edited")]))
      .answer("d", "c", [text("Done.")])
      .save();
    const { branches, ...known } = await readOne("pi", place(session));
    expect(known).toMatchObject({ title: "Look", createdAt: at(0), cwd: "/src/shop", lossy: [] });
    expect(branches[0]?.messages).toEqual([
      {
        role: "user",
        timestamp: at(1),
        content: [text("Look"), { type: "image", data: PNG, mimeType: "image/png" }],
      },
      {
        role: "agent",
        timestamp: at(2),
        model: "pi-test",
        tokens: { input: 15, output: 5, cachedInput: 3 },
        content: [
          { type: "thinking", text: "Hm." },
          text("I edit."),
          { type: "tool_call_ref", toolCallId: "t1" },
        ],
        toolCalls: [
          {
            toolCallId: "t1",
            name: "edit",
            status: "completed",
            input: '{"path":"a.ts","edits":[{"oldText":"1","newText":"2"}]}',
            output: "edited",
            diff: { path: "a.ts", oldText: "1", newText: "2" },
          },
        ],
      },
      {
        role: "agent",
        timestamp: at(4),
        model: "pi-test",
        tokens: { input: 15, output: 5, cachedInput: 3 },
        stopReason: "end_turn",
        content: [text("Done.")],
      },
    ]);
  });

  test("[IMP14] [IMP40] its tree becomes a trunk and branches; a session of the first version is one row", async () => {
    const tree = made()
      .user("a", null, "Start")
      .add("model_change", "m", "a", { provider: "p", modelId: "x" })
      .answer("b", "m", [text("First.")])
      .user("c", "m", "Again")
      .answer("d", "c", [text("Second.")])
      .save();
    const { branches, lossy } = await readOne("pi", place(tree));
    expect(branches.map(words)).toEqual([
      [
        ["user", "Start"],
        ["agent", "First."],
      ],
      [
        ["user", "Start"],
        ["user", "Again"],
        ["agent", "Second."],
      ],
    ]);
    expect(lossy).toEqual([{ what: "changes of the model (each answer names its own)", count: 1 }]);
    const first = made({ version: 1 });
    first.lines.push({ type: "message", timestamp: at(1), message: { role: "user", content: "One" } });
    first.lines.push({
      type: "message",
      timestamp: at(2),
      message: { role: "assistant", content: [text("Two")] },
    });
    expect((await readOne("pi", place(first.save()))).branches.map(words)).toEqual([
      [
        ["user", "One"],
        ["agent", "Two"],
      ],
    ]);
  });

  test("[IMP40] commands of the user, summaries and what extensions say are there; a name is the title", async () => {
    const session = made({ parentSession: "/x/2026_66666666-6666-7666-8666-666666666666.jsonl" })
      .message("a", null, { role: "bashExecution", command: "ls", output: "a.ts", exitCode: 2 })
      .add("compaction", "b", "a", { summary: "We listed." })
      .add("custom_message", "c", "b", { customType: "x", content: "A note.", display: true })
      .add("session_info", "d", "c", { name: "Named" })
      .answer("e", "d", [], { stopReason: "error", errorMessage: "It broke." })
      .save();
    const { branches, title, parentId } = await readOne("pi", place(session));
    expect({ title, parentId }).toEqual({ title: "Named", parentId: "66666666-6666-7666-8666-666666666666" });
    expect(words(branches[0])).toEqual([
      ["user", "$ ls\na.ts\n[exit code 2]"],
      ["system", "We listed."],
      ["system", "A note."],
      ["agent", "It broke."],
    ]);
    expect(branches[0]?.messages.at(-1)).toMatchObject({ stopReason: "error" });
  });
});
