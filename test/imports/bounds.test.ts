import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { LineFile } from "../../src/imports/line-file.js";
import { temporaryDirectory } from "../support/stores.js";
import { readAll, readOne, words } from "./read.js";
import { Claude, Codex, jsonl, Opencode, Pi, text, toolUse, write } from "./sessions.js";

const claude = () => new Claude(temporaryDirectory(), "/src/shop");
const MB = 1024 * 1024;
const PAST = "parts of answers past their first 64 MB";
const count = (lossy: readonly { what: string; count: number }[], what: string) =>
  lossy.find((each) => each.what === what)?.count;

describe("how much is taken", () => {
  test("[IMP113] a line is read once for all the results in it, whichever answers they are of", async () => {
    const session = claude().user("a", null, "Go");
    const ids = Array.from({ length: 3_000 }, (_, n) => `t${n}`);
    session.answer(
      "b",
      "a",
      ids.slice(0, 2_000).map((id) => toolUse(id, "Read", {})),
    );
    session.answer(
      "c",
      "b",
      ids.slice(2_000).map((id) => toolUse(id, "Read", {})),
    );
    const results = ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: `of ${id}` }));
    session.user("d", "c", results).save();
    const reads = vi.spyOn(LineFile.prototype, "read");
    onTestFinished(() => reads.mockRestore());
    const { branches } = await readOne("claude", session.path);
    const calls = branches[0]?.messages.flatMap(({ toolCalls = [] }) => toolCalls as { output: string }[]);
    expect(calls?.map(({ output }) => output)).toEqual(ids.map((id) => `of ${id}`));
    expect(reads).toHaveBeenCalledTimes(4);
  });

  test("[IMP113] of one answer in any number of lines, and of its results, the first 64 MB are taken and the rest is counted", async () => {
    const session = claude().user("a", null, "Go");
    const large = "y".repeat(MB);
    const one = { id: "msg", requestId: "req" };
    for (let n = 0; n < 60; n++) session.answer(`b${n}`, n === 0 ? "a" : `b${n - 1}`, [text(large)], one);
    session.answer(
      "c",
      "b59",
      [1, 2, 3, 4, 5, 6].map((n) => toolUse(`t${n}`, "Read", {})),
      one,
    );
    for (let n = 1; n <= 6; n++) session.result(`r${n}`, "c", [`t${n}`, large]);
    session
      .answer("e", "r6", [text("late")], one)
      .user("f", "e", "And?")
      .save();
    const { branches, lossy } = await readOne("claude", session.path);
    const [, answer] = branches[0]?.messages ?? [];
    const { content, toolCalls } = answer as { content: object[]; toolCalls: { status: string }[] };
    expect(content.length).toBe(67);
    expect(toolCalls.map(({ status }) => status).join()).toBe(
      "completed,completed,completed,failed,failed,failed",
    );
    expect(branches.map(({ messages }) => messages.length)).toEqual([3]);
    expect(branches[0]?.open).toBe(false);
    expect(lossy).toEqual([{ what: PAST, count: 3 }]);
  });

  test("[IMP113] a result that many calls name is taken no more often than there is room for", async () => {
    const large = "y".repeat(4 * MB);
    const same = Array.from({ length: 40 }, () => toolUse("t", "Read", {}));
    const first = claude().user("a", null, "Go").answer("b", "a", same).result("c", "b", ["t", large]).save();
    const second = new Codex(temporaryDirectory(), "/a").user("Go");
    for (let n = 0; n < 40; n++) second.calls("t", "Read", {});
    second.output("t", large).ends().save();
    const third = new Pi(temporaryDirectory(), "/a").user("a", null, "Go");
    third.answer(
      "b",
      "a",
      Array.from({ length: 40 }, () => ({ type: "toolCall", id: "t", name: "Read", arguments: {} })),
    );
    third.message("c", "b", { role: "toolResult", toolCallId: "t", content: [text(large)] }).save();
    for (const [tool, path] of [
      ["claude", first.path],
      ["codex", second.path],
      ["pi", third.path],
    ] as const) {
      const { branches, lossy } = await readOne(tool, path);
      expect(branches[0]?.messages[1]?.toolCalls, tool).toHaveLength(15);
      expect(lossy, tool).toEqual([{ what: PAST, count: 25 }]);
    }
  });

  test("[IMP114] JSON that is nested too deep to be written again is replaced by a note and counted", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const nested = (lines: readonly unknown[]) =>
      lines.map((line) => JSON.stringify(line).replaceAll('"DEEP"', deep));
    const home = temporaryDirectory();
    const first = claude()
      .user("a", null, "Go")
      .answer("b", "a", [toolUse("t", "x", { a: "DEEP" })]);
    const second = new Codex(home, "/a").user("Go");
    second.item({ type: "function_call", name: "x", call_id: "t", arguments: "DEEP" });
    second.output("t", { a: "DEEP" }).ends();
    const third = new Pi(home, "/a").user("a", null, "Go");
    third.answer("b", "a", [{ type: "toolCall", id: "t", name: "x", arguments: { a: "DEEP" } }]);
    const state = { status: "error", input: { a: "DEEP" }, error: "DEEP" };
    const messages = [
      { info: { id: "m1", role: "user", more: "DEEP" }, parts: [text("Go")] },
      { info: { id: "m2", role: "assistant" }, parts: [{ type: "tool", callID: "t", tool: "x", state }] },
    ];
    const [exported = ""] = nested([{ info: { id: "ses", title: "DEEP" }, messages }]);
    for (const [tool, path] of [
      ["claude", jsonl(first.path, nested(first.lines))],
      ["codex", jsonl(second.path, nested(second.lines))],
      ["pi", jsonl(third.path, nested(third.lines))],
      ["opencode", write(join(home, "out.json"), exported)],
    ] as const) {
      const { branches, lossy } = await readOne(tool, path);
      expect(branches[0]?.messages, tool).toMatchObject([
        { content: [text("Go")] },
        { toolCalls: [{ input: "[nested too deep to be imported]" }] },
      ]);
      const times = tool === "codex" || tool === "opencode" ? 2 : 1;
      expect(count(lossy, "values that are nested too deep"), tool).toBe(times);
    }
  });

  test("[IMP116] kinds that the source names are told apart up to 100, whole and by nothing but words", async () => {
    const session = claude().user("a", null, "Go");
    session.lines.push({ type: "constructor" }, { type: `${"x".repeat(39)}😀` }, { type: "\ud800" });
    for (let n = 0; n < 300; n++) session.lines.push({ type: `type ${n}` }, { type: `type ${n}` });
    session.lines.push("rubbish");
    const { lossy } = await readOne("claude", session.save().path);
    expect(lossy.length).toBe(102);
    expect(lossy.slice(0, 3).map(({ what }) => what)).toEqual([
      "lines of the type constructor",
      `lines of the type ${"x".repeat(39)}\ufffd`,
      "lines of the type \ufffd",
    ]);
    expect(count(lossy, "lines of the type type 96")).toBe(2);
    expect(count(lossy, "other kinds")).toBe(2 * (300 - 97));
    expect(count(lossy, "lines that can't be read")).toBe(1);
  });

  test("[IMP117] a large image is taken as any other, and so is any number of small ones", async () => {
    const image = (data: string) => ({ type: "image", source: { media_type: "image/png", data } });
    const session = claude()
      .user("a", null, [image("A".repeat(12 * MB)), image("AAA="), image("A==="), image("AA=A")])
      .answer("b", "a", [toolUse("t", "Read", {})])
      .result("c", "b", ["t", Array.from({ length: 200_000 }, () => image("AAAA"))])
      .save();
    const { branches, lossy } = await readOne("claude", session.path);
    expect(branches[0]?.messages.map(({ content }) => (content as object[]).length)).toEqual([2, 200_001]);
    expect(lossy).toEqual([{ what: "images that are damaged, too large or not in the session", count: 2 }]);
  });
});

describe("files of opencode that are not as they should be", () => {
  const user = JSON.stringify({ role: "user" });
  const said = (words: string) => JSON.stringify(text(words));

  test("[IMP115] files of messages and parts that can't be read are counted, and lose nothing else", async () => {
    const storage = join(temporaryDirectory(), "storage");
    write(join(storage, "session/p/ses_a.json"), JSON.stringify({ title: "T" }));
    for (const n of [1, 2, 3]) write(join(storage, `message/ses_a/msg_${n}.json`), n === 2 ? "" : user);
    for (const n of [1, 2, 3]) write(join(storage, `part/msg_${n}/prt_1.json`), said(`Text ${n}`));
    for (const [n, torn] of ["", "{", "[]", "null"].entries())
      write(join(storage, `part/msg_1/prt_2${n}.json`), torn);
    const { branches, lossy } = await readOne("opencode", join(storage, "session/p/ses_a.json"));
    expect(words(branches[0])).toEqual([
      ["user", "Text 1"],
      ["system", "Text 2"],
      ["user", "Text 3"],
    ]);
    expect(lossy).toEqual([{ what: "messages and parts that can't be read", count: 5 }]);
  });

  test("[IMP3] [IMP115] no directory of messages or parts that is a link is entered", async () => {
    const home = temporaryDirectory();
    const storage = join(home, "storage");
    const elsewhere = join(home, "elsewhere");
    for (const id of ["ses_a", "ses_b"]) {
      write(join(storage, `session/p/${id}.json`), JSON.stringify({ title: id }));
      write(join(storage, `message/${id}/${id}_m.json`), user);
      write(join(storage, `part/${id}_m/prt_1.json`), said(id));
    }
    const texts = async () =>
      (await readAll("opencode", storage)).sessions.map(({ branches }) => words(branches[0]).flat());
    const link = (name: string) => {
      mkdirSync(elsewhere, { recursive: true });
      const to = join(elsewhere, name.replaceAll("/", "-"));
      renameSync(join(storage, name), to);
      symlinkSync(to, join(storage, name));
    };
    expect(await texts()).toEqual([
      ["user", "ses_a"],
      ["user", "ses_b"],
    ]);
    link("part/ses_a_m");
    expect(await texts()).toEqual([[], ["user", "ses_b"]]);
    link("message/ses_b");
    expect(await texts()).toEqual([[], []]);
    link("message");
    expect(await texts()).toEqual([[], []]);
  });

  test("[IMP115] whatever stands in a row of the next version, its texts are read", async () => {
    const session = new Opencode(temporaryDirectory(), "/a").begin();
    const tool = (state: unknown) => ({ type: "tool", id: "t", name: "x", state });
    const content = [
      null,
      7,
      "x",
      text("Yes."),
      tool(null),
      tool("s"),
      tool({ content: [null, { text: { a: 1 } }, text("out")] }),
    ];
    const rows = [{ text: "Ask", files: [null, 7] }, { content }, { content: { a: 1 } }, null];
    session.nextRows(rows.map((data, seq) => [seq === 0 ? "user" : "assistant", data]));
    const { branches, lossy } = await readOne("opencode", session.path);
    expect(words(branches[0])).toEqual([
      ["user", "Ask"],
      ["agent", "Yes.", "tool_call_ref", "tool_call_ref", "tool_call_ref"],
    ]);
    expect(lossy).toEqual([{ what: "messages and parts that can't be read", count: 6 }]);
  });
});
