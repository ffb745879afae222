import { expect, test } from "vitest";
import { OTHER, onEachScene, type Scene } from "./support.js";

onEachScene("views", (scene) => {
  const furnish = async () => {
    const item = (title: string, tags: string[] = [], done = false, notes = "") => ({
      title,
      tags,
      done,
      notes,
    });
    await scene().call("lists_create", {
      name: "Groceries",
      items: [
        item("Milk", ["Cold", "home"]),
        item("Tea", ["home"], true),
        item("Jam", [], false, "the red one: sweet"),
      ],
    });
    await scene().call("lists_create", {
      name: "To read",
      items: [item("Milk and honey", ["cold war"]), item("https://a.example/b", ["home_x"])],
    });
  };
  const found = (query: string, at: Scene = scene()) =>
    at.call("views_query", { query }).then(({ items }) => items.map(({ title }: { title: string }) => title));

  test.each([
    ["milk", ["Milk", "Milk and honey"]],
    ["MILK -honey", ["Milk"]],
    ['"milk and"', ["Milk and honey"]],
    ["and honey", ["Milk and honey"]],
    ["tag:home", ["Milk", "Tea"]],
    ["tag:HOME done:false", ["Milk"]],
    ["tag:home -done:true", ["Milk"]],
    ["tag:cold", ["Milk"]],
    ['tag:"cold war"', ["Milk and honey"]],
    ["-tag:home", ["Jam", "Milk and honey", "https://a.example/b"]],
    ["tag:home tag:cold", ["Milk"]],
    ["list:Groceries", ["Milk", "Tea", "Jam"]],
    ['list:"To read" milk', ["Milk and honey"]],
    ['list:Groceries list:"To read" milk', ["Milk", "Milk and honey"]],
    ["-list:Groceries milk", ["Milk and honey"]],
    ["LIST:Groceries DONE:TRUE", ["Tea"]],
    ["done:true", ["Tea"]],
    ["sweet", ["Jam"]],
    ['"one: sweet"', ["Jam"]],
    ["text:red", ["Jam"]],
    ["https://a.example", ["https://a.example/b"]],
    ["tag:home_x", ["https://a.example/b"]],
    ["tag:%", []],
    ["%", []],
    ["h_n", []],
    ['"unclosed milk', []],
    ["' or '1'='1", []],
  ] as const)("[ART30] the query %s finds what it says", async (query, expected) => {
    await furnish();
    expect(await found(query)).toEqual(expected);
  });

  test.each([
    ["nothing:x", 'no key "nothing:"'],
    ["lists:Groceries", 'no key "lists:"'],
    ["done:maybe", 'true or false, not "maybe"'],
    ["done:true done:false", "more than once"],
    ["tag:", "has no value"],
    ['tag:"" x', "has no value"],
    ['list:"Nowhere"', 'There is no list "Nowhere" here. The nearest is'],
    [Array(33).fill("x").join(" "), "at most 32 terms"],
    ['""', "has no value"],
  ])("[ART31] the query %s is refused with what is wrong, and is not saved", async (query, words) => {
    await furnish();
    expect(await scene().refused("views_query", { query })).toContain(words);
    expect(await scene().refused("views_create", { name: "V", query })).toContain(words);
    const view = await scene().call("views_create", { name: "V", query: "x" });
    expect(await scene().refused("views_update", { view: "V", query })).toContain(words);
    expect(await scene().call("views_list")).toEqual({ views: [view] });
  });

  test("[ART32] a view shows what its query finds now, with the list of each item", async () => {
    await furnish();
    const view = await scene().call("views_create", { name: "Open", query: "list:Groceries done:false" });
    expect(view).toEqual({
      id: expect.stringMatching(/^viw_[0-9A-Z]{26}$/),
      name: "Open",
      query: "list:Groceries done:false",
    });
    const { items, ...head } = await scene().call("views_get", { view: "Open" });
    expect(head).toEqual(view);
    expect(items[0]).toEqual({
      id: expect.stringMatching(/^itm_/),
      title: "Milk",
      done: false,
      tags: ["Cold", "home"],
      list: "Groceries",
      list_id: expect.stringMatching(/^lst_/),
    });
    await scene().call("lists_item_update", { item: "Milk", done: true });
    const titles = async () =>
      (await scene().call("views_get", { view: view.id })).items.map(({ title }: { title: string }) => title);
    expect(await titles()).toEqual(["Jam"]);
    await scene().call("lists_item_remove", { item: "Jam" });
    expect(await titles()).toEqual([]);
    await scene().call("lists_update", { list: "Groceries", name: "Food" });
    expect(await scene().refused("views_get", { view: "Open" })).toContain(
      'There is no list "Groceries" here',
    );
    await scene().call("views_update", { view: "Open", query: "done:true" });
    expect(await titles()).toEqual(["Milk", "Tea"]);
    await scene().call("lists_delete", { list: "Food" });
    expect(await titles()).toEqual([]);
  });

  test("[ART32] views are changed, deleted and restored, and each is announced", async () => {
    const { id } = await scene().call("views_create", { name: "V", query: "x" });
    expect(scene().announced()).toEqual([`view created ${id}`]);
    for (const [name, args, change] of [
      ["views_update", { view: "V", name: "W" }, "updated"],
      ["views_delete", { view: "W" }, "deleted"],
      ["views_restore", { view: "W" }, "created"],
    ] as const) {
      await scene().call(name, args);
      expect(scene().announced(), name).toEqual([`view ${change} ${id}`]);
    }
    expect(await scene().refused("views_update", { view: "W" })).toContain("nothing to change");
    expect(await scene().call("views_list", { deleted: true })).toEqual({ views: [] });
  });

  test("[ART30] lists of one name are all meant", async () => {
    for (let n = 0; n < 2; n++)
      await scene().call("lists_create", { name: "Same", items: [{ title: `t${n}` }] });
    expect(await found("list:Same")).toEqual(["t0", "t1"]);
  });

  test("[ART5] a query finds nothing of another workspace", async () => {
    await furnish();
    const elsewhere = { workspace_id: OTHER };
    expect(await scene().call("views_query", { query: "milk" }, elsewhere)).toEqual({
      query: "milk",
      items: [],
    });
    expect(await scene().refused("views_query", { query: "list:Groceries" }, elsewhere)).toContain(
      "no lists yet",
    );
    const { id } = await scene().call("views_create", { name: "V", query: "x" });
    expect(await scene().refused("views_get", { view: id }, elsewhere)).toMatch(/^There is no view/);
    expect(await scene().refused("views_delete", { view: id }, elsewhere)).toMatch(/^There is no view/);
  });

  test("[ART14] what a view finds comes in pages", async () => {
    const items = Array.from({ length: 5 }, (_, n) => ({ title: `t${n}` }));
    await scene().call("lists_create", { name: "A", items });
    await scene().call("views_create", { name: "V", query: "t" });
    const page = await scene().call("views_get", { view: "V", offset: 1, limit: 2 });
    expect([page.items.map(({ title }: { title: string }) => title), page.next_offset]).toEqual([
      ["t1", "t2"],
      3,
    ]);
    expect((await scene().call("views_get", { view: "V", offset: 3 })).next_offset).toBeUndefined();
  });
});
