import { expect, test } from "vitest";
import { OTHER, onEachScene, WORKSPACE } from "./support.js";

onEachScene("notes", (scene) => {
  const made = (title: string, content = "", more: object = {}) =>
    scene().call("notes_create", { title, content, ...more });

  test("[ART20] a note is read as it was written, with its version", async () => {
    const note = await made("Plan", "One\r\nTwo\rThree", { tags: ["work"] });
    expect(note).toEqual({
      id: expect.stringMatching(/^not_[0-9A-Z]{26}$/),
      title: "Plan",
      version: 1,
      tags: ["work"],
    });
    expect(await scene().call("notes_read", { note: "Plan" })).toEqual({
      ...note,
      content: "One\nTwo\nThree",
    });
    expect(await scene().call("notes_list")).toEqual({ notes: [{ ...note, chars: 13 }] });
    await made("🧵", "🧵🧵");
    expect((await scene().call("notes_list")).notes[1]).toMatchObject({ title: "🧵", chars: 2 });
  });

  test("[ART20] changes, deletion and restoring are announced, each once", async () => {
    const { id } = await made("Plan");
    expect(scene().announced()).toEqual([`note created ${id}`]);
    for (const [name, args, change] of [
      ["notes_update", { note: id, content: "x" }, "updated"],
      ["notes_append", { note: id, text: "y" }, "updated"],
      ["notes_delete", { note: id }, "deleted"],
      ["notes_restore", { note: id }, "created"],
    ] as const) {
      await scene().call(name, args);
      expect(scene().announced(), name).toEqual([`note ${change} ${id}`]);
    }
    await scene().call("notes_update", { note: id, content: "x\ny" });
    expect(scene().announced()).toEqual([]);
    expect((await scene().call("notes_read", { note: id })).version).toBe(3);
  });

  test("[ART21] a version that was read by nobody any more is not written over", async () => {
    await made("Plan", "one");
    await scene().call("notes_update", { note: "Plan", content: "two", expected_version: 1 });
    expect(
      await scene().refused("notes_update", { note: "Plan", content: "three", expected_version: 1 }),
    ).toBe("The note was changed meanwhile: it has version 2, not 1. Read it again, then change it.");
    expect((await scene().call("notes_read", { note: "Plan" })).content).toBe("two");
    expect(await scene().refused("notes_update", { note: "Plan", expected_version: 2 })).toContain(
      "nothing to change",
    );
  });

  test("[ART22] what a text was before stands in the outcome of the call that changed it", async () => {
    const { id } = await made("Plan", "one");
    expect((await scene().outcome("notes_update", { note: "Plan", content: "two" })).diff).toEqual({
      path: `notes/${id}`,
      oldText: "one",
      newText: "two",
    });
    expect((await scene().outcome("notes_append", { note: "Plan", text: "three" })).diff).toEqual({
      path: `notes/${id}`,
      oldText: "two",
      newText: "two\nthree",
    });
    expect((await scene().outcome("notes_update", { note: "Plan", title: "Plans" })).diff).toBeUndefined();
  });

  test("[ART23] appending begins a line, and made again adds nothing twice", async () => {
    await made("Log");
    const read = async () => (await scene().call("notes_read", { note: "Log" })).content;
    await scene().call("notes_append", { note: "Log", text: "a" }, { call_key: "k1" });
    await scene().call("notes_append", { note: "Log", text: "b\n" }, { call_key: "k2" });
    await scene().call("notes_append", { note: "Log", text: "c" }, { call_key: "k3" });
    await scene().call("notes_append", { note: "Log", text: "a" }, { call_key: "k1" });
    await scene().call("notes_append", { note: "Log", text: "c" }, { call_key: "k3" });
    expect(await read()).toBe("a\nb\nc");
    expect(await scene().refused("notes_append", { note: "Log", text: "" })).toContain("nothing to add");
    await scene().call("notes_append", { note: "Log", text: "x".repeat(65_536 - 6) });
    expect(await scene().refused("notes_append", { note: "Log", text: "y" })).toContain(
      "at most 65536 characters",
    );
    expect(await read()).toMatch(/^a\nb\nc\nx+$/);
  });

  test("[ART24] a search finds all words in title, tags and text, in any letter case, and nothing else", async () => {
    const a = await made("Straße", "Kauf MILCH und Öl, 100% sicher", { tags: ["Haus"] });
    const b = await made("Other", `${"lorem ".repeat(40)}milch_x\nΣίσυφος ${"ipsum ".repeat(60)}`);
    const found = async (query: string) =>
      (await scene().call("notes_search", { query })).notes.map(({ id }: { id: string }) => id);
    expect(await found("milch")).toEqual([a.id, b.id]);
    expect(await found("milch ÖL")).toEqual([a.id]);
    expect(await found("haus")).toEqual([a.id]);
    expect(await found("STRASSE")).toEqual([]);
    expect(await found("straße")).toEqual([a.id]);
    expect(await found("ΣΊΣΥΦΟΣ")).toEqual([b.id]);
    expect(await found("100%")).toEqual([a.id]);
    expect(await found("h_x")).toEqual([b.id]);
    expect(await found("%")).toEqual([a.id]);
    expect(await found("_")).toEqual([b.id]);
    expect(await found("\\")).toEqual([]);
    expect(await found("' or 1=1 --")).toEqual([]);
    const [, { snippet }] = (await scene().call("notes_search", { query: "milch" })).notes;
    expect(snippet).toMatch(/^….*milch_x Σίσυφος.*…$/u);
    expect(await scene().refused("notes_search", { query: " \n " })).toContain("give a word");
    await scene().call("notes_delete", { note: a.id });
    expect(await found("milch")).toEqual([b.id]);
  });

  test("[ART25] a long note is read in parts that make up the whole, each a whole answer", async () => {
    const content = `${'\u0001\u{1f9f5}"\n'.repeat(16_000)}end`;
    await made("Long", content);
    let [read, from, parts] = ["", 0 as number | undefined, 0];
    while (from !== undefined) {
      const { output, truncated } = await scene().outcome("notes_read", { note: "Long", from_char: from });
      const part = JSON.parse(output);
      expect(truncated ?? false).toBe(part.next_from_char !== undefined);
      read += part.content;
      from = part.next_from_char;
      parts++;
    }
    expect(read).toBe(content);
    expect(parts).toBeGreaterThan(1);
    expect((await scene().call("notes_read", { note: "Long", from_char: 65_536 })).content).toBe("");
  });

  test("[ART5] notes of another workspace are not there", async () => {
    const { id } = await scene().call(
      "notes_create",
      { title: "Theirs", content: "secret" },
      { workspace_id: OTHER },
    );
    for (const [name, args] of [
      ["notes_read", { note: id }],
      ["notes_update", { note: id, content: "x" }],
      ["notes_append", { note: "Theirs", text: "x" }],
      ["notes_delete", { note: id }],
      ["notes_restore", { note: id }],
    ] as const) {
      expect(await scene().refused(name, args), name).toMatch(/^There is no /);
    }
    expect(await scene().call("notes_search", { query: "secret" })).toEqual({ notes: [] });
    expect(await scene().call("notes_list")).toEqual({ notes: [] });
    expect(await scene().call("notes_list", { deleted: true })).toEqual({ notes: [] });
  });

  test("[ART4] an id of another kind names nothing", async () => {
    const list = await scene().call("lists_create", { name: "A" });
    expect(await scene().refused("notes_read", { note: list.id })).toMatch(/^There is no note/);
    const note = await made("N");
    expect(await scene().refused("lists_get", { list: note.id })).toMatch(/^There is no list/);
    expect(await scene().refused("views_get", { view: note.id })).toMatch(/^There is no view/);
  });

  test("[ART13] there are at most 1,000 notes of 65,536 characters, and what was deleted does not count", async () => {
    const rows = Array.from(
      { length: 999 },
      (_, n) => `('not_${n}', '${WORKSPACE}', 'note', 'N', '[]', 1, 1, 1, '', 'n')`,
    );
    await scene().sql(
      `insert into artifact (id, workspace_id, kind, name, tags, version, created_at, updated_at, body, search) values ${rows.join(", ")}`,
    );
    const { id } = await made("The last", "🧵".repeat(65_536));
    expect(await scene().refused("notes_create", { title: "One more" })).toContain("at most 1000 notes");
    await scene().call("notes_delete", { note: id });
    await made("Instead");
    expect(await scene().refused("notes_restore", { note: id })).toContain("at most 1000 notes");
    expect(await scene().refused("notes_update", { note: "Instead", content: "x".repeat(65_537) })).toContain(
      "at most 65536 characters",
    );
  });
});
