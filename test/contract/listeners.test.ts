import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { folders, notifications, type Unit } from "../../src/store/index.js";
import { onEachStore } from "../support/stores.js";
import { addWorkspace, folderRow } from "./support/rows.js";
import { openStage, type Stage } from "./support/stage.js";

const lookFile = fileURLToPath(new URL("./children/look.ts", import.meta.url));

/** What another process sees right now; this one stands still meanwhile. */
function lookFromOutside(location: string, statement: string): unknown {
  const args = ["--import", "tsx", lookFile, location, statement];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

function* announcedFolder(workspace_id: string, id: string): Unit<void> {
  yield* folders.insertFolder(folderRow(workspace_id, id));
  yield* notifications.announce(workspace_id, 7, [{ method: "thread/tree/changed", params: { id } }]);
}

onEachStore("commit listeners", (kind) => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage(kind);
    await stage.store.write({ key: "ws" }, () => addWorkspace("ws"));
  });
  afterEach(() => stage?.end());

  test("[STO5] a listener hears of a commit when another process can see it, and before its writer does", async () => {
    const events: unknown[] = [];
    stage.store.onCommit(({ notes, origin }) => {
      events.push({ notes, origin });
      events.push(lookFromOutside(stage.location, "select id from thread_folder"));
    });
    await stage.store.write({ key: "ws", origin: "me" }, () => announcedFolder("ws", "fld_seen"));
    events.push("written");
    const params = JSON.stringify({ id: "fld_seen", seq: 1 });
    const note = { workspace_id: "ws", seq: 1, method: "thread/tree/changed", params };
    expect(events).toEqual([{ notes: [note], origin: "me" }, [{ id: "fld_seen" }], "written"]);
  });

  test("[STO5] nobody is told of a unit that failed, or that announced nothing", async () => {
    const heard = vi.fn();
    stage.store.onCommit(heard);
    const failing = stage.store.write({ key: "ws" }, function* () {
      yield* announcedFolder("ws", "fld_failed");
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await stage.store.write({ key: "ws" }, () => folders.insertFolder(folderRow("ws", "fld_quiet")));
    expect(heard).not.toHaveBeenCalled();
  });

  test("[STO5] a listener that was taken off hears nothing more", async () => {
    const heard = vi.fn();
    const stop = stage.store.onCommit(heard);
    await stage.store.write({ key: "ws" }, () => announcedFolder("ws", "fld_1"));
    stop();
    await stage.store.write({ key: "ws" }, () => announcedFolder("ws", "fld_2"));
    expect(heard).toHaveBeenCalledTimes(1);
  });

  test("[STO6] a listener that throws harms neither the writers, nor other listeners, nor the store", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const heard: number[] = [];
    stage.store.onCommit(() => {
      throw new Error("a bad listener");
    });
    stage.store.onCommit(({ notes }) => heard.push(...notes.map((note) => note.seq)));
    const writes = ["fld_a", "fld_b", "fld_c"].map((id) =>
      stage.store.write({ key: "ws" }, () => announcedFolder("ws", id)),
    );
    await Promise.all(writes);
    const warnings = warned.mock.calls.map(([warning]) => String(warning));
    warned.mockRestore();
    expect(heard).toEqual([1, 2, 3]);
    expect(warnings).toEqual(Array(3).fill("Error: a bad listener"));
    expect((await stage.store.read(() => folders.listFolders("ws"))).length).toBe(3);
  });
});
