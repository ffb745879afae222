import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openForeign } from "../../src/store/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { readAll, readOne, words } from "./read.js";
import { Opencode, PNG, text, write } from "./sessions.js";

const made = (id?: string, home = temporaryDirectory()) => new Opencode(home, "/src/shop", id);
const place = ({ home }: Opencode) => join(home, ".local/share/opencode");
const user = { role: "user" };
const tokens = { input: 10, output: 5, reasoning: 1, cache: { read: 3, write: 2 } };
const assistant = { role: "assistant", modelID: "oc-test", providerID: "p", tokens, finish: "stop" };

describe("a session of opencode", () => {
  test("[IMP10] [IMP13] [IMP50] what was said, thought, asked and answered is read from the database, which stays as it is", async () => {
    const filediff = { file: "/src/shop/a.ts", before: "1", after: "2" };
    const input = { filePath: "/src/shop/a.ts", oldString: "1", newString: "2" };
    const state = {
      status: "completed",
      input,
      output: "edited",
      title: "a.ts",
      metadata: { filediff },
      time: { start: 5, end: 9 },
    };
    const session = made()
      .begin()
      .message("m1", user, [
        text("Look"),
        { type: "text", text: "for the model", synthetic: true },
        { type: "file", mime: "image/png", url: `data:image/png;base64,${PNG}` },
        { type: "file", mime: "text/plain", filename: "b.txt", url: "file:///etc/passwd" },
      ])
      .message("m2", { ...assistant, finish: "tool-calls" }, [
        { type: "step-start" },
        { type: "reasoning", text: "Hm." },
        text("I edit."),
        { type: "tool", callID: "t1", tool: "edit", state },
        { type: "patch", hash: "x", files: [] },
      ])
      .message(
        "m3",
        { ...assistant, error: { name: "MessageAbortedError", data: { message: "Stopped." } } },
        [{ type: "tool", callID: "t2", tool: "bash", state: { status: "error", input: {}, error: "no" } }],
      );
    const rows = () => ["session", "message", "part"].map((table) => session.sql(`select * from ${table}`));
    const before = rows();
    const { branches, ...known } = await readOne("opencode", place(session));
    expect(rows()).toEqual(before);
    const database = openForeign(session.path);
    expect(() => database.all("delete from message")).toThrow(/readonly/);
    database.close();
    expect(known).toMatchObject({
      title: "A title",
      version: "1.18.0",
      cwd: "/src/shop",
      createdAt: "2026-01-02T10:00:00.000Z",
    });
    expect(Object.fromEntries(known.lossy.map(({ what, count }) => [what, count]))).toEqual({
      "context that opencode adds for the model": 1,
      "attached files that are no images": 1,
      "parts of the type patch": 1,
    });
    expect(branches[0]?.messages).toMatchObject([
      { role: "user", content: [text("Look"), { type: "image", data: PNG }, text("[attached: b.txt]")] },
      {
        role: "agent",
        model: "oc-test",
        tokens: { input: 15, output: 6, cachedInput: 3 },
        content: [
          { type: "thinking", text: "Hm." },
          text("I edit."),
          { type: "tool_call_ref", toolCallId: "t1" },
        ],
        toolCalls: [
          {
            toolCallId: "t1",
            name: "edit",
            title: "a.ts",
            status: "completed",
            output: "edited",
            duration: 4,
            diff: { path: "/src/shop/a.ts", oldText: "1", newText: "2" },
          },
        ],
      },
      {
        stopReason: "cancelled",
        content: [{}, text("Stopped.")],
        toolCalls: [{ status: "failed", output: "no" }],
      },
    ]);
  });

  test("[IMP51] [IMP52] sessions in files of older versions and exported ones are read; the database counts before them", async () => {
    const session = made()
      .begin({ title: "In the database" })
      .message("m1", user, [text("Here")]);
    const storage = join(place(session), "storage");
    const old = (id: string, words: string) => {
      write(
        join(storage, `session/p1/${id}.json`),
        JSON.stringify({ directory: "/src/shop", title: `Old ${id}` }),
      );
      write(join(storage, `message/${id}/msg_1.json`), JSON.stringify(user));
      write(
        join(storage, `message/${id}/msg_2.json`),
        JSON.stringify({ ...assistant, time: { created: 1, completed: 2 } }),
      );
      write(join(storage, "part/msg_1/prt_1.json"), JSON.stringify(text(words)));
      write(join(storage, "part/msg_2/prt_1.json"), JSON.stringify(text("Then.")));
    };
    old("ses_old", "Before");
    old(session.id, "Before");
    const { sessions, notRead } = await readAll("opencode", place(session));
    expect(notRead).toEqual([]);
    expect(sessions.map(({ id, title, branches }) => [id, title, words(branches[0])])).toEqual([
      ["ses_test", "In the database", [["user", "Here"]]],
      [
        "ses_old",
        "Old ses_old",
        [
          ["user", "Before"],
          ["agent", "Then."],
        ],
      ],
    ]);
    const info = {
      id: "ses_out",
      directory: "/src/shop",
      title: "Out",
      time: { created: 1 },
      parentID: "ses_test",
    };
    const messages = [{ info: { id: "m", ...user }, parts: [text("Exported")] }];
    const path = write(join(session.home, "out.json"), JSON.stringify({ info, messages }));
    const exported = await readOne("opencode", path);
    expect({ ...exported, words: words(exported.branches[0]) }).toMatchObject({
      id: "ses_out",
      title: "Out",
      parentId: "ses_test",
      words: [["user", "Exported"]],
    });
  });

  test("[IMP51] the oldest form, below a project's name, and the next one, a message a row, are read too", async () => {
    const home = temporaryDirectory();
    const at = join(home, "project/shop/storage/session");
    write(join(at, "info/ses_a.json"), JSON.stringify({ title: "Oldest" }));
    write(join(at, "message/ses_a/msg_1.json"), JSON.stringify(user));
    write(join(at, "part/ses_a/msg_1/prt_1.json"), JSON.stringify(text("Long ago")));
    expect(words((await readOne("opencode", home)).branches[0])).toEqual([["user", "Long ago"]]);
    const session = made().begin();
    const rows: [string, object][] = [
      ["user", { text: "Next", time: { created: 1 } }],
      [
        "assistant",
        {
          content: [
            text("Yes."),
            {
              type: "tool",
              id: "t1",
              name: "bash",
              state: { status: "completed", input: {}, content: [text("out")] },
            },
          ],
          model: { id: "oc-next" },
          time: { created: 2, completed: 3 },
        },
      ],
      ["compaction", { summary: "Short." }],
    ];
    session.nextRows(rows);
    const { branches } = await readOne("opencode", place(session));
    expect(words(branches[0])).toEqual([
      ["user", "Next"],
      ["agent", "Yes.", "tool_call_ref"],
      ["system", "Short."],
    ]);
    expect(branches[0]?.messages[1]).toMatchObject({
      model: "oc-next",
      toolCalls: [{ name: "bash", output: "out" }],
    });
  });

  test("[IMP4] a database that is none, or of something else, is listed with the reason", async () => {
    const home = temporaryDirectory();
    write(
      join(home, "opencode.db"),
      "no database at all, but long enough to be looked at as one, as it has a hundred bytes",
    );
    write(join(home, "notes.json"), "{}");
    const { sessions, notRead } = await readAll("opencode", home);
    expect(sessions).toEqual([]);
    expect(notRead.map(({ path }) => path)).toEqual([join(home, "opencode.db"), join(home, "notes.json")]);
  });
});
