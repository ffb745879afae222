import { expect, test } from "vitest";
import { openDatabase, post, type Stage, stageOn } from "../support/agents-doc.js";
import { onEitherStore } from "../support/stores.js";

onEitherStore("actors of changes", (kind) => {
  const stage = stageOn(kind);
  overSockets(stage);
  overHttp(stage);
  inTheStore(stage);
});

const request = (id: number, method: string, params: object) => ({ jsonrpc: "2.0", id, method, params });

function overSockets({ scene: open }: Stage): void {
  test("[DOC64] the name from initialize stands on what the client changes", async () => {
    const scene = await open();
    await scene.wire.result("initialize", { client: "page" });
    const first = await scene.save("one");
    expect(first.updated_by).toBe("page");
    await scene.save("two");
    await scene.restore(first.id, 1);
    await scene.news();
    await scene.archive();
    expect((await scene.news())[0]?.params.doc.updated_by).toBe("page");
    expect((await scene.revisions()).map((each) => each.saved_by)).toEqual(["page", "page", "page", "page"]);
  });

  test("[DOC64] a name with a version counts by its name", async () => {
    const scene = await open();
    await scene.wire.result("initialize", { client: { name: "cli", version: "1.2" } });
    expect((await scene.save("one")).updated_by).toBe("cli");
  });

  test("[DOC64] the actor of a deleted folder's document is who deleted it", async () => {
    const scene = await open();
    const folder_id = await scene.folder("A");
    await scene.save("one", { folder_id });
    await scene.wire.result("initialize", { client: "cleaner" });
    await scene.news();
    await scene.wire.result("thread/folder/delete", { workspace_id: scene.workspace_id, folder_id });
    expect((await scene.news())[0]?.params.doc).toMatchObject({ status: "archived", updated_by: "cleaner" });
  });

  test("[DOC65] each version has its own actor, or none", async () => {
    const scene = await open();
    const other = await scene.other();
    await other.wire.result("initialize", { client: "named" });
    const first = await scene.save("one");
    const second = await other.save("two");
    const third = await scene.save("three");
    expect(["updated_by" in first, second.updated_by, "updated_by" in third]).toEqual([
      false,
      "named",
      false,
    ]);
    const revisions = await scene.revisions();
    expect(revisions.map((each) => ("saved_by" in each ? each.saved_by : "left out"))).toEqual([
      "left out",
      "named",
      "left out",
    ]);
  });

  test("[DOC65] an identical save does not change the actor", async () => {
    const scene = await open();
    const doc = await scene.save("one");
    await scene.wire.result("initialize", { client: "late" });
    expect(await scene.save("one")).toEqual(doc);
  });
}

function overHttp({ scene: open }: Stage): void {
  test("[DOC64] within one HTTP batch initialize names the actor of what follows", async () => {
    const scene = await open();
    const { workspace_id } = scene;
    const answers = await post(scene.gateway, [
      request(1, "thread/agents_doc/save", { workspace_id, content: "one" }),
      request(2, "initialize", { client: "script" }),
      request(3, "thread/agents_doc/save", { workspace_id, content: "two" }),
    ]);
    expect(answers.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(answers[0]?.result.doc).not.toHaveProperty("updated_by");
    expect(answers[2]?.result.doc).toMatchObject({ version: 2, updated_by: "script" });
  });

  test("[DOC65] the name does not reach the next HTTP request", async () => {
    const scene = await open();
    const { workspace_id } = scene;
    await post(scene.gateway, request(1, "initialize", { client: "script" }));
    const { result } = await post(
      scene.gateway,
      request(2, "thread/agents_doc/save", { workspace_id, content: "one" }),
    );
    expect(result.doc).not.toHaveProperty("updated_by");
  });
}

function inTheStore({ scene: open, gateway }: Stage): void {
  test("[DOC19] created_by and updated_by are kept, NULL where nobody is known", async () => {
    const scene = await open();
    const other = await scene.other();
    await scene.wire.result("initialize", { client: "maker" });
    const [a, b] = [await scene.folder("A"), await scene.folder("B")];
    await scene.save("one", { folder_id: a });
    await other.save("two", { folder_id: a });
    await other.save("one", { folder_id: b });
    await scene.save("two", { folder_id: b });
    const database = await openDatabase(gateway().place);
    try {
      const rows = await database.all(
        `select created_by, updated_by from thread_agents_doc where workspace_id = '${scene.workspace_id}' order by id`,
      );
      expect(rows.map((row) => ({ ...row }))).toEqual([
        { created_by: "maker", updated_by: null },
        { created_by: null, updated_by: "maker" },
      ]);
    } finally {
      await database.close();
    }
  });
}
