import { expect, test } from "vitest";
import { OTHER, onEachScene, titles, WORKSPACE } from "./support.js";

onEachScene("lists", (scene) => {
  const made = (name = "Groceries", ...items: string[]) =>
    scene().call("lists_create", { name, items: items.map((title) => ({ title })) });

  test("[ART1] a list and its items have ids that stay, and what they do not have is left out", async () => {
    const list = await scene().call("lists_create", {
      name: "  Groceries ",
      description: "for the week",
      items: [
        {
          title: "Milk",
          notes: "2 l\r\nfresh",
          url: "https://a.example/b",
          tags: ["Cold", "cold"],
          done: true,
        },
        { title: "Tea" },
      ],
    });
    expect(list).toEqual({
      id: expect.stringMatching(/^lst_[0-9A-Z]{26}$/),
      name: "Groceries",
      items: [
        { id: expect.stringMatching(/^itm_[0-9A-Z]{26}$/), title: "Milk" },
        { id: expect.stringMatching(/^itm_[0-9A-Z]{26}$/), title: "Tea" },
      ],
    });
    const [milk, tea] = list.items;
    expect(await scene().call("lists_get", { list: "Groceries" })).toEqual({
      id: list.id,
      name: "Groceries",
      description: "for the week",
      items: [
        {
          position: 1,
          id: milk.id,
          title: "Milk",
          done: true,
          tags: ["Cold"],
          notes: "2 l\nfresh",
          url: "https://a.example/b",
        },
        { position: 2, id: tea.id, title: "Tea", done: false },
      ],
    });
    expect(await scene().call("lists_list")).toEqual({
      lists: [{ id: list.id, name: "Groceries", description: "for the week", items: 2, done: 1 }],
    });
    await scene().call("lists_update", { list: list.id, name: "Shopping", description: "" });
    expect(await scene().call("lists_list")).toEqual({
      lists: [{ id: list.id, name: "Shopping", items: 2, done: 1 }],
    });
  });

  test("[ART2] every change is announced with the commit, items as a change of their list", async () => {
    const { id, items } = await made("Groceries", "Milk");
    expect(scene().announced()).toEqual([`list created ${id}`]);
    const [{ id: milk }] = items;
    const steps: [string, object, string][] = [
      ["lists_update", { list: id, description: "x" }, "updated"],
      ["lists_item_add", { list: id, items: [{ title: "Tea" }, { title: "Jam" }] }, "updated"],
      ["lists_item_update", { item: milk, done: true }, "updated"],
      ["lists_item_move", { item: milk }, "updated"],
      ["lists_item_remove", { item: milk }, "updated"],
      ["lists_restore", { id: milk }, "updated"],
      ["lists_delete", { list: id }, "deleted"],
      ["lists_restore", { id }, "created"],
    ];
    for (const [name, args, change] of steps) {
      await scene().call(name, args as Record<string, unknown>);
      expect(scene().announced(), name).toEqual([`list ${change} ${id}`]);
    }
    const other = await made("Other");
    scene().announced();
    await scene().call("lists_item_move", { item: milk, to_list: "Other" });
    expect(scene().announced()).toEqual([`list updated ${id}`, `list updated ${other.id}`]);
  });

  test("[ART2] what is refused or changes nothing is not announced", async () => {
    const { id } = await made();
    scene().announced();
    await scene().refused("lists_update", { list: id });
    await scene().refused("lists_delete", { list: "nobody" });
    await scene().call("lists_update", { list: id, name: "Groceries" });
    await scene().call("lists_get", { list: id });
    expect(scene().announced()).toEqual([]);
  });

  test("[ART3] the same call made again changes nothing and is answered as it was", async () => {
    const key = (call_key: string) => ({ call_key });
    const list = await scene().call("lists_create", { name: "A", items: [{ title: "x" }] }, key("run:1"));
    const add = { list: "A", items: [{ title: "y" }] };
    const added = await scene().call("lists_item_add", add, key("run:2"));
    const moved = await scene().call("lists_item_move", { item: "y", position: 1 }, key("run:3"));
    const removed = await scene().call("lists_item_remove", { item: "x" }, key("run:4"));
    scene().announced();
    expect(await scene().call("lists_create", { name: "A", items: [{ title: "x" }] }, key("run:1"))).toEqual(
      list,
    );
    expect(await scene().call("lists_item_add", add, key("run:2"))).toEqual(added);
    expect(await scene().call("lists_item_move", { item: "y", position: 1 }, key("run:3"))).toEqual(moved);
    expect(await scene().call("lists_item_remove", { item: "x" }, key("run:4"))).toEqual(removed);
    expect(scene().announced()).toEqual([]);
    expect(await titles(scene(), "A")).toEqual(["y"]);
    // Another call with the same words is another call, and so is one of another workspace.
    await scene().call("lists_item_add", add, key("run:5"));
    await scene().call("lists_item_add", add);
    expect(await titles(scene(), "A")).toEqual(["y", "y", "y"]);
    const elsewhere = await scene().call(
      "lists_create",
      { name: "A" },
      { ...key("run:1"), workspace_id: OTHER },
    );
    expect(elsewhere.id).not.toBe(list.id);
  });

  test("[ART3] a call that was refused is tried again when it is made again", async () => {
    await scene().refused("lists_item_add", { list: "A", items: [{ title: "x" }] }, { call_key: "k" });
    await made("A");
    await scene().call("lists_item_add", { list: "A", items: [{ title: "x" }] }, { call_key: "k" });
    expect(await titles(scene(), "A")).toEqual(["x"]);
  });

  test("[ART4] a name that is not unique is refused with the ids, and one that is not there with the nearest", async () => {
    expect(await scene().refused("lists_get", { list: "Groceries" })).toBe(
      'There is no list "Groceries" here. There are no lists yet: lists_create makes one.',
    );
    const [one, two] = [await made(), await made()];
    expect(await scene().refused("lists_get", { list: "Groceries" })).toBe(
      `There are several lists "Groceries": ${one.id}, ${two.id}. Give the id of one.`,
    );
    expect((await scene().call("lists_get", { list: two.id })).id).toBe(two.id);
    await scene().call("lists_delete", { list: one.id });
    expect((await scene().call("lists_get", { list: "Groceries" })).id).toBe(two.id);
    expect(await scene().refused("lists_get", { list: "Grocries" })).toBe(
      `There is no list "Grocries" here. The nearest is "Groceries" (${two.id}); lists_list shows them all.`,
    );
    for (let n = 0; n < 12; n++) await made("Many");
    expect(await scene().refused("lists_get", { list: "Many" })).toMatch(
      /^There are several lists "Many": (lst_\w+, ){10}….\sGive/,
    );
  });

  test("[ART4] items are found by title, within a list where one is given", async () => {
    const a = await made("A", "Milk", "Tea");
    const b = await made("B", "Milk");
    const [milkA, milkB] = [a.items[0].id, b.items[0].id];
    expect(await scene().refused("lists_item_update", { item: "Milk", done: true })).toBe(
      `There are several items "Milk": ${milkA}, ${milkB}. Give the id of one.`,
    );
    expect((await scene().call("lists_item_update", { item: "Milk", list: "B", done: true })).id).toBe(milkB);
    expect((await scene().call("lists_item_update", { item: "Tea", done: true })).list_id).toBe(a.id);
    expect(await scene().refused("lists_item_remove", { item: milkA, list: "B" })).toBe(
      'The item "Milk" stands in another list. Leave the list out.',
    );
    expect(await scene().refused("lists_item_remove", { item: "Jam", list: "B" })).toContain(
      'in the list "B"',
    );
    await scene().call("lists_delete", { list: "A" });
    expect((await scene().call("lists_item_remove", { item: "Milk" })).id).toBe(milkB);
    expect(await scene().refused("lists_item_update", { item: milkA, done: true })).toContain(
      "lists_restore",
    );
  });

  test("[ART5] what belongs to another workspace is not there", async () => {
    const theirs = await scene().call(
      "lists_create",
      { name: "Theirs", items: [{ title: "secret" }] },
      { workspace_id: OTHER },
    );
    const item = theirs.items[0].id;
    await made("Ours", "x");
    for (const [name, args] of [
      ["lists_get", { list: theirs.id }],
      ["lists_get", { list: "Theirs" }],
      ["lists_update", { list: theirs.id, name: "Mine" }],
      ["lists_delete", { list: theirs.id }],
      ["lists_restore", { id: theirs.id }],
      ["lists_restore", { id: item }],
      ["lists_item_add", { list: theirs.id, items: [{ title: "x" }] }],
      ["lists_item_update", { item, done: true }],
      ["lists_item_remove", { item: "secret" }],
      ["lists_item_move", { item, to_list: "Ours" }],
      ["lists_item_move", { item: "x", to_list: theirs.id }],
    ] as const) {
      expect(await scene().refused(name, args), name).toMatch(/^There is no /);
    }
    expect(await scene().call("views_query", { query: "secret" })).toEqual({ query: "secret", items: [] });
    const { items } = await scene().call("lists_get", { list: theirs.id }, { workspace_id: OTHER });
    expect(items).toEqual([{ position: 1, id: item, title: "secret", done: false }]);
  });

  test("[ART6] what was deleted or removed comes back as it was, under its id", async () => {
    const list = await made("A", "1", "2", "3");
    const before = await scene().call("lists_get", { list: "A" });
    await scene().call("lists_item_remove", { item: "2" });
    expect(await titles(scene(), "A")).toEqual(["1", "3"]);
    const [removed] = (await scene().call("lists_get", { list: "A", removed: true })).items;
    expect(removed).toEqual({ id: list.items[1].id, title: "2", done: false });
    expect(await scene().refused("lists_item_update", { item: removed.id, done: true })).toBe(
      'The item "2" was removed. lists_restore brings it back.',
    );
    await scene().call("lists_restore", { id: removed.id });
    expect(await scene().call("lists_get", { list: "A" })).toEqual(before);
    await scene().call("lists_delete", { list: "A" });
    expect(await scene().call("lists_list")).toEqual({ lists: [] });
    expect((await scene().call("lists_list", { deleted: true })).lists).toMatchObject([
      { id: list.id, items: 3 },
    ]);
    expect(await scene().refused("lists_get", { list: list.id })).toBe(
      'The list "A" was deleted. lists_restore brings it back.',
    );
    expect(await scene().call("lists_restore", { id: "A" })).toEqual({
      id: list.id,
      name: "A",
      restored: true,
    });
    expect(await scene().call("lists_get", { list: "A" })).toEqual(before);
    expect(await scene().refused("lists_restore", { id: list.id })).toBe('The list "A" is not deleted.');
    expect(await scene().refused("lists_restore", { id: removed.id })).toBe('The item "2" is not removed.');
    expect(await scene().refused("lists_restore", { id: "B" })).toContain("lists_list with deleted: true");
  });

  test("[ART10] items stand where they were put", async () => {
    await made("A", "1", "2", "3");
    await scene().call("lists_item_add", { list: "A", items: [{ title: "a" }, { title: "b" }], position: 2 });
    expect(await titles(scene(), "A")).toEqual(["1", "a", "b", "2", "3"]);
    const moves: [string, number | undefined, string[]][] = [
      ["3", 1, ["3", "1", "a", "b", "2"]],
      ["3", 3, ["1", "a", "3", "b", "2"]],
      ["1", undefined, ["a", "3", "b", "2", "1"]],
      ["b", 3, ["a", "3", "b", "2", "1"]],
      ["a", 99, ["3", "b", "2", "1", "a"]],
    ];
    for (const [item, position, order] of moves) {
      await scene().call("lists_item_move", { item, ...(position && { position }) });
      expect(await titles(scene(), "A"), `${item} to ${position}`).toEqual(order);
    }
    await made("B", "x", "y");
    await scene().call("lists_item_move", { item: "b", to_list: "B", position: 2 });
    expect(await titles(scene(), "A")).toEqual(["3", "2", "1", "a"]);
    expect(await titles(scene(), "B")).toEqual(["x", "b", "y"]);
    await scene().refused("lists_item_move", { item: "b", position: 0 });
  });

  test("[ART11] what is left out of a change stays, and an empty text takes away", async () => {
    await scene().call("lists_create", {
      name: "A",
      items: [{ title: "Milk", notes: "n", url: "mailto:a@b.example", tags: ["t"], done: true }],
    });
    const { id } = await scene().call("lists_item_update", { item: "Milk", title: "Oat milk" });
    const read = async () => (await scene().call("lists_get", { list: "A" })).items[0];
    const rest = { position: 1, id, title: "Oat milk" };
    expect(await read()).toEqual({ ...rest, done: true, notes: "n", url: "mailto:a@b.example", tags: ["t"] });
    await scene().call("lists_item_update", { item: id, notes: "", url: "", tags: [], done: false });
    expect(await read()).toEqual({ ...rest, done: false });
    expect(await scene().refused("lists_item_update", { item: id })).toContain("nothing to change");
    expect(await scene().call("views_query", { query: "milk -oat" })).toMatchObject({ items: [] });
  });

  test("[ART12] texts that can't be kept or shown are refused, and nothing is left of the call", async () => {
    await made("A", "x");
    scene().announced();
    const bad: [string, object, string][] = [
      ["lists_create", { name: "" }, "must not be empty"],
      ["lists_create", { name: " \t " }, "must not be empty"],
      ["lists_create", { name: "a\nb" }, "one line"],
      ["lists_create", { name: "a\u2028b" }, "one line"],
      ["lists_create", { name: "a\0b" }, "NUL"],
      ["lists_create", { name: "\ud800" }, "half a character"],
      ["lists_create", { name: "n".repeat(256) }, "at most 255"],
      ["lists_create", { name: "B", items: [{ title: "ok" }, { title: "" }] }, "must not be empty"],
      ["lists_create", { name: "B", items: Array(101).fill({ title: "t" }) }, "items"],
      ["lists_item_add", { list: "A", items: [] }, "items"],
      ["lists_item_add", { list: "A", items: [{ title: "t".repeat(501) }] }, "at most 500"],
      [
        "lists_item_add",
        { list: "A", items: [{ title: "t", url: "javascript:alert(1)" }] },
        "http, https or mailto",
      ],
      [
        "lists_item_add",
        { list: "A", items: [{ title: "t", url: "java\nscript:alert(1)" }] },
        "http, https or mailto",
      ],
      [
        "lists_item_add",
        { list: "A", items: [{ title: "t", url: "www.a.example" }] },
        "http, https or mailto",
      ],
      ["lists_item_add", { list: "A", items: [{ title: "t", notes: "n".repeat(4_001) }] }, "at most 4000"],
      ["lists_item_add", { list: "A", items: [{ title: "t", tags: ["a\nb"] }] }, "one line"],
      [
        "lists_item_add",
        { list: "A", items: [{ title: "t", tags: Array.from({ length: 21 }, (_, n) => `${n}`) }] },
        "20 tags",
      ],
      ["lists_item_add", { list: "A", items: [{ title: "t", position: 1 }] }, "position"],
      ["lists_get", { list: "A\0" }, "NUL"],
      ["lists_get", { list: "\udfff" }, "half a character"],
    ];
    for (const [name, args, words] of bad) {
      expect(await scene().refused(name, args as Record<string, unknown>), JSON.stringify(args)).toContain(
        words,
      );
    }
    expect(scene().announced()).toEqual([]);
    expect((await scene().call("lists_list")).lists).toHaveLength(1);
    expect(await titles(scene(), "A")).toEqual(["x"]);
  });

  test("[ART12] texts come back as they were, whatever they hold", async () => {
    const hostile = `'; drop table artifact; -- "%_\\ </context> 🧵 שלום ${"n".repeat(200)}`;
    await scene().call("lists_create", {
      name: hostile,
      items: [{ title: hostile, notes: hostile, tags: ["%_\\"] }],
    });
    const { name, items } = await scene().call("lists_get", { list: hostile });
    expect({ name, items }).toMatchObject({
      name: hostile,
      items: [{ title: hostile, notes: hostile, tags: ["%_\\"] }],
    });
    expect((await scene().call("lists_item_update", { item: hostile, done: true })).done).toBe(true);
  });

  test("[ART13] there are at most 200 lists, 2,000 items in one and 20,000 in all", async () => {
    const { id } = await made("A");
    const row = (n: string, list: string) =>
      `('itm_${list}_' || ${n}, '${WORKSPACE}', '${list}', ${n}, 't', '[]', 0, 1, 1, '', 't')`;
    const columns =
      "id, workspace_id, list_id, position, title, tags, done, created_at, updated_at, tag_search, search";
    const fill = async (list: string, count: number) => {
      const values = Array.from({ length: count }, (_, n) => row(String(n), list));
      await scene().sql(`insert into artifact_item (${columns}) values ${values.join(", ")}`);
    };
    await fill(id, 1_999);
    await scene().call("lists_item_add", { list: id, items: [{ title: "the last" }] });
    expect(await scene().refused("lists_item_add", { list: id, items: [{ title: "one more" }] })).toContain(
      "A list has at most 2000 items",
    );
    await scene().call("lists_item_remove", { item: "the last" });
    await scene().call("lists_item_add", { list: id, items: [{ title: "instead" }] });
    expect(await scene().refused("lists_restore", { id: "the last" })).toContain("no deleted list");
    for (let n = 0; n < 9; n++) await fill((await made(`B${n}`)).id, 2_000);
    const { id: last } = await made("C");
    expect(await scene().refused("lists_item_add", { list: last, items: [{ title: "x" }] })).toContain(
      "at most 20000 items in all",
    );
    expect(await scene().refused("lists_create", { name: "D", items: [{ title: "x" }] })).toContain("20000");
    const lists = Array.from(
      { length: 189 },
      (_, n) => `('lst_${n}', '${WORKSPACE}', 'list', 'L', '[]', 1, 1, 1, '', 'l')`,
    );
    await scene().sql(
      `insert into artifact (id, workspace_id, kind, name, tags, version, created_at, updated_at, body, search) values ${lists.join(", ")}`,
    );
    expect(await scene().refused("lists_create", { name: "E" })).toBe(
      "A workspace has at most 200 lists. Delete one that is not needed any more.",
    );
    await scene().call("lists_delete", { list: "C" });
    await scene().call("lists_create", { name: "E" });
    expect(await scene().refused("lists_restore", { id: last })).toContain("at most 200 lists");
  });

  test("[ART14] a long list comes in pages that give every item once, each a whole answer", async () => {
    const { id } = await made("A");
    for (let n = 0; n < 3; n++) {
      const items = Array.from({ length: 100 }, (_, i) => ({
        title: `t${n * 100 + i}`,
        notes: "ü".repeat(300),
      }));
      await scene().call("lists_item_add", { list: id, items });
    }
    const seen: number[] = [];
    let offset: number | undefined = 0;
    while (offset !== undefined) {
      const { output, truncated } = await scene().outcome("lists_get", { list: id, offset, limit: 250 });
      const { items, next_offset } = JSON.parse(output);
      expect(truncated ?? false).toBe(items.length < Math.min(250, 300 - offset));
      seen.push(...items.map(({ position }: { position: number }) => position));
      offset = next_offset;
    }
    expect(seen).toEqual(Array.from({ length: 300 }, (_, n) => n + 1));
    expect(await scene().call("lists_get", { list: id, offset: 300 })).toEqual({ id, name: "A", items: [] });
    expect((await scene().call("lists_list", { limit: 1 })).next_offset).toBeUndefined();
    await made("B");
    expect((await scene().call("lists_list", { limit: 1 })).next_offset).toBe(1);
  });

  test("[ART14] the largest item there can be is a whole answer", async () => {
    const wide = "\u{1f9f5}";
    const item = {
      title: wide.repeat(500),
      notes: "\u0001".repeat(4_000),
      tags: Array.from({ length: 20 }, (_, n) => `${n}${wide.repeat(60)}`),
    };
    await scene().call("lists_create", { name: "A", description: wide.repeat(2_000), items: [item, item] });
    const { items, next_offset } = await scene().call("lists_get", { list: "A" });
    expect(items[0]).toMatchObject(item);
    expect([items.length, next_offset]).toEqual([1, 1]);
  });
});
