import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Params } from "../../src/protocol/index.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { onEachStore } from "../support/stores.js";
import type { Wire } from "../support/wire.js";

onEachStore("lists of threads", (kind) => {
  let gateway: TestGateway;
  let wire: Wire;
  beforeAll(async () => {
    gateway = await startGateway(kind);
    wire = await gateway.wire();
  });
  afterAll(() => gateway?.stop());

  const workspace = async () => (await wire.result("workspace/create", { name: "w" })).workspace.id;
  const titles = async (params: Params<"thread/list">) =>
    (await wire.result("thread/list", params)).data.map(({ title }) => title).sort();

  test("[TREE38] filters by agent, folder and part of the title", async () => {
    const workspace_id = await workspace();
    const folder_id = (await wire.result("thread/folder/create", { workspace_id, name: "f" })).folder.id;
    for (const [title, agent_id, place] of [
      ["Fix LOGIN", "codex", folder_id],
      ["Straße", "claude", null],
      ["100% done_", "claude", null],
      ["1000 done!", "claude", folder_id],
    ] as const) {
      await wire.result("thread/start", { workspace_id, title, agent_id, folder_id: place });
    }
    expect(await titles({ workspace_id, agent_id: "codex" })).toEqual(["Fix LOGIN"]);
    expect(await titles({ workspace_id, folder_id })).toEqual(["1000 done!", "Fix LOGIN"]);
    expect(await titles({ workspace_id, query: "login" })).toEqual(["Fix LOGIN"]);
    expect(await titles({ workspace_id, query: "STRAßE" })).toEqual(["Straße"]);
    expect(await titles({ workspace_id, query: "100%" })).toEqual(["100% done_"]);
    expect(await titles({ workspace_id, query: "done_" })).toEqual(["100% done_"]);
    expect(await titles({ workspace_id, query: "\\" })).toEqual([]);
    expect(await titles({ workspace_id, query: "done", folder_id, agent_id: "claude" })).toEqual([
      "1000 done!",
    ]);
  });

  for (const order of ["created", "updated"] as const) {
    test(`[TREE39] walked by ${order}, what holds still comes exactly once while others change`, async () => {
      const workspace_id = await workspace();
      const ids: string[] = [];
      for (let i = 0; i < 40; i++) ids.push((await wire.result("thread/start", { workspace_id })).thread.id);
      const seen: string[] = [];
      let cursor: string | undefined;
      let round = 0;
      do {
        const page = await wire.result("thread/list", { workspace_id, order, limit: 7, cursor });
        seen.push(...page.data.map(({ id }) => id));
        cursor = page.next_cursor;
        await wire.result("thread/start", { workspace_id });
        await wire.result("thread/update", { thread_id: ids[round] as string, title: `changed ${round}` });
        await wire.result("thread/delete", { thread_id: ids[39 - round] as string });
        round++;
      } while (cursor !== undefined);
      const untouched = ids.slice(round, 40 - round);
      expect(untouched.length).toBeGreaterThan(20);
      expect(seen.filter((id) => untouched.includes(id)).sort()).toEqual([...untouched].sort());
      const changed = ids.slice(0, round);
      if (order === "created")
        for (const id of changed) expect(seen.filter((each) => each === id)).toHaveLength(1);
    });
  }

  test("[TREE40] limits and cursors are checked", async () => {
    const workspace_id = await workspace();
    for (let i = 0; i < 101; i++) await wire.result("thread/start", { workspace_id });
    const page = await wire.result("thread/list", { workspace_id });
    expect(page.data).toHaveLength(100);
    expect((await wire.result("thread/list", { workspace_id, cursor: page.next_cursor })).data).toHaveLength(
      1,
    );
    for (const limit of [0, -1, 501, 1.5, "10"]) {
      expect((await wire.error("thread/list", { workspace_id, limit })).code).toBe(-32602);
    }
    const forged = [
      "x",
      "",
      "W10",
      Buffer.from('["a","b"]').toString("base64url"),
      Buffer.from('[1,"\\u0000"]').toString("base64url"),
    ];
    for (const cursor of forged) {
      expect(await wire.error("thread/list", { workspace_id, cursor })).toMatchObject({
        code: -32602,
        data: { kind: "cursor_invalid" },
      });
    }
  });

  test("[TREE37] an id that two workspaces have needs the workspace", async () => {
    const own = await startGateway(kind);
    const [a, b] = await twins(own);
    const again = await own.restart();
    const socket = await again.wire();
    const error = await socket.error("thread/get", { thread_id: a.thread });
    expect(error).toMatchObject({ code: -32602, data: { kind: "thread.ambiguous", thread_id: a.thread } });
    expect(new Set(error.data.workspace_ids as string[])).toEqual(new Set([a.workspace, b]));
    const { thread } = await socket.result("thread/get", { thread_id: a.thread, workspace_id: b });
    expect(thread.workspace_id).toBe(b);
    await again.stop();
  });

  /** Two threads with one id come from files: somebody copied a project. */
  async function twins(own: TestGateway): Promise<[{ workspace: string; thread: string }, string]> {
    const socket = await own.wire();
    const other = (await socket.result("workspace/create", { name: "other" })).workspace.id;
    const thread = (await socket.result("thread/start", { workspace_id: own.home })).thread.id;
    const threadsOf = (id: string) => join(own.place.dataDir, "workspaces", id, ".agent", "threads");
    cpSync(threadsOf(own.home), threadsOf(other), { recursive: true });
    await socket.result("workspace/reindex", { workspace_id: other });
    return [{ workspace: own.home, thread }, other];
  }
});
