import { describe, expect, test } from "vitest";
import { isKind } from "../../src/base/index.js";
import { folders, notifications, type Unit, workspaces } from "../../src/store/index.js";
import { onFreshStore, read, stage } from "./support/fresh-store.js";
import { addWorkspace, folderRow, rawStep } from "./support/rows.js";

const withWorkspace = (id: string) => stage().store.write({ key: id }, () => addWorkspace(id));
const folderIds = async (id: string) =>
  (await read(() => folders.listFolders(id))).map((row) => row.id).sort();

function* addFolder(workspace_id: string, id: string): Unit<void> {
  yield* folders.insertFolder(folderRow(workspace_id, id));
}

onFreshStore("atomic units", () => {
  describe("one unit", () => {
    test("[STO1] a unit that throws leaves nothing, and its writer gets that very error", async () => {
      const failure = new Error("no");
      const attempt = stage().store.write({ key: "ws_half" }, function* () {
        yield* addWorkspace("ws_half");
        yield* addFolder("ws_half", "fld_half");
        yield* notifications.announce("ws_half", 1, [{ method: "thread/tree/changed", params: {} }]);
        throw failure;
      });
      await expect(attempt).rejects.toBe(failure);
      for (const table of ["workspace", "thread_folder", "notification"])
        expect(await stage().sql(`select * from ${table}`)).toEqual([]);
    });

    test("[STO1] a unit whose statement is refused leaves nothing, and the store goes on", async () => {
      await withWorkspace("ws_refused");
      const attempt = stage().store.write({ key: "ws_refused" }, function* () {
        yield* addFolder("ws_refused", "fld_first");
        yield* addFolder("ws_refused", "fld_first");
      });
      await expect(attempt).rejects.toThrow();
      expect(await folderIds("ws_refused")).toEqual([]);
      await stage().store.write({ key: "ws_refused" }, () => addFolder("ws_refused", "fld_first"));
      expect(await folderIds("ws_refused")).toEqual(["fld_first"]);
    });

    test("[STO1] whatever a unit throws comes back, also nothing at all", async () => {
      await withWorkspace("ws_undefined");
      const attempts = [undefined, null, 0, "text"].map((thrown, index) =>
        stage().store.write({ key: "ws_undefined" }, function* () {
          yield* addFolder("ws_undefined", `fld_undefined_${index}`);
          throw thrown;
        }),
      );
      const outcomes = await Promise.allSettled(attempts);
      expect(outcomes.map((each) => each.status === "rejected" && each.reason)).toEqual([
        undefined,
        null,
        0,
        "text",
      ]);
      expect(await folderIds("ws_undefined")).toEqual([]);
    });

    test("[STO1] what a unit returns comes back from its write and its read", async () => {
      const unit = function* () {
        return (yield* rawStep("select 1 as one"))[0];
      };
      expect({ ...(await stage().store.write({ key: "any" }, unit)) }).toEqual({ one: 1 });
      expect({ ...(await read(unit)) }).toEqual({ one: 1 });
    });
  });

  test("[STO2] among many writers at once, those that fail fail alone", async () => {
    await withWorkspace("ws_group");
    await stage().store.write({ key: "ws_group" }, () => addFolder("ws_group", "fld_taken"));
    const own = new Error("of the seventh");
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, i) =>
        stage().store.write({ key: i % 2 ? "ws_group" : `other ${i}` }, function* () {
          yield* addFolder("ws_group", `fld_${String(i).padStart(2, "0")}`);
          if (i === 7) throw own;
          if (i === 20) yield* addFolder("ws_group", "fld_taken");
          yield* addFolder("ws_group", `fld_${String(i).padStart(2, "0")}_more`);
          return i;
        }),
      ),
    );
    const failed = outcomes.flatMap((each, i) => (each.status === "rejected" ? [i] : []));
    expect(failed).toEqual([7, 20]);
    expect(outcomes[7]).toEqual({ status: "rejected", reason: own });
    const expected = Array.from({ length: 40 }, (_, i) => i)
      .filter((i) => !failed.includes(i))
      .flatMap((i) => [`fld_${String(i).padStart(2, "0")}`, `fld_${String(i).padStart(2, "0")}_more`]);
    expect(await folderIds("ws_group")).toEqual([...expected, "fld_taken"]);
  });
});

onFreshStore("order", () => {
  test("[STO3] units with one key run in the order they were asked for", async () => {
    await withWorkspace("ws_order");
    const ran: number[] = [];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        stage().store.write({ key: "ws_order" }, function* () {
          const found = yield* folders.listFolders("ws_order");
          ran.push(i);
          yield* addFolder("ws_order", `fld_order_${i}`);
          return found.length;
        }),
      ),
    );
    const inOrder = Array.from({ length: 100 }, (_, i) => i);
    expect(answers).toEqual(inOrder);
    expect(ran).toEqual(inOrder);
  });

  test("[STO3] a unit with several keys waits for all that were asked for before it, and holds up all after", async () => {
    await withWorkspace("ws_keys");
    const ran: string[] = [];
    const write = (key: string | readonly string[], name: string, statements: number) =>
      stage().store.write({ key }, function* () {
        for (let n = 0; n < statements; n++) yield* rawStep("select 1");
        ran.push(name);
      });
    await Promise.all([
      write("a", "a1", 40),
      write("b", "b1", 80),
      write(["a", "b"], "both", 20),
      write("a", "a2", 1),
      write("b", "b2", 1),
    ]);
    expect([ran.slice(0, 2).sort(), ran[2], ran.slice(3).sort()]).toEqual([
      ["a1", "b1"],
      "both",
      ["a2", "b2"],
    ]);
  });

  test("[STO4] notifications of a workspace are numbered without gaps and told in that order: 200 writers, 5 workspaces", async () => {
    const names = ["ws_n0", "ws_n1", "ws_n2", "ws_n3", "ws_n4"];
    for (const name of names) await withWorkspace(name);
    const told: { workspace_id: string; seq: number; origin: unknown }[] = [];
    const stop = stage().store.onCommit(({ notes, origin }) => {
      for (const { workspace_id, seq } of notes) told.push({ workspace_id, seq, origin });
    });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 200 }, (_, i) => {
        const id = names[i % 5] as string;
        return stage().store.write({ key: id, origin: i }, function* () {
          yield* workspaces.lockWorkspace(id);
          yield* addFolder(id, `fld_n_${i}`);
          const twice = Array(1 + (i % 3)).fill({ method: "thread/tree/changed", params: { i } });
          yield* notifications.announce(id, 1, twice);
          if (i % 20 === 19) throw new Error("every twentieth");
        });
      }),
    );
    stop();
    expect(outcomes.filter((each) => each.status === "rejected").length).toBe(10);
    for (const [n, id] of names.entries()) {
      const mine = told.filter((note) => note.workspace_id === id);
      expect(mine.map((note) => note.seq)).toEqual(mine.map((_, i) => i + 1));
      const origins = Array.from({ length: 200 }, (_, i) => i).filter((i) => i % 5 === n && i % 20 !== 19);
      expect([...new Set(mine.map((note) => note.origin))]).toEqual(origins);
      const log = await read(() => notifications.notificationsAfter(id, 0, 1_000));
      expect(log.map((row) => [row.seq, JSON.parse(row.params).i])).toEqual(
        mine.map((note) => [note.seq, note.origin]),
      );
    }
  });
});

onFreshStore("snapshots and closing", () => {
  test("[STO7] a read of several statements never sees half of a write", async () => {
    await withWorkspace("ws_pair");
    await stage().store.write({ key: "ws_pair" }, function* () {
      for (const id of ["fld_left", "fld_right"])
        yield* folders.insertFolder(folderRow("ws_pair", id, { name: "0" }));
    });
    const nameOf = function* (id: string): Unit<string | undefined> {
      return (yield* folders.findFolder("ws_pair", id))?.name;
    };
    const reads: Promise<(string | undefined)[]>[] = [];
    const writes: Promise<unknown>[] = [];
    for (let i = 1; i <= 60; i++) {
      writes.push(
        stage().store.write({ key: "ws_pair" }, function* () {
          yield* folders.updateFolder("fld_left", { name: String(i) });
          yield* folders.updateFolder("fld_right", { name: String(i) });
        }),
      );
      reads.push(
        read(function* () {
          const seen = [yield* nameOf("fld_left")];
          for (let j = 0; j < 10; j++) seen.push(yield* nameOf("fld_right"), yield* nameOf("fld_left"));
          return seen;
        }),
      );
      if (i % 10 === 0) await writes.at(-1);
    }
    for (const seen of await Promise.all(reads)) expect(new Set(seen).size).toBe(1);
    await Promise.all(writes);
    expect(await read(() => nameOf("fld_right"))).toBe("60");
  });

  test("[STO8] closing waits for what was asked for, and what comes later is refused", async () => {
    await withWorkspace("ws_close");
    const asked = Array.from({ length: 30 }, (_, i) =>
      stage().store.write({ key: "ws_close" }, () => addFolder("ws_close", `fld_close_${i}`)),
    );
    const closed = stage().store.close();
    expect((await Promise.allSettled(asked)).filter((each) => each.status === "rejected")).toEqual([]);
    await closed;
    const late = await stage()
      .store.write({ key: "ws_close" }, () => addFolder("ws_close", "late"))
      .catch((e) => e);
    expect(isKind(late, "store.unavailable")).toBe(true);
    expect(isKind(await read(() => rawStep("select 1")).catch((e) => e), "store.unavailable")).toBe(true);
    await stage().store.close();
    expect(
      (await stage().sql("select count(*) as n from thread_folder where workspace_id = 'ws_close'"))[0]?.n,
    ).toEqual(stage().kind === "sqlite" ? 30 : "30");
  });
});
