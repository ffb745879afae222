import { createHash } from "node:crypto";
import { readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { putBlob } from "../../src/prompts/blobs/put.js";
import { readPrompt } from "../../src/prompts/blobs/read.js";
import { listPacks } from "../../src/prompts/packs/list.js";
import { methods, notifications } from "../../src/protocol/index.js";
import type { Store } from "../../src/store/index.js";
import { freshRepository, ownGit } from "../atsf/repository.js";
import { failure, fits, message, onEachBench } from "./support.js";

beforeEach(() => void ownGit());
afterEach(() => vi.unstubAllEnvs());

const refOf = (content: string | Uint8Array) =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;

const PACK = "prompts/packs/default.json";
const refOfMessage = (content: string) => refOf(JSON.stringify(message(content)));

onEachBench("adopting a pack", (bench) => {
  test("[PRM30] editing changes nothing until it is synced and applied", async () => {
    const room = await bench().workspace();
    room.write({ [PACK]: message("one") });
    expect(await room.status()).toEqual([]);
    const synced = await room.sync();
    const one = {
      workspace: room.id,
      root_hash: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      prompt_pack: "default",
      prompt_pack_ref: refOfMessage("one"),
      taken_at: 1_800_000_000,
    };
    expect(synced).toEqual({ status: "pending", pack: "default", pending: one });
    fits("prompt/sync", synced);
    expect(await room.status()).toEqual([{ pack: "default", pending: one }]);
    const applied = await room.apply();
    expect(applied).toEqual({ pack: "default", applied: true, active: one });
    fits("prompt/apply", applied);
    room.write({ [PACK]: message("two") });
    expect(await room.status()).toEqual([{ pack: "default", active: one }]);
    bench().clock.advance(5_000);
    const two = { ...one, prompt_pack_ref: refOfMessage("two"), taken_at: 1_800_000_005 };
    expect(await room.sync()).toEqual({ status: "pending", pack: "default", pending: two, active: one });
    expect(await room.status()).toEqual([{ pack: "default", pending: two, active: one }]);
    expect((await room.apply({ mode: "next_run" })).active).toEqual(two);
    const ref = two.prompt_pack_ref;
    expect(await bench().store.read(() => readPrompt(ref))).toEqual([message("two")]);
  });

  test("[PRM10] a workspace without a project has packs too", async () => {
    const home = await bench().home();
    expect((await home.sync()).error).toMatchObject({ stage: "read" });
    home.write({ [PACK]: [message("at home")] });
    expect((await home.sync()).status).toBe("pending");
  });

  test("[PRM12] without a name it is the index's default, else `default`", async () => {
    const room = await bench().workspace();
    room.write({ [PACK]: message("d"), "prompts/packs/house.json": message("h") });
    expect((await room.sync()).pack).toBe("default");
    room.write({ "agent.workspace.json": { schema_version: 1, defaults: { prompt_pack: "house" } } });
    expect(await room.sync()).toMatchObject({
      pack: "house",
      pending: { prompt_pack_ref: refOfMessage("h") },
    });
    expect((await room.apply()).pack).toBe("house");
    expect((await room.sync({ pack: "default" })).pack).toBe("default");
    // An index that can't be read fails the sync of what would be meant without it.
    room.write({ "agent.workspace.json": "{" });
    expect(await room.sync()).toMatchObject({ status: "failed", pack: "default", error: { stage: "index" } });
    expect(await room.apply()).toMatchObject({ pack: "default", applied: true });
  });

  test("[PRM12] [PRM13] at a version it is the default of that commit", async () => {
    const index = (prompt_pack: string) => JSON.stringify({ schema_version: 1, defaults: { prompt_pack } });
    const pack = JSON.stringify(message("x"));
    const repository = freshRepository({
      "agent.workspace.json": index("old"),
      "prompts/packs/old.json": pack,
      "prompts/packs/new.json": pack,
    });
    repository.write({ "agent.workspace.json": index("new") });
    const room = await bench().workspace(repository.dir);
    expect((await room.sync()).pack).toBe("new");
    const synced = await room.sync({ version: "HEAD" });
    expect(synced).toMatchObject({ pack: "old", pending: { version: repository.first } });
    expect((await room.sync({ version: "no/such" })).pack).toBe("default");
  });

  test("[PRM31] unchanged compares version, pack and content, index included", async () => {
    const repository = freshRepository({ [PACK]: JSON.stringify(message("x")) });
    const room = await bench().workspace(repository.dir);
    const first = await room.sync();
    expect(first.status).toBe("pending");
    bench().clock.advance(60_000);
    expect(await room.sync()).toEqual({ ...first, status: "unchanged" });
    await room.apply();
    expect(await room.sync()).toEqual({ status: "unchanged", pack: "default", active: first.pending });
    const roots = new Set([first.pending?.root_hash]);
    const changes = [
      () => room.sync({ version: "HEAD" }),
      () => {
        repository.commit({ "other.txt": "another commit" });
        return room.sync({ version: "HEAD" });
      },
      () => {
        room.write({ "agent.workspace.json": { schema_version: 1 } });
        return room.sync();
      },
      () => {
        room.write({ [PACK]: `${JSON.stringify(message("x"))} ` });
        return room.sync();
      },
    ];
    for (const change of changes) {
      const { status: outcome, pending, active } = await change();
      expect([outcome, active]).toEqual(["pending", first.pending]);
      expect(roots.has(pending?.root_hash)).toBe(false);
      roots.add(pending?.root_hash);
    }
  });

  test("[PRM31] found as it is active, what was pending goes", async () => {
    const room = await bench().workspace();
    room.write({ [PACK]: message("active") });
    await room.sync();
    const { active } = await room.apply();
    room.write({ [PACK]: message("second thoughts") });
    expect((await room.sync()).status).toBe("pending");
    const thread = await room.thread();
    await room.beginRun(thread.id);
    expect(await room.apply({ mode: "when_idle", thread_id: thread.id })).toMatchObject({ waiting: true });
    room.write({ [PACK]: message("active") });
    expect(await room.sync()).toEqual({ status: "unchanged", pack: "default", active });
    expect(await room.status()).toEqual([{ pack: "default", active }]);
  });

  test("[PRM17] [PRM32] a failure stays visible until the next sync that succeeds", async () => {
    const room = await bench().workspace();
    room.write({ [PACK]: message("good") });
    const { pending } = await room.sync();
    room.write({ [PACK]: "{" });
    bench().clock.advance(9_000);
    const error = {
      stage: "parse",
      reason: expect.stringMatching(/^prompts\/packs\/default\.json is no prompt: it is not JSON: .+\.$/),
      at: 1_800_000_009,
    };
    const failed = await room.sync();
    expect(failed).toEqual({ status: "failed", pack: "default", pending, error });
    fits("prompt/sync", failed);
    expect(await room.status()).toEqual([{ pack: "default", pending, error }]);
    const { active } = await room.apply();
    expect(await room.status()).toEqual([{ pack: "default", active, error }]);
    room.write({ [PACK]: message("good") });
    expect(await room.sync()).toEqual({ status: "unchanged", pack: "default", active });
    expect(await room.status()).toEqual([{ pack: "default", active }]);
    rmSync(join(room.root, PACK));
    expect((await room.sync()).error?.stage).toBe("read");
    room.write({ [PACK]: message("better") });
    expect(await room.sync()).not.toHaveProperty("error");
  });

  test("[PRM17] a workspace whose directory is gone fails to resolve, and its packs stay", async () => {
    const room = await bench().workspace();
    room.write({ [PACK]: message("x") });
    const { pending } = await room.sync();
    renameSync(room.root, `${room.root}.away`);
    expect(await room.sync()).toMatchObject({
      status: "failed",
      pending,
      error: { stage: "resolve", reason: expect.stringContaining(room.root) },
    });
    expect(
      await failure(listPacks(bench().deps, { workspace_id: room.id, version: undefined })),
    ).toMatchObject({
      kind: "workspace.directory_missing",
    });
    expect((await room.apply()).active).toEqual(pending);
  });

  test("[PRM17] a store that can't take the snapshot is told as a stage too", async () => {
    const room = await bench().workspace();
    room.write({ [PACK]: message("x") });
    const { write } = bench().store;
    const full = (fails: number[]): Store => {
      let writes = 0;
      return {
        ...bench().store,
        async write(options, unit) {
          if (!fails.includes(++writes)) return write(options, unit);
          const { storeError } = await import("../../src/store/index.js");
          throw storeError({ kind: "store.full", store: "s" }, "There is no room left.");
        },
      };
    };
    const on = (store: Store) => ({ ...bench().deps, store });
    const error = { stage: "store", reason: "There is no room left." };
    expect(await room.sync({}, {}, on(full([2])))).toMatchObject({ status: "failed", error });
    expect(await room.status()).toMatchObject([{ error }]);
    expect(await room.sync({}, {}, on(full([2, 3])))).toEqual({ status: "failed", pack: "default", error });
    expect((await room.sync()).status).toBe("pending");
  });

  test("[PRM33] with a thread, a sync that succeeds binds it", async () => {
    const repository = freshRepository({ [PACK]: JSON.stringify(message("committed")) });
    const room = await bench().workspace(repository.dir);
    const ref = (await putBlob(bench().deps, methods["blob/put"].params.parse({ text: "x" }))).ref;
    const thread = await room.thread({ model: "m", default_prompt_refs: [ref] });
    const thread_id = thread.id;
    expect((await room.sync({ thread_id, pack: "none" })).status).toBe("failed");
    expect(await room.config(thread_id)).toEqual({ model: "m", default_prompt_refs: [ref] });
    await room.sync({ thread_id });
    const kept = { model: "m", default_prompt_refs: [ref], default_prompt_pack: "default" };
    expect(await room.config(thread_id)).toEqual({ ...kept, workspace_binding: { workspace: room.id } });
    await room.sync({ thread_id, version: "main" });
    const workspace_binding = { workspace: room.id, version: repository.first };
    expect(await room.config(thread_id)).toEqual({ ...kept, workspace_binding });
    expect((await room.sync({ thread_id })).status).toBe("pending");
    expect((await room.sync({ thread_id })).status).toBe("unchanged");
    expect(await room.config(thread_id)).toEqual({ ...kept, workspace_binding: { workspace: room.id } });
    const file = readFileSync(join(room.root, ".agent/threads", thread_id, "thread.json"), "utf8");
    expect(JSON.parse(file).metadata.heddle.config).toEqual(await room.config(thread_id));
  });

  test("[PRM33] what is not there is refused before anything is written", async () => {
    const room = await bench().workspace();
    const other = await bench().workspace();
    const elsewhere = (await other.thread()).id;
    const refused = [
      [{ workspace_id: "ws_none" }, { kind: "workspace.not_found", workspace_id: "ws_none" }],
      [{ thread_id: "thr_none" }, { kind: "thread.not_found", thread_id: "thr_none" }],
      [{ thread_id: elsewhere }, { kind: "thread.not_found", thread_id: elsewhere }],
    ] as const;
    for (const [params, error] of refused) {
      expect(await failure(room.sync(params))).toEqual(error);
      expect(await failure(room.apply(params))).toEqual(error);
      expect(await failure(room.status(params))).toEqual(error);
    }
    expect(await failure(room.list({ workspace_id: "ws_none" }))).toMatchObject({
      kind: "workspace.not_found",
    });
    expect(await room.status()).toEqual([]);
    expect(room.told()).toEqual([]);
  });

  test("[PRM38] status lists every pack, or the one that is meant", async () => {
    const room = await bench().workspace();
    for (const pack of ["b", "a"]) {
      room.write({ [`prompts/packs/${pack}.json`]: message(pack) });
      await room.sync({ pack });
    }
    const all = await room.status();
    expect(all.map(({ pack }) => pack)).toEqual(["a", "b"]);
    fits("prompt/status", { data: all });
    expect(await room.status({ pack: "b" })).toEqual([all[1]]);
    expect(await room.status({ pack: "never" })).toEqual([{ pack: "never" }]);
    const thread = await room.thread();
    expect(await room.status({ thread_id: thread.id })).toEqual([]);
    await room.configure(thread.id, { default_prompt_pack: "a" });
    expect(await room.status({ thread_id: thread.id })).toEqual([all[0]]);
    expect(await room.apply({ thread_id: thread.id })).toMatchObject({ pack: "a", applied: true });
  });

  test("[PRM38] a thread's settings may name what no pack can be called", async () => {
    const room = await bench().workspace();
    for (const default_prompt_pack of ["../../etc/passwd", "a\0b", "\ud800", "x".repeat(255)]) {
      const thread_id = (await room.thread({ default_prompt_pack })).id;
      expect(await room.status({ thread_id })).toEqual([{ pack: default_prompt_pack }]);
      expect(await room.apply({ thread_id })).toEqual({ pack: default_prompt_pack, applied: false });
    }
  });

  test("[PRM38] a thread that is bound to another workspace means that one's packs", async () => {
    const shelf = await bench().workspace();
    shelf.write({ "prompts/packs/shared.json": message("shared") });
    await shelf.sync({ pack: "shared" });
    const room = await bench().workspace();
    const bound = { workspace_binding: { workspace: shelf.id }, default_prompt_pack: "shared" };
    const thread_id = (await room.thread(bound)).id;
    expect(await room.status({ thread_id })).toEqual(await shelf.status());
    expect(await room.apply({ thread_id })).toMatchObject({
      applied: true,
      active: { workspace: shelf.id },
    });
    expect(await room.status()).toEqual([]);
    await room.configure(thread_id, { workspace_binding: { workspace: "ws_gone" } });
    const gone = { kind: "prompt.workspace_not_found", workspace: "ws_gone" };
    expect(await failure(room.status({ thread_id }))).toEqual(gone);
    expect(await failure(room.apply({ thread_id }))).toEqual(gone);
  });

  test("[PRM39] one pack after the other; clients hear of what they can see", async () => {
    const room = await bench().workspace();
    room.write({ [PACK]: message("x"), "prompts/packs/other.json": message("y") });
    const results = await Promise.all([
      ...Array.from({ length: 6 }, () => room.sync()),
      ...Array.from({ length: 6 }, () => room.sync({ pack: "other" })),
    ]);
    const outcomes = (pack: string) => results.filter((each) => each.pack === pack).map(({ status: s }) => s);
    for (const pack of ["default", "other"])
      expect(outcomes(pack).sort()).toEqual(["pending", ...Array(5).fill("unchanged")]);
    const applies = await Promise.all(Array.from({ length: 4 }, () => room.apply()));
    expect(applies.filter(({ applied }) => applied)).toHaveLength(1);
    rmSync(join(room.root, PACK));
    await room.sync();
    const told = room.told();
    expect(told.map(({ pack, state }) => [pack, Object.keys(state).sort().join()]).sort()).toEqual([
      ["default", "active,error,pack"],
      ["default", "active,pack"],
      ["default", "pack,pending"],
      ["other", "pack,pending"],
    ]);
    for (const params of told) {
      expect(notifications["prompt/changed"].parse(params)).toEqual(params);
    }
    expect(told.findLast(({ pack }) => pack === "default")?.state).toEqual((await room.status())[0]);
  });
});
