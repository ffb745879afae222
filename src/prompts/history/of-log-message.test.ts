import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "../../atsf/index.js";
import { promptMessageSchema } from "../../providers/index.js";
import { promptMessagesOf } from "./of-log-message.js";

const message = (
  role: Message["role"],
  content: Message["content"],
  more: Partial<Message> = {},
): Message => ({
  id: "m",
  role,
  timestamp: "2026-01-02T03:04:05.000Z",
  content,
  ...more,
});
const text = (words: string) => ({ type: "text", text: words });
const none = async () => undefined;

describe("a message of the log, for a model", () => {
  test("[TLD100] one text is a string; several blocks are parts, in their order; empty ones are left out", async () => {
    expect(await promptMessagesOf(message("user", [text("a")]), none)).toEqual([
      { role: "user", content: "a" },
    ]);
    expect(await promptMessagesOf(message("system", [text(""), text("a")]), none)).toEqual([
      { role: "system", content: "a" },
    ]);
    expect(await promptMessagesOf(message("user", [text("a"), text("b")]), none)).toEqual([
      { role: "user", content: [text("a"), text("b")] },
    ]);
    expect(await promptMessagesOf(message("user", [text("")]), none)).toEqual([]);
    expect(await promptMessagesOf(message("agent", []), none)).toEqual([]);
  });

  test("[TLD101] an image is its bytes; one that is gone, or is no image, is told as such", async () => {
    const read = async (ref: string) => (ref === "there" ? "QUI=" : undefined);
    const image = (assetRef: unknown, mimeType: unknown) => ({ type: "image", assetRef, mimeType });
    const gone = text("[an image that is not there any more]");
    const given = [image("there", "image/png"), image("gone", "image/png"), image(7, "image/png")];
    const wrong = [image("there", "text/html"), image("there", undefined), image("there", "image/<b>")];
    expect(await promptMessagesOf(message("user", [...given, ...wrong] as never), read)).toEqual([
      {
        role: "user",
        content: [{ type: "image", data: "QUI=", mimeType: "image/png" }, gone, gone, gone, gone, gone],
      },
    ]);
  });

  test("[TLD102] an agent's calls stand behind what it had said, each with its result; thoughts are its own", async () => {
    const toolCalls = [
      { toolCallId: "one", name: "read", status: "completed" as const, input: "{}", output: "1" },
      { toolCallId: "two", name: "read", status: "failed" as const },
      { toolCallId: "three", name: "read", status: "pending" as const },
    ];
    const content = [
      { type: "thinking", text: "hm" },
      text("I "),
      text("read."),
      { type: "tool_call_ref", toolCallId: "one" },
      text("More."),
      { type: "tool_call_ref", toolCallId: "two" },
    ];
    const asked = (id: string, input = "{}") => ({ id, name: "read", arguments: input });
    const answer = (id: string, words: string) => ({
      role: "tool",
      tool_call_id: id,
      name: "read",
      content: words,
    });
    expect(await promptMessagesOf(message("agent", content, { toolCalls }), none)).toEqual([
      { role: "assistant", content: "", tool_calls: [asked("three")] },
      answer("three", "[pending]"),
      { role: "assistant", content: "I read.", tool_calls: [asked("one")] },
      answer("one", "1"),
      { role: "assistant", content: "More.", tool_calls: [asked("two")] },
      answer("two", "[failed]"),
    ]);
  });

  test("[TLD103] names and ids are such as every API takes; ids that differ stay apart", async () => {
    const ids = ["a:1", "a/1", "a_1", "x".repeat(200), `${"x".repeat(200)}y`, "\u{1F9F5}"];
    const toolCalls = ids.map((toolCallId) => ({
      toolCallId,
      name: "mcp.server tool",
      status: "completed" as const,
    }));
    const told = await promptMessagesOf(message("agent", [], { toolCalls }), none);
    const asked = told[0]?.tool_calls ?? [];
    expect(new Set(asked.map(({ id }) => id)).size).toBe(ids.length);
    expect(asked[2]?.id).toBe("a_1");
    for (const { id, name } of asked) expect(`${id} ${name}`).toMatch(/^[\w-]{1,64} mcp_server_tool$/);
    expect(told.slice(1).map(({ tool_call_id }) => tool_call_id)).toEqual(asked.map(({ id }) => id));
  });

  test("[TLD104] whatever stands in a log, what is told is well-formed: every call has one result, right behind it", async () => {
    const id = fc.constantFrom("a", "b", "c", "", "d e");
    const block = fc.oneof(
      fc.record({ type: fc.constant("text"), text: fc.string() }),
      fc.record({ type: fc.constant("tool_call_ref"), toolCallId: id }),
      fc.record({ type: fc.constant("thinking"), text: fc.string() }),
      fc.record({ type: fc.constant("image"), assetRef: fc.string(), mimeType: fc.string() }),
      fc.record({ type: fc.constant("x-other"), text: fc.anything() }),
    );
    const call = fc.record(
      {
        toolCallId: id,
        name: fc.string(),
        status: fc.constantFrom("pending", "running", "completed", "failed"),
        input: fc.string(),
        output: fc.string(),
      },
      { requiredKeys: ["toolCallId", "name"] },
    );
    const given = fc.record({
      role: fc.constantFrom("user", "agent", "system"),
      content: fc.array(block, { maxLength: 8 }),
      toolCalls: fc.oneof(fc.array(call, { maxLength: 5 }), fc.anything()),
    });
    await fc.assert(
      fc.asyncProperty(given, async ({ role, content, toolCalls }) => {
        const one = message(role as "agent", content as never, { toolCalls } as never);
        const told = await promptMessagesOf(one, none);
        expect(await promptMessagesOf(structuredClone(one), none)).toEqual(told);
        let open: string[] = [];
        for (const each of told) {
          expect(promptMessageSchema.safeParse(each).success).toBe(true);
          if (each.role === "tool") expect(open.shift()).toBe(each.tool_call_id);
          else expect(open).toEqual([]);
          open = [...open, ...(each.tool_calls ?? []).map((asked) => asked.id)];
        }
        expect(open).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
