import { expect, test } from "vitest";
import {
  ArtifactItems,
  artifactPlugins,
  Panels,
  type Plugin,
  purgeArtifacts,
} from "../../src/tools/index.js";
import { OTHER, onEachScene, WORKSPACE } from "./support.js";

const DAY_MS = 24 * 3600 * 1000;

onEachScene("artifacts of a workspace", (scene) => {
  test("[ART40] each tool says what it needs; none asks, and each can be made again", () => {
    const listed = scene().registry.list();
    const reads = [
      "lists_get",
      "lists_list",
      "notes_list",
      "notes_read",
      "notes_search",
      "panels_list",
      "panels_selected",
      "views_get",
      "views_list",
      "views_query",
    ];
    for (const { name, capabilities, safeToRepeat, asks, plugin } of listed) {
      const verb = reads.includes(name) ? "read" : "write";
      expect({ capabilities, safeToRepeat, asks, plugin }, name).toEqual({
        capabilities: [`${plugin}.${verb}`],
        safeToRepeat: true,
        asks: undefined,
        plugin: name.split("_")[0],
      });
    }
    expect(
      scene()
        .registry.plugins()
        .map(({ id }) => id),
    ).toEqual(["lists", "notes", "panels", "views"]);
    expect(listed).toHaveLength(27);
  });

  test("[ART41] the names of lists, notes and views come by id, and removed ones do not", async () => {
    const items = new ArtifactItems(scene().store);
    expect(await items.of(WORKSPACE)).toEqual([]);
    const view = await scene().call("views_create", { name: "V", query: "x" });
    const note = await scene().call("notes_create", { title: "N" });
    const list = await scene().call("lists_create", { name: "L", items: [{ title: "t" }] });
    const gone = await scene().call("lists_create", { name: "Gone" });
    await scene().call("lists_delete", { list: gone.id });
    expect(await items.of(WORKSPACE)).toEqual([
      { type: "list", id: list.id, name: "L" },
      { type: "note", id: note.id, name: "N" },
      { type: "view", id: view.id, name: "V" },
    ]);
    expect(await items.of(OTHER)).toEqual([]);
    items.close();
  });

  test("[ART42] nothing is read again until something changes, and a change is seen at once", async () => {
    const reads: string[] = [];
    const { store } = scene();
    const watched = Object.create(store, {
      read: {
        value: (unit: never) => {
          reads.push("read");
          return store.read(unit);
        },
      },
    }) as typeof store;
    const items = new ArtifactItems(watched);
    await scene().call("lists_create", { name: "A" });
    const first = await items.of(WORKSPACE);
    expect(await items.of(WORKSPACE)).toBe(first);
    await scene().call("lists_create", { name: "B" }, { workspace_id: OTHER });
    expect(await items.of(WORKSPACE)).toBe(first);
    expect(reads).toHaveLength(1);
    await scene().call("lists_update", { list: "A", name: "A2" });
    expect((await items.of(WORKSPACE)).map(({ name }) => name)).toEqual(["A2"]);
    expect(reads).toHaveLength(2);
    // A change while it is being read: what was read may be old, so it is not kept.
    await scene().call("lists_update", { list: "A2", name: "A3" });
    const [, changed] = [items.of(WORKSPACE), scene().call("lists_update", { list: "A3", name: "A4" })];
    await changed;
    expect((await items.of(WORKSPACE)).map(({ name }) => name)).toEqual(["A4"]);
    items.close();
  });

  test("[ART43] what was deleted is kept for 30 days, then it is gone for good", async () => {
    const { clock } = scene();
    const kept = await scene().call("lists_create", {
      name: "Kept",
      items: [{ title: "stays" }, { title: "goes" }],
    });
    const list = await scene().call("lists_create", { name: "Goes", items: [{ title: "with it" }] });
    await scene().call("notes_create", { title: "N" }, { call_key: "k" });
    await scene().call("lists_item_remove", { item: "goes" });
    await scene().call("lists_delete", { list: "Goes" });
    await scene().call("notes_delete", { note: "N" });
    clock.pass(30 * DAY_MS);
    await purgeArtifacts(scene());
    expect((await scene().call("lists_list", { deleted: true })).lists).toHaveLength(1);
    clock.pass(1_000);
    await purgeArtifacts(scene());
    expect(await scene().refused("lists_restore", { id: list.id })).toMatch(/^There is no deleted list/);
    expect(await scene().refused("notes_restore", { note: "N" })).toMatch(/^There is no deleted note/);
    expect(await scene().call("lists_get", { list: "Kept", removed: true })).toMatchObject({
      id: kept.id,
      items: [],
    });
    const left = async (table: string) =>
      Number((await scene().sql(`select count(*) as n from ${table}`))[0]?.n);
    expect([await left("artifact"), await left("artifact_item"), await left("artifact_call")]).toEqual([
      1, 1, 0,
    ]);
  });

  test("[ART44] several who write at once each have what they wrote, and every change has a number of its own", async () => {
    await scene().call("lists_create", { name: "A" });
    const adding = Array.from({ length: 20 }, (_, n) =>
      scene().call("lists_item_add", { list: "A", items: [{ title: `t${n}` }], position: 1 }),
    );
    const appending = scene()
      .call("notes_create", { title: "N" })
      .then(() =>
        Promise.all(
          Array.from({ length: 10 }, (_, n) => scene().call("notes_append", { note: "N", text: `l${n}` })),
        ),
      );
    await Promise.all([...adding, appending]);
    const { items } = await scene().call("lists_get", { list: "A" });
    expect(new Set(items.map(({ title }: { title: string }) => title)).size).toBe(20);
    expect((await scene().call("notes_read", { note: "N" })).content.split("\n").sort()).toHaveLength(10);
    const seqs = scene().notes.map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from({ length: 32 }, (_, n) => n + 1));
  });

  test("[ART45] a store that fails leaves nothing half done, and its paths are not told", async () => {
    const { store, clock } = scene();
    const [lists] = artifactPlugins({ store, clock, makeId: () => "lst_same" }, new Panels());
    scene().registry.setPlugin(lists as Plugin);
    await scene().call("lists_create", { name: "A" });
    scene().announced();
    // The id is taken.
    expect(await scene().refused("lists_create", { name: "B", items: [{ title: "t" }] })).toMatch(
      /^lists_create failed/,
    );
    expect(scene().announced()).toEqual([]);
    expect((await scene().call("lists_list")).lists).toMatchObject([{ name: "A" }]);
    await store.close();
    expect(await scene().refused("lists_create", { name: "A" })).toMatch(/^lists_create failed/);
    expect(await scene().refused("lists_list")).not.toContain("/");
  });
});
