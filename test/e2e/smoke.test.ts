import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { onEachStore } from "../support/stores.js";

onEachStore("smoke", (kind) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(kind);
  });
  afterAll(() => gateway?.stop());

  test("save and resolve", async () => {
    const wire = await gateway.wire();
    const workspace_id = gateway.home;
    const { folder } = await wire.result("thread/folder/create", { workspace_id, name: "Backend" });
    const { folder: sub } = await wire.result("thread/folder/create", {
      workspace_id,
      name: "Payments",
      parent_folder_id: folder.id,
    });
    const { thread } = await wire.result("thread/start", { workspace_id, folder_id: sub.id });
    const { doc } = await wire.result("thread/agents_doc/save", {
      workspace_id,
      folder_id: folder.id,
      content: "# hi\r\n",
    });
    expect(doc.version).toBe(1);
    const got = await wire.result("thread/agents_doc/resolve_for_thread", { thread_id: thread.id });
    expect(got.effective?.source_path).toEqual(["Backend"]);
    expect(got.effective?.inherited).toBe(true);
    await wire.result("thread/folder/delete", { workspace_id, folder_id: folder.id });
    expect(await wire.result("thread/agents_doc/resolve_for_thread", { thread_id: thread.id })).toEqual({});
    const tree = await wire.result("thread/tree", { workspace_id });
    expect(tree.folders.length).toBe(1);
    console.log(
      JSON.stringify(
        (await wire.settled()).map((n) => [n.method, n.params.seq]),
        null,
        0,
      ),
    );
    const other = await gateway.wire();
    console.log(await other.result("subscribe", { workspace_id, after_seq: 2 }));
    console.log((await other.settled()).map((n) => [n.method, n.params.seq]).join());
  });
});
