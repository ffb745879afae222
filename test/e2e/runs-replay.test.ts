import { expect, test } from "vitest";
import { sha256 } from "../../src/base/index.js";
import type { Result } from "../../src/protocol/index.js";
import { literal, RawJournal } from "../support/journal.js";
import { calls, type RunScene, runStage, says, verifyAll } from "../support/runs.js";
import { onEachStore } from "../support/stores.js";

type Replayed = Result<"run/replay">;

onEachStore("replay", (kind) => {
  const stage = runStage(kind, { tampers: true });

  /** A thread with two runs, the first of them with a tool, and its journal. */
  async function played() {
    const scene = await stage.scene();
    scene.plays(calls("system_time"), says("It is late."), says("Good night."));
    await scene.saveDoc("Be brief.");
    const thread = await scene.start();
    const first = await scene.answered(thread.id, "What time is it?");
    const second = await scene.answered(thread.id, "Thank you.");
    await verifyAll(scene);
    const journal = new RawJournal(stage, { workspace_id: scene.workspace_id, thread_id: thread.id });
    return { scene, thread, first, second, journal };
  }

  const replay = (scene: RunScene, run_id: string): Promise<Replayed> =>
    scene.wire.result("run/replay", { run_id });

  test("[JRN20] a run that nobody touched is verified, with how many events and steps it had", async () => {
    const { scene, first, second } = await played();
    const whole = { verified: true, integrity: "ok", fold: "ok", compile: "ok" };
    expect(await replay(scene, first.id)).toEqual({ ...whole, events: 10, steps: 2 });
    expect(await replay(scene, second.id)).toEqual({ ...whole, events: 5, steps: 1 });
    expect((await scene.journal(first.id)).length).toBe(10);
  });

  test("[JRN21] an event changed by one byte breaks integrity, and is named", async () => {
    const { scene, first, second, journal } = await played();
    const events = await journal.events();
    for (const { seq, body } of events.slice(0, 10)) {
      const at = (seq * 37) % body.length;
      const other = body[at] === "7" ? "8" : "7";
      await journal.change(seq, { body: `${body.slice(0, at)}${other}${body.slice(at + 1)}` });
      const replayed = await replay(scene, first.id);
      expect(replayed).toMatchObject({
        verified: false,
        integrity: "failed",
        first_difference: { check: "integrity", where: `event ${seq}` },
      });
      expect(replayed.first_difference?.message).toContain("does not have the hash it was kept with");
      await journal.change(seq, { body });
    }
    expect(await replay(scene, second.id)).toMatchObject({ verified: true });
  });

  test("[JRN22] an event that was written anew with a hash of its own does not fit the one after it", async () => {
    const { scene, first, journal } = await played();
    const [, , third] = await journal.events();
    const { seq = 0, body = "" } = third ?? {};
    const changed = body.replace('"at":1', '"at":2');
    expect(changed).not.toBe(body);
    await journal.change(seq, { body: changed, hash: sha256(changed) });
    expect(await replay(scene, first.id)).toMatchObject({
      verified: false,
      integrity: "failed",
      first_difference: { check: "integrity", where: `event ${seq + 1}` },
    });
  });

  test("[JRN22] a removed event breaks integrity: the first, one in the middle, the last", async () => {
    const { scene, first, second, journal } = await played();
    const events = await journal.events();
    for (const seq of [1, 4, 10]) {
      const { body = "", hash = "" } = events[seq - 1] ?? {};
      await journal.remove(seq);
      const { integrity, verified, first_difference } = await replay(scene, first.id);
      expect({ integrity, verified }).toEqual({ integrity: "failed", verified: false });
      expect(first_difference?.message).toContain(`event ${seq}`);
      const { workspace_id, thread_id } = journal.key;
      const values = [workspace_id, thread_id, seq, body, hash].map(literal).join(", ");
      await journal.sql(
        `insert into journal_event (workspace_id, thread_id, seq, body, hash) values (${values})`,
      );
    }
    expect(await replay(scene, first.id)).toMatchObject({ verified: true });
    await journal.remove(events.length);
    const { first_difference } = await replay(scene, second.id);
    expect(first_difference).toMatchObject({ check: "integrity", where: `event ${events.length}` });
  });

  test("[JRN22] events in another order break integrity, also when they were given each other's numbers", async () => {
    const { scene, first, journal } = await played();
    const [, , , fourth, fifth] = await journal.events();
    if (!fourth || !fifth) throw new Error("there are too few events");
    await journal.change(4, { body: fifth.body, hash: fifth.hash });
    await journal.change(5, { body: fourth.body, hash: fourth.hash });
    expect(await replay(scene, first.id)).toMatchObject({
      integrity: "failed",
      first_difference: { where: "event 4", message: expect.stringContaining("does not say its own number") },
    });
    const renumbered = (body: string, from: number, to: number) =>
      body.replace(`"seq":${from},`, `"seq":${to},`);
    const [a, b] = [renumbered(fifth.body, 5, 4), renumbered(fourth.body, 4, 5)];
    await journal.change(4, { body: a, hash: sha256(a) });
    await journal.change(5, { body: b, hash: sha256(b) });
    expect(await replay(scene, first.id)).toMatchObject({
      integrity: "failed",
      first_difference: { where: "event 4", message: expect.stringContaining("does not follow") },
    });
  });

  test("[JRN23] a changed blob and a missing one break integrity and are named, whatever names them", async () => {
    const { scene, first, journal } = await played();
    await journal.sql("create table kept as select * from blob");
    const { prefix, inputs } = JSON.parse((await journal.events())[1]?.body ?? "");
    const { config, base, sections, tools_ref } = await readValue(scene, inputs);
    const { message_refs } = await scene.manifest(first.id, 2);
    const refs = [inputs, prefix, config, tools_ref, base[0].ref, sections[0].ref, ...message_refs];
    expect(refs).toContain(first && (await scene.context(first.id)).messages.at(-1)?.ref);
    for (const ref of new Set<string>(refs)) {
      const where = `where hash = '${ref.slice("sha256:".length)}'`;
      const named = (what: string) => ({
        verified: false,
        integrity: "failed",
        first_difference: {
          check: "integrity",
          where: `blob ${ref}`,
          message: expect.stringContaining(what),
        },
      });
      const other = kind.name === "sqlite" ? "x'7b7d'" : "'\\x7b7d'";
      await journal.sql(`update blob set content = ${other} ${where}`);
      expect(await replay(scene, first.id)).toMatchObject(named("was changed"));
      await journal.sql(`delete from blob ${where}`);
      expect(await replay(scene, first.id)).toMatchObject(named("is missing"));
      await journal.sql(`insert into blob select * from kept ${where}`);
      expect(await replay(scene, first.id)).toMatchObject({ verified: true });
    }
    await journal.sql("drop table kept");
  });

  test("[JRN24] a changed row of the history breaks integrity, whatever of it was changed; so does a missing one", async () => {
    const { scene, first, second, journal } = await played();
    const row = journal.where("pos = 1");
    const [before] = await journal.sql(`select * from history where ${row}`);
    const [other] = await journal.sql(`select blob_id from history where ${journal.where("pos = 0")}`);
    const values = { blob_id: other?.blob_id, list_hash: "0".repeat(64), role: "user", chars: 1, tokens: 1 };
    for (const [column, value] of Object.entries(values)) {
      await journal.sql(`update history set ${column} = ${literal(value as string)} where ${row}`);
      const replayed = await replay(scene, first.id);
      expect(replayed, column).toMatchObject({ verified: false, integrity: "failed" });
      expect(replayed.first_difference, column).toMatchObject({
        check: "integrity",
        where: "step 2, message 2",
      });
      await journal.sql(`update history set ${column} = ${literal(before?.[column] as string)} where ${row}`);
    }
    await verifyAll(scene);
    for (const pos of [3, 1, 0]) {
      await journal.sql(`delete from history where ${journal.where(`pos = ${pos}`)}`);
      expect(await replay(scene, second.id), `without ${pos}`).toMatchObject({
        verified: false,
        integrity: "failed",
        first_difference: { check: "integrity", where: `step 1, message ${pos + 1}` },
      });
    }
  });

  test("[JRN30] what people, models and tools say is never taken for a reference to a blob", async () => {
    const scene = await stage.scene();
    const ref = `sha256:${"a".repeat(64)}`;
    scene.write("image.txt", `FROM scratch@${ref}\n`);
    scene.plays(
      { steps: [{ text: `I look at ${ref}` }, ...calls("files_read", { path: "image.txt" }).steps] },
      ref,
    );
    const thread = await scene.start();
    await scene.answered(thread.id, ref);
    await verifyAll(scene);
  });

  test("[JRN31] a broken journal of a run that has ended keeps nobody from the next message", async () => {
    const { scene, thread, first, journal } = await played();
    await stage.restart();
    const again = await stage.again(scene);
    await journal.change(5, { body: "not JSON at all" });
    again.plays("Still here.");
    const third = await again.answered(thread.id, "Are you there?");
    expect(await replay(again, third.id)).toMatchObject({ verified: true });
    expect(await replay(again, first.id)).toMatchObject({
      verified: false,
      integrity: "failed",
      fold: "failed",
    });
  });
});

async function readValue(scene: RunScene, ref: string) {
  const { content_base64 } = await scene.wire.result("blob/get", { ref });
  return JSON.parse(Buffer.from(content_base64, "base64").toString());
}
