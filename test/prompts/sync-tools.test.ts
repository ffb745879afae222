import { expect, test } from "vitest";
import { canonicalJson, contentRef } from "../../src/base/index.js";
import { readBlob } from "../../src/prompts/blobs/read.js";
import { promptsError } from "../../src/prompts/errors.js";
import { syncTools } from "../../src/prompts/packs/sync-tools.js";
import { syncWorkspace } from "../../src/prompts/packs/sync-workspace.js";
import { methods } from "../../src/protocol/index.js";
import { type Bench, failure, fits, message, onEachBench, type Room } from "./support.js";

const PACK = "prompts/packs/default.json";
const bash = { name: "bash", description: "Runs a command.", parameters: { type: "object", properties: {} } };
const read = { parameters: {}, name: "files_read" };

const both = (bench: Bench, room: Room, params: object = {}) =>
  syncWorkspace(bench.deps, methods["workspace/sync"].params.parse({ workspace_id: room.id, ...params }), {});

onEachBench("syncing tools", (bench) => {
  test("[PRM50] the list is recorded as a blob, whatever order it came in", async () => {
    const room = await bench().workspace();
    const sync = () => syncTools(bench().deps, { workspace_id: room.id });
    const empty = { status: "changed", count: 0, ref: contentRef("[]") };
    expect(await sync()).toEqual(empty);
    bench().tools = () => [read, bash];
    const sorted = [canonicalJson(bash), canonicalJson(read)].sort();
    const ref = contentRef(`[${sorted.join(",")}]`);
    expect(await sync()).toEqual({ status: "changed", count: 2, ref });
    bench().tools = () => [bash, { name: "files_read", parameters: {} }];
    expect(await sync()).toEqual({ status: "unchanged", count: 2, ref });
    const kept = JSON.parse(Buffer.from(await bench().store.read(() => readBlob(ref))).toString());
    expect(kept).toEqual(expect.arrayContaining([bash, read]));
    const other = await bench().workspace();
    expect((await syncTools(bench().deps, { workspace_id: other.id })).status).toBe("changed");
    bench().tools = () => [];
    expect(await sync()).toEqual(empty);
    expect(await failure(syncTools(bench().deps, { workspace_id: "ws_none" }))).toMatchObject({
      kind: "workspace.not_found",
    });
  });

  test("[PRM51] tools that can't be listed are a failure, and what was recorded stays", async () => {
    const room = await bench().workspace();
    bench().tools = () => [bash];
    const sync = () => syncTools(bench().deps, { workspace_id: room.id });
    const { ref } = await sync();
    bench().tools = () => {
      throw promptsError(
        { kind: "prompt.unreadable", stage: "read", reason: "r" },
        "The server does not answer.",
      );
    };
    const failed = { status: "failed", count: 0, error: { reason: "The server does not answer." } };
    expect(await sync()).toEqual(failed);
    expect(bench().reported).toEqual([]);
    bench().tools = () => {
      throw new Error("secret detail");
    };
    const { error } = await sync();
    expect(error?.reason).not.toContain("secret");
    expect(bench().reported).toEqual([new Error("secret detail")]);
    bench().tools = () => [{ name: "x".repeat(17 * 1024 * 1024) }];
    expect((await sync()).error?.reason).toMatch(/A blob may have/);
    bench().tools = () => [bash];
    expect(await sync()).toEqual({ status: "unchanged", count: 1, ref });
  });

  test("[PRM52] a workspace's sync does both, and what happens to one does not hide the other", async () => {
    const room = await bench().workspace();
    bench().tools = () => [bash];
    const withoutPack = await both(bench(), room);
    expect(withoutPack).toMatchObject({
      prompt: { status: "failed", error: { stage: "read" } },
      tools: { status: "changed", count: 1 },
    });
    fits("workspace/sync", withoutPack);
    room.write({ [PACK]: message("x") });
    bench().tools = () => {
      throw new Error("no tools");
    };
    const withoutTools = await both(bench(), room);
    expect(withoutTools).toMatchObject({ prompt: { status: "pending" }, tools: { status: "failed" } });
    fits("workspace/sync", withoutTools);
    bench().tools = () => [bash];
    const thread = await room.thread();
    expect(await both(bench(), room, { thread_id: thread.id })).toMatchObject({
      prompt: { status: "unchanged" },
      tools: { status: "unchanged" },
    });
    expect((await room.config(thread.id)).default_prompt_pack).toBe("default");
  });

  test("[PRM52] it waits for both before it refuses", async () => {
    const room = await bench().workspace();
    bench().tools = () => [bash];
    expect(await failure(both(bench(), room, { thread_id: "thr_none" }))).toMatchObject({
      kind: "thread.not_found",
    });
    expect(await syncTools(bench().deps, { workspace_id: room.id })).toMatchObject({ status: "changed" });
  });
});
