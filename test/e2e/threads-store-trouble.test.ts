import { appendFileSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { holdStore } from "../support/hold-store.js";
import { sqliteStore } from "../support/stores.js";
import { line, looks, soon, textMessage, threadStage } from "../support/threads.js";

const { found, said } = looks;
const stage = threadStage(sqliteStore);

test("[THR117] what the store did not take when it stood in the log is told once the store takes it, without anybody asking", async () => {
  const scene = await stage.used();
  scene.foreign("theirs", { log: line(textMessage("m1")) });
  await soon(() => found(scene, "theirs")).toMatchObject({ message_count: 1 });
  const { workspace_id } = scene;
  const release = await holdStore(stage.gateway().place);
  appendFileSync(scene.path("theirs", "messages.jsonl"), line(textMessage("m2", "by another program")));
  const refused = await scene.wire.error("message/append", {
    workspace_id,
    thread_id: "theirs",
    message: { id: "m3", role: "user", content: "refused" },
  });
  expect(refused.data).toMatchObject({ kind: "store.busy" });
  await release();
  const told = () =>
    scene.wire.notifications("message/appended").map(({ params }) => (params.message as { id: string }).id);
  await soon(told).toContain("m2");
  expect(await said(scene, "theirs")).toEqual(expect.arrayContaining(["m1", "m2"]));
  expect(await scene.get("theirs")).not.toHaveProperty("read_only");
  expect(told().filter((id) => id === "m2")).toHaveLength(1);
});

test("[THR117] a message that was refused although it stands in the log is told, too", async () => {
  const scene = await stage.used();
  const { id } = await scene.start({ title: "T" });
  await scene.append(id, "first");
  const { workspace_id } = scene;
  const release = await holdStore(stage.gateway().place);
  const message = { role: "user", content: "refused, and yet it stands there" } as const;
  const refused = await scene.wire.error("message/append", { workspace_id, thread_id: id, message });
  expect(refused.data).toMatchObject({ kind: "store.busy" });
  await release();
  const told = () => scene.wire.notifications("message/appended").map(({ params }) => params.message.content);
  await soon(told).toEqual([
    [{ type: "text", text: "first" }],
    [{ type: "text", text: "refused, and yet it stands there" }],
  ]);
  expect(await scene.get(id)).toMatchObject({ message_count: 2 });
});

test("[THR119] a change that the store does not take is taken back from the file, and is not told later", async () => {
  const scene = await stage.used();
  const { id } = await scene.start({ title: "As it was" });
  const { workspace_id } = scene;
  const file = () => readFileSync(scene.path(id, "thread.json"), "utf8");
  const before = file();
  const release = await holdStore(stage.gateway().place);
  const wanted = { workspace_id, thread_id: id, title: "Refused", pinned: true, attributes: { a: 1 } };
  const refused = await scene.wire.error("thread/update", wanted);
  expect(refused.data).toMatchObject({ kind: "store.busy" });
  expect(file()).toBe(before);
  await release();
  // Told in their order: what would have followed the file has been told before what somebody does now.
  await scene.append(id, "next");
  await soon(() => found(scene, id)).toMatchObject({ title: "As it was", message_count: 1 });
  const titles = scene.wire.notifications("thread/changed").map(({ params }) => params.thread.title);
  expect(titles).not.toContain("Refused");
});
