import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Message } from "../../src/atsf/index.js";
import { openClaude } from "../../src/imports/claude/open.js";
import type { Branch } from "../../src/imports/session.js";
import { sources } from "../../src/imports/tools.js";
import { Claude, Codex, Opencode, Pi, text, write } from "../imports/sessions.js";
import { newId, old, only, said, snapshot, stage, take } from "../imports/stage.js";
import { sqliteStore } from "../support/stores.js";

/** A reader that makes a message of another form out of what begins with `Bad`. */
function breakBadOnes(): void {
  const broken = ({ messages, ...rest }: Branch): Branch => ({
    ...rest,
    async *messages() {
      for await (const { message, open } of messages()) {
        const isBad = message.content[0]?.text === "Bad";
        yield { open, message: isBad ? ({ ...message, model: 7 } as unknown as Message) : message };
      }
    },
  });
  const spy = vi.spyOn(sources.claude, "open").mockImplementation(async (found) => {
    const session = await openClaude(found);
    return { ...session, branches: session.branches.map(broken) };
  });
  onTestFinished(() => spy.mockRestore());
}

describe("sessions that are not as they should be, as threads", () => {
  const at = stage(sqliteStore);

  test("[IMP110] what stands in the place of a message that is refused keeps its place, and the session is followed on", async () => {
    breakBadOnes();
    const scene = await at.scene();
    const session = new Claude(at.home, scene.root, newId()).user("a", null, "One").save();
    const { thread_id } = only(await take(scene, { from: "claude", path: old(session).path }));
    const instead = "[a message that could not be imported]";
    const grow = async (...texts: string[]) => {
      for (const words of texts)
        session.user(
          `${session.lines.length}`,
          session.lines.length > 1 ? `${session.lines.length - 1}` : "a",
          words,
        );
      old(session.save());
      return only(await take(scene, { from: "claude", path: session.path }));
    };
    expect(await grow("Two", "Bad", "Four", "Five")).toMatchObject({ status: "updated", added: 4 });
    expect(await said(scene, thread_id)).toEqual(["One", "Two", instead, "Four", "Five"]);
    expect(await grow("Bad", "Seven")).toMatchObject({ status: "updated", added: 2 });
    expect((await said(scene, thread_id)).slice(4)).toEqual(["Five", instead, "Seven"]);
    const before = snapshot(scene);
    expect((await grow()).status).toBe("exists");
    expect(snapshot(scene)).toEqual(before);
  });

  test("[IMP111] a time that the format does not know is none: of a message, and of the session", async () => {
    const scene = await at.scene();
    const none = "1970-01-01T00:00:00.000Z";
    const timestamp = "+020000-01-01T00:00:00Z";
    const claude = new Claude(at.home, scene.root, newId())
      .user("a", null, "One", { timestamp })
      .answer("b", "a", [text("Two")], { timestamp: -1e15 })
      .save();
    const pi = new Pi(at.home, scene.root, newId(), { timestamp: 8.64e15 });
    pi.add("message", "a", null, {
      timestamp: "-000001-01-01T00:00:00Z",
      message: { role: "user", content: "One" },
    });
    const codex = new Codex(at.home, scene.root, newId(), { timestamp }).user("One").ends().save();
    const info = { id: "ses_late", time: { created: 8.64e15 } };
    const messages = [{ info: { role: "user", time: { created: -8.64e15 } }, parts: [text("One")] }];
    const path = write(join(at.home, "late.json"), JSON.stringify({ info, messages }));
    for (const [from, file] of [
      ["claude", old(claude).path],
      ["pi", old(pi.save()).path],
      ["opencode", path],
    ] as const) {
      const { thread_id, status, lossy } = only(await take(scene, { from, path: file }));
      expect({ status, lossy }, from).toEqual({ status: "imported", lossy: undefined });
      expect(scene.envelope(thread_id), from).toMatchObject({ createdAt: none, updatedAt: none });
      expect((await said(scene, thread_id))[0], from).toBe("One");
    }
    const { thread_id } = only(await take(scene, { from: "codex", path: old(codex).path }));
    expect(scene.envelope(thread_id).createdAt).toBe("2026-01-02T10:02:00.000Z");
    const zero = new Claude(at.home, scene.root, newId())
      .user("a", null, "Nought", { timestamp: "0000-01-01T00:00:00Z" })
      .save();
    expect(only(await take(scene, { from: "claude", path: old(zero).path })).status).toBe("imported");
    expect((await scene.tree()).threads.map(({ title }) => title)).toContain("Nought");
  });

  test("[IMP112] entries of one name are a message each; the second time changes nothing", async () => {
    const scene = await at.scene();
    const claude = new Claude(at.home, scene.root, newId())
      .user("a", null, "One")
      .user("c", "a", "Two")
      .user("c", "c", "Three")
      .user("c#2", "c", "Four")
      .user("d", "c#2", "Five")
      .save();
    const pi = new Pi(at.home, scene.root, newId());
    for (const [n, words] of ["One", "Two", "Three", "Four", "Five"].entries())
      pi.user("a", n === 0 ? null : "a", words);
    const info = { id: "ses_nameless", directory: scene.root };
    const messages = ["One", "Two", "Three", "Four", "Five"].map((words) => ({
      info: { role: "user" },
      parts: [text(words)],
    }));
    const nameless = write(join(at.home, "nameless.json"), JSON.stringify({ info, messages }));
    const all = [
      ["claude", old(claude).path],
      ["pi", old(pi.save()).path],
      ["opencode", nameless],
    ] as const;
    for (const [from, path] of all) {
      const { thread_id, messages } = only(await take(scene, { from, path }));
      expect(messages, from).toBe(5);
      expect(await said(scene, thread_id), from).toEqual(["One", "Two", "Three", "Four", "Five"]);
    }
    const before = snapshot(scene);
    for (const [from, path] of all) expect(only(await take(scene, { from, path })).status).toBe("exists");
    expect(snapshot(scene)).toEqual(before);
    claude.user("d", "d", "Six").save();
    const { thread_id, ...grown } = only(await take(scene, { from: "claude", path: old(claude).path }));
    expect(grown).toMatchObject({ status: "updated", added: 1 });
    expect((await said(scene, thread_id)).slice(-2)).toEqual(["Five", "Six"]);
  });

  test("[IMP14] [IMP112] branches that begin with entries of one name are a thread each", async () => {
    const scene = await at.scene();
    const session = new Claude(at.home, scene.root, newId())
      .user("a", null, "Root")
      .user("b", "a", "First")
      .user("b", "a", "Second")
      .user("b", "a", "Third")
      .save();
    const { data } = await take(scene, { from: "claude", path: old(session).path });
    expect(data.map(({ status }) => status)).toEqual(["imported", "imported", "imported"]);
    const texts = await Promise.all(data.map(({ thread_id }) => said(scene, thread_id)));
    expect(texts.map((words) => words.at(-1))).toEqual(["First", "Second", "Third"]);
  });

  test("[IMP114] [IMP115] what is nested too deep and parts that can't be read keep no session out", async () => {
    const scene = await at.scene();
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const session = new Opencode(at.home, scene.root, "ses_deep")
      .begin()
      .message("m1", { role: "user" }, [text("Ask")])
      .message("m2", { role: "assistant" }, [
        text("Answer."),
        {
          type: "tool",
          callID: "t",
          tool: "x",
          state: { status: "completed", input: "DEEP", output: "out" },
        },
        { type: "text", text: "torn" },
      ]);
    session.sql(`update part set data = replace(data, '"DEEP"', ?) where id = 'm2_prt_1'`, deep);
    session.sql("update part set data = '' where id = 'm2_prt_2'");
    const one = only(await take(scene, { from: "opencode", path: session.path }));
    expect(one).toMatchObject({
      status: "imported",
      lossy: [
        { what: "messages and parts that can't be read", count: 1 },
        { what: "values that are nested too deep", count: 1 },
      ],
    });
    expect(await said(scene, one.thread_id)).toEqual(["Ask", "Answer. tool_call_ref"]);
    expect((await scene.messages(one.thread_id))[1]?.toolCalls).toMatchObject([
      { input: "[nested too deep to be imported]", output: "out" },
    ]);
    expect(only(await take(scene, { from: "opencode", path: session.path })).status).toBe("exists");
  });
});
