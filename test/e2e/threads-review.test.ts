import { appendFileSync, cpSync, rmSync } from "node:fs";
import { expect, test } from "vitest";
import { onEitherStore } from "../support/stores.js";
import { line, type ThreadScene, textMessage, threadStage } from "../support/threads.js";

/** Every wait here is for something that must happen within a second. */
const SOON = { timeout: 3_000, interval: 50 };

onEitherStore("what a second look found", (kind) => {
  const stage = threadStage(kind);

  test("[THR110] a change counts although the file was stamped by a clock that is ahead", async () => {
    const scene = await stage.used();
    const { id } = await scene.start({ title: "T" });
    const ahead = new Date(Date.now() + 600_000).toISOString();
    scene.edit(id, (envelope) => {
      envelope.metadata.heddle.updatedAt = ahead;
    });
    await scene.wire.result("workspace/reindex", { workspace_id: scene.workspace_id });
    const changed = await scene.update(id, { title: "U", pinned: true, attributes: { a: 1 } });
    expect(changed).toMatchObject({ title: "U", pinned_at: expect.any(Number), attributes: { a: 1 } });
    expect(scene.envelope(id)).toMatchObject({ title: "U", metadata: { heddle: { attributes: { a: 1 } } } });
    expect(Date.parse(scene.envelope(id).metadata.heddle.updatedAt)).toBeGreaterThan(Date.parse(ahead));
    await scene.append(id, "x");
    expect((await scene.wire.result("thread/clear", { thread_id: id })).thread.message_count).toBe(0);
    expect((await scene.get(id)).title).toBe("U");
  });

  test("[THR111] a thread is named after its first user message, whoever wrote it", async () => {
    const scene = await stage.used();
    const { id } = await scene.start();
    appendFileSync(scene.path(id, "messages.jsonl"), line(textMessage("m1", "Asked elsewhere\nmore")));
    await expect.poll(async () => (await scene.get(id)).title, SOON).toBe("Asked elsewhere");
    await scene.append(id, "Asked here");
    expect((await scene.get(id)).title).toBe("Asked elsewhere");
    expect(scene.envelope(id).title).toBe("Asked elsewhere");
  });

  test("[THR112] a program that drops our values may rename a thread all the same", async () => {
    const scene = await stage.used();
    const { id } = await scene.start({ title: "Ours" });
    await scene.update(id, { pinned: true });
    scene.edit(id, (envelope) => {
      envelope.title = "Theirs";
      delete envelope.metadata;
    });
    await expect.poll(async () => scene.envelope(id).metadata?.heddle?.pinnedAt, SOON).toBeTypeOf("string");
    await expect
      .poll(async () => scene.get(id), SOON)
      .toMatchObject({ title: "Theirs", pinned_at: expect.any(Number) });
  });

  test("[THR113] very many messages at once are counted and found, but not told one by one", async () => {
    const scene = await stage.used();
    const { id } = await scene.start({ title: "T" });
    const many = Array.from({ length: 500 }, (_, n) => line(textMessage(`m${n}`, `bulk ${n}`)));
    appendFileSync(scene.path(id, "messages.jsonl"), many.join(""));
    await expect.poll(async () => (await scene.get(id)).message_count, SOON).toBe(500);
    const told = scene.wire.notifications("message/appended").filter(({ params }) => params.thread_id === id);
    expect(told).toEqual([]);
    expect(await scene.found("bulk 499")).toEqual(["m499"]);
    appendFileSync(scene.path(id, "messages.jsonl"), line(textMessage("last", "one more")));
    await expect.poll(() => appendedIds(scene, id), SOON).toEqual(["last"]);
  });

  test("[THR114] an id in a log that is not searchable yet is found all the same", async () => {
    const scene = await stage.used();
    const { id } = await scene.start({ title: "T" });
    appendFileSync(
      scene.path(id, "messages.jsonl"),
      line({ ...textMessage("known", "hello"), role: "user" }),
    );
    const again = await scene.append(id, { id: "known", role: "user", content: "hello" });
    expect(again).toMatchObject({ id: "known", timestamp: "2026-01-02T03:04:05.000Z" });
    expect(scene.lines(id)).toHaveLength(1);
  });

  test("[THR115] a thread that is deleted and put back at once is followed as before", async () => {
    const scene = await stage.used();
    const { id } = await scene.start({ title: "T" });
    await scene.append(id, "hello");
    cpSync(scene.path(id), `${scene.root}/copy`, { recursive: true });
    rmSync(scene.path(id), { recursive: true });
    cpSync(`${scene.root}/copy`, scene.path(id), { recursive: true });
    await new Promise((resolve) => setTimeout(resolve, 500));
    appendFileSync(scene.path(id, "messages.jsonl"), line(textMessage("later", "and on")));
    await expect
      .poll(async () => (await scene.list()).map(({ message_count }) => message_count), SOON)
      .toEqual([2]);
  });
});

function appendedIds(scene: ThreadScene, thread_id: string): string[] {
  return scene.wire
    .notifications("message/appended")
    .filter(({ params }) => params.thread_id === thread_id)
    .map(({ params }) => params.message.id);
}
