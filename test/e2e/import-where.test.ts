import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { Claude, Codex, Opencode, Pi } from "../imports/sessions.js";
import { type Import, old, only, realDirectory, snapshot, stage, take, talk } from "../imports/stage.js";
import { sqliteStore } from "../support/stores.js";
import { projectDirectory, type ThreadScene } from "../support/threads.js";

describe("which sessions, and where to", () => {
  const at = stage(sqliteStore);

  test("[IMP1] [IMP70] a workspace has the sessions of its directory, unless one nearer to them has them", async () => {
    const [outer, other] = [await at.scene(), await at.scene()];
    const inner = await at.sceneAt(realDirectory(join(outer.root, "packages/inner")));
    talk(at.home, outer.root);
    talk(at.home, realDirectory(join(outer.root, "packages/else")));
    talk(at.home, inner.root);
    const counts = async (scene: ThreadScene) =>
      (await scene.wire.result("import/sources", { workspace_id: scene.workspace_id })).data.map(
        ({ tool, name, path, threads, imported, elsewhere }) => [
          tool,
          name,
          path,
          threads,
          imported,
          elsewhere,
        ],
      );
    const path = join(at.home, ".claude");
    expect(await counts(outer)).toEqual([["claude", "Claude Code", path, 2, 0, 1]]);
    expect(await counts(inner)).toEqual([["claude", "Claude Code", path, 1, 0, 2]]);
    expect(await counts(other)).toEqual([["claude", "Claude Code", path, 0, 0, 3]]);
    const { data, total, elsewhere } = await take(outer, { from: "claude" });
    expect([data.length, total, elsewhere]).toEqual([2, 2, 1]);
    expect(await counts(outer)).toEqual([["claude", "Claude Code", path, 2, 2, 1]]);
    rmSync(join(at.home, ".claude"), { recursive: true });
  });

  test("[IMP71] `all` takes those of every directory, each into its workspace; of one that is gone, into Home", async () => {
    const scene = await at.scene();
    const [known, unknown] = [await at.scene(), projectDirectory()];
    talk(at.home, known.root);
    talk(at.home, realDirectory(join(unknown, "deep")));
    talk(at.home, "/gone/for/good");
    const dry = await take(scene, { from: "claude", all: true, dry_run: true });
    expect(dry.data.map(({ status }) => status)).toEqual(["imported", "imported", "imported"]);
    const list = async () => (await scene.wire.result("workspace/list", { limit: 500 })).data;
    expect((await list()).some(({ root_path }) => root_path === join(unknown, "deep"))).toBe(false);
    const { data } = await take(scene, { from: "claude", all: true });
    const workspaces = await list();
    const places = data.map(({ workspace_id }) => workspaces.find(({ id }) => id === workspace_id));
    expect(places.map((place) => place?.root_path ?? place?.name)).toEqual([
      known.root,
      join(unknown, "deep"),
      "Home",
    ]);
    expect((await known.list()).map(({ title }) => title)).toEqual(["Look"]);
    // A workspace whose directory is away keeps no other session out.
    rmSync(known.root, { recursive: true });
    talk(at.home, known.root);
    talk(at.home, unknown);
    const after = await take(scene, { from: "claude", all: true });
    expect(after.data.filter(({ status }) => status !== "exists")).toMatchObject([
      { status: "invalid", reason: expect.stringContaining(known.root) },
      { status: "invalid", reason: expect.stringContaining(known.root) },
      { status: "imported" },
    ]);
    rmSync(join(at.home, ".claude"), { recursive: true });
  });

  test("[IMP70] [IMP71] a session with a relative directory does not say where it belongs", async () => {
    const scene = await at.scene();
    // From where the gateway runs it would be the workspace's own.
    const cwd = relative(process.cwd(), scene.root);
    talk(at.home, cwd);
    new Codex(at.home, cwd).user("Look").says("Done.").save();
    new Pi(at.home, cwd).user("a", null, "Look").save();
    new Opencode(at.home, cwd).begin().message("m", { role: "user" }, [{ type: "text", text: "Look" }]);
    const { data } = await scene.wire.result("import/sources", { workspace_id: scene.workspace_id });
    expect(data.map(({ tool, threads, elsewhere }) => [tool, threads, elsewhere])).toEqual([
      ["claude", 0, 1],
      ["codex", 0, 1],
      ["pi", 0, 1],
      ["opencode", 0, 1],
    ]);
    const home = (await scene.wire.result("workspace/list", { limit: 1 })).data[0]?.id;
    for (const { tool } of data) {
      expect(await take(scene, { from: tool })).toMatchObject({ total: 0, data: [] });
      const all = await take(scene, { from: tool, all: true, dry_run: true });
      expect(all.data.map(({ workspace_id }) => workspace_id)).toEqual([home]);
    }
    for (const own of [".claude", ".codex", ".pi", ".local"]) rmSync(join(at.home, own), { recursive: true });
  });

  test("[IMP72] [IMP73] a file or a session that is named goes where it was asked for; `directory` takes its sessions alone", async () => {
    const scene = await at.scene();
    const elsewhere = talk(at.home, "/gone/away");
    const here = projectDirectory();
    const other = talk(at.home, here);
    expect(only(await take(scene, { from: "claude", path: elsewhere.path }))).toMatchObject({
      status: "imported",
      workspace_id: scene.workspace_id,
    });
    expect(only(await take(scene, { from: "claude", session_ids: [elsewhere.id] })).status).toBe("exists");
    const one = only(await take(scene, { from: "claude", directory: here }));
    const { data } = await scene.wire.result("workspace/list", { limit: 500 });
    expect(data.find(({ id }) => id === one.workspace_id)?.root_path).toBe(here);
    // A session that has a thread already goes on there, whichever workspace is asked.
    other.user("e", "d", "More").save();
    old(other);
    expect(only(await take(scene, { from: "claude", path: other.path }))).toMatchObject({
      status: "updated",
      workspace_id: one.workspace_id,
    });
    rmSync(join(at.home, ".claude"), { recursive: true });
  });

  test("[IMP75] a dry run says what would be done, and does nothing", async () => {
    const scene = await at.scene();
    const session = talk(at.home, scene.root);
    const dry = only(await take(scene, { from: "claude", dry_run: true }));
    expect(scene.directories()).toEqual([]);
    const real = only(await take(scene, { from: "claude" }));
    expect(dry).toEqual(real);
    session.user("e", "d", "More").save();
    old(session);
    const before = snapshot(scene);
    expect(only(await take(scene, { from: "claude", dry_run: true }))).toMatchObject({
      status: "updated",
      added: 1,
    });
    expect(snapshot(scene)).toEqual(before);
    rmSync(join(at.home, ".claude"), { recursive: true });
  });

  test("[IMP76] many sessions come in steps, with progress; every one of them once", async () => {
    const scene = await at.scene();
    for (let n = 0; n < 5; n++) talk(at.home, scene.root);
    const titles: string[] = [];
    const ids: string[] = [];
    let cursor: string | undefined;
    let steps = 0;
    do {
      const { data, next_cursor, total } = await take(scene, { from: "claude", limit: 2, cursor });
      expect(total).toBe(5);
      ids.push(...data.map(({ thread_id }) => thread_id));
      cursor = next_cursor;
      steps += 1;
    } while (cursor !== undefined);
    expect([steps, new Set(ids).size]).toEqual([3, 5]);
    for (const each of scene.wire.received)
      if ("method" in each && each.method === "import/progress")
        titles.push(`${each.params.done}/${each.params.total}`);
    expect(titles).toEqual(["1/5", "2/5", "3/5", "4/5", "5/5"]);
    const wrong = { workspace_id: scene.workspace_id, from: "claude" as const, cursor: "" };
    expect((await scene.wire.call("thread/import", wrong)).error?.data).toMatchObject({
      kind: "cursor_invalid",
    });
    rmSync(join(at.home, ".claude"), { recursive: true });
  });

  test("[IMP3] [IMP4] a path that is not there is refused; what can't be read is listed, and the rest is taken", async () => {
    const scene = await at.scene();
    const ask = async (given: Import) =>
      (await scene.wire.call("thread/import", { workspace_id: scene.workspace_id, ...given })).error;
    for (const path of ["relative", join(at.home, "none")])
      expect((await ask({ from: "pi", path }))?.data).toMatchObject({ kind: "import.path_invalid", path });
    expect((await ask({ from: "pi", archive_base64: "AAAA" }))?.code).toBe(-32602);
    expect((await ask({}))?.code).toBe(-32602);
    talk(at.home, scene.root);
    const bad = join(at.home, ".claude/projects/x/bad.jsonl");
    const session = new Claude(at.home, scene.root);
    session.lines.push("rubbish");
    appendFileSync(session.save().path, "more rubbish\n");
    writeFileSync(bad.replace("/x/bad", "/bad"), "{}\n");
    const { data, not_read } = await take(scene, { from: "claude" });
    expect(data.map(({ status }) => status)).toEqual(["imported"]);
    expect(not_read?.map(({ path }) => path).sort()).toEqual(
      [session.path, bad.replace("/x/bad", "/bad")].sort(),
    );
    expect(await take(scene, { from: "pi" })).toMatchObject({ data: [], total: 0 });
  });
});
