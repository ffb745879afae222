import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { onEachStore, temporaryDirectory } from "../support/stores.js";
import type { Wire } from "../support/wire.js";

onEachStore("workspaces", (kind) => {
  let gateway: TestGateway;
  let wire: Wire;
  beforeAll(async () => {
    gateway = await startGateway(kind);
    wire = await gateway.wire();
  });
  afterAll(() => gateway?.stop());

  test("[TREE10] a fresh data directory has Home, once, also after a restart", async () => {
    let own = await startGateway(kind);
    const before = await (await own.wire()).result("workspace/list", {});
    expect(before.data).toEqual([
      { id: own.home, name: "Home", created_at: expect.any(Number), updated_at: expect.any(Number) },
    ]);
    own = await own.restart();
    expect(await (await own.wire()).result("workspace/list", {})).toEqual(before);
    await own.stop();
  });

  test("[TREE11] a directory that is bound answers its workspace, also through a link", async () => {
    const dir = temporaryDirectory();
    const project = join(dir, "shop");
    mkdirSync(project);
    symlinkSync(project, join(dir, "link"));
    const first = await wire.result("workspace/create", { name: "Shop", root_path: project });
    expect(first).toMatchObject({ created: true, workspace: { name: "Shop", root_path: project } });
    for (const root_path of [project, join(dir, "link"), `${project}/`]) {
      expect(await wire.result("workspace/create", { name: "Other", root_path })).toEqual({
        workspace: first.workspace,
        created: false,
      });
    }
  });

  test("[TREE12] a root_path that is relative, missing or no directory is refused", async () => {
    const dir = temporaryDirectory();
    writeFileSync(join(dir, "file"), "");
    const before = await wire.result("workspace/list", {});
    for (const root_path of ["shop", join(dir, "missing"), join(dir, "file"), "/a\0b"]) {
      const error = await wire.error("workspace/create", { name: "x", root_path });
      expect(error.code).toBe(-32602);
      expect(["workspace.path_invalid", "invalid_text"]).toContain(error.data.kind);
    }
    expect(await wire.result("workspace/list", {})).toEqual(before);
  });

  test("[TREE13] names come from the directory; update renames and binds, but takes no other's directory", async () => {
    const taken = temporaryDirectory();
    const free = temporaryDirectory();
    const { workspace: other } = await wire.result("workspace/create", { root_path: taken });
    expect(other.name).toBe(taken.split("/").at(-1));
    const { workspace } = await wire.result("workspace/create", { name: "Mine" });
    expect(workspace).not.toHaveProperty("root_path");
    const { id: workspace_id } = workspace;
    const updated = await wire.result("workspace/update", { workspace_id, name: "Ours", root_path: free });
    expect(updated.workspace).toMatchObject({ id: workspace_id, name: "Ours", root_path: free });
    const error = await wire.error("workspace/update", { workspace_id, root_path: taken });
    expect(error).toMatchObject({
      code: -32600,
      data: { kind: "workspace.path_taken", workspace_id: other.id },
    });
    expect(await wire.result("workspace/get", { workspace_id })).toEqual(updated);
  });

  test("[TREE14] [TREE17] delete hides everything, at once and from every cache; undelete brings it back", async () => {
    const root_path = temporaryDirectory();
    const { workspace } = await wire.result("workspace/create", { root_path });
    const workspace_id = workspace.id;
    const { thread } = await wire.result("thread/start", { workspace_id });
    await wire.result("thread/agents_doc/save", { workspace_id, content: "rules" });
    const resolve = { workspace_id, thread_id: thread.id };
    const before = await wire.result("thread/agents_doc/resolve_for_thread", resolve);
    const tree = await wire.result("thread/tree", { workspace_id });
    expect(await wire.result("workspace/delete", { workspace_id })).toEqual({ deleted: true });
    for (const [method, params] of [
      ["workspace/get", { workspace_id }],
      ["thread/tree", { workspace_id }],
      ["thread/agents_doc/get", { workspace_id }],
      ["thread/agents_doc/resolve_for_thread", resolve],
      ["thread/get", { thread_id: thread.id }],
      ["workspace/delete", { workspace_id }],
    ] as const) {
      expect((await wire.error(method, params)).code, method).toBe(-32602);
    }
    expect((await wire.result("workspace/undelete", { workspace_id })).workspace).toEqual(workspace);
    const after = await wire.result("thread/agents_doc/resolve_for_thread", resolve);
    expect(after.effective?.doc).toEqual(before.effective?.doc);
    expect({ ...(await wire.result("thread/tree", { workspace_id })), seq: tree.seq }).toEqual(tree);
  });

  test("[TREE14] a directory bound anew meanwhile keeps a deleted workspace from coming back", async () => {
    const root_path = temporaryDirectory();
    const { workspace } = await wire.result("workspace/create", { root_path });
    await wire.result("workspace/delete", { workspace_id: workspace.id });
    const { workspace: next, created } = await wire.result("workspace/create", { root_path });
    expect(created).toBe(true);
    const error = await wire.error("workspace/undelete", { workspace_id: workspace.id });
    expect(error.data).toEqual({ kind: "workspace.path_taken", root_path, workspace_id: next.id });
  });

  test("[TREE15] Home can't be deleted", async () => {
    const error = await wire.error("workspace/delete", { workspace_id: gateway.home });
    expect(error).toMatchObject({ code: -32600, data: { kind: "workspace.is_home" } });
    await wire.result("workspace/get", { workspace_id: gateway.home });
  });

  test("[TREE16] the list walks every workspace once, oldest first", async () => {
    const made: string[] = [];
    for (let i = 0; i < 7; i++)
      made.push((await wire.result("workspace/create", { name: `w${i}` })).workspace.id);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await wire.result("workspace/list", { limit: 3, cursor });
      expect(page.data.length).toBeLessThanOrEqual(3);
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.filter((id) => made.includes(id))).toEqual(made);
    expect(seen[0]).toBe(gateway.home);
  });
});
