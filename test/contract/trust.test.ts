import { expect, test } from "vitest";
import { type TrustRow, trust, workspaces } from "../../src/store/index.js";
import { onFreshStore, read, stage, write } from "./support/fresh-store.js";
import { addWorkspace } from "./support/rows.js";

const hooks = (workspace_id: string, content_sha256: string): TrustRow => ({
  workspace_id,
  kind: "worktree_hooks",
  content_sha256,
  trusted_at: 7,
});

const trusted = (ws: string, hashes: string[], kind = "worktree_hooks") =>
  read(() => trust.isTrusted(ws, kind, hashes));

onFreshStore("trust", () => {
  test("[STO16] exactly the content that was trusted is, in its workspace and of its kind", async () => {
    await write(() => addWorkspace("ws_a"));
    await write(() => addWorkspace("ws_b"));
    expect(await trusted("ws_a", ["one"])).toBe(false);
    await write(() => trust.saveTrust(hooks("ws_a", "one")));
    expect(await trusted("ws_a", ["one"])).toBe(true);
    expect(await trusted("ws_a", ["one", "one"])).toBe(true);
    expect(await trusted("ws_a", ["one", "two"])).toBe(false);
    expect(await trusted("ws_a", ["ONE"])).toBe(false);
    expect(await trusted("ws_a", ["one"], "mcp")).toBe(false);
    expect(await trusted("ws_b", ["one"])).toBe(false);
    await write(() => trust.saveTrust(hooks("ws_a", "two")));
    expect(await trusted("ws_a", ["two", "one"])).toBe(true);
    expect(await trusted("ws_a", [])).toBe(true);
  });

  test("[STO16] trusting again keeps the first time; what is taken back or purged is trusted no longer", async () => {
    await write(() => addWorkspace("ws_c"));
    for (const trusted_at of [7, 8])
      await write(() => trust.saveTrust({ ...hooks("ws_c", "one"), trusted_at }));
    await write(() => trust.saveTrust({ ...hooks("ws_c", "one"), kind: "mcp" }));
    const times = await stage().sql("select trusted_at from trust where workspace_id = 'ws_c'");
    expect(times.map((row) => Number(row.trusted_at))).toEqual([7, 7]);
    await write(() => trust.removeTrust("ws_c", "worktree_hooks"));
    expect([await trusted("ws_c", ["one"]), await trusted("ws_c", ["one"], "mcp")]).toEqual([false, true]);
    await write(() => workspaces.updateWorkspace("ws_c", { deleted_at: 5 }));
    await write(() => workspaces.purgeWorkspaces(6));
    expect(await trusted("ws_c", ["one"], "mcp")).toBe(false);
    await expect(write(() => trust.saveTrust(hooks("ws_none", "one")))).rejects.toThrow(/foreign key/i);
  });

  test("[STO16] which workspaces have something of a kind that is trusted, of those that live", async () => {
    for (const id of ["ws_d", "ws_e", "ws_f", "ws_g"]) await write(() => addWorkspace(id));
    const of = (ws: string, kind: string, hash = "one") =>
      write(() => trust.saveTrust({ ...hooks(ws, hash), kind }));
    await of("ws_d", "config");
    await of("ws_d", "config", "two");
    await of("ws_e", "mcp");
    await of("ws_f", "worktree_hooks");
    await of("ws_g", "config");
    await write(() => workspaces.updateWorkspace("ws_g", { deleted_at: 5 }));
    expect((await read(() => trust.workspacesWithTrust(["config", "mcp"]))).sort()).toEqual(["ws_d", "ws_e"]);
    const was = (ws: string, kind: string) => read(() => trust.wasTrusted(ws, kind));
    expect([await was("ws_d", "config"), await was("ws_d", "mcp"), await was("ws_none", "mcp")]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
