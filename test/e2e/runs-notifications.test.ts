import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Run } from "../../src/protocol/index.js";
import { postCall } from "../support/http.js";
import { calls, type RunScene, runStage, says, waitOn } from "../support/runs.js";
import { onEitherStore } from "../support/stores.js";
import type { Notification, Wire } from "../support/wire.js";

/** What came, in order: answers, and notifications with what tells them apart. */
function account(wire: Wire): string[] {
  return wire.received.map((each) => {
    if (!("method" in each)) return "answer";
    const { method, params } = each;
    if (method === "run/changed") return `${method} ${params.run.status}`;
    if (method === "message/appended") return `${method} ${params.message.role}`;
    if (method === "thread/changed") return `${method} ${params.thread.status}`;
    return method;
  });
}

const isEnd = ({ method, params }: Notification, run_id: string) =>
  method === "run/changed" && params.run.id === run_id && params.run.ended_at !== undefined;

const told = (wire: Wire, run_id: string) =>
  waitOn(wire, () => wire.notifications().find((note) => isEnd(note, run_id)), `the end of ${run_id}`);

const durable = (wire: Wire) => wire.notifications().filter(({ params }) => params.seq !== undefined);

async function follower(
  stage: ReturnType<typeof runStage>,
  scene: RunScene,
  after_seq?: number,
): Promise<Wire> {
  const wire = await stage.gateway().wire();
  await wire.result("subscribe", { workspace_id: scene.workspace_id, after_seq });
  return wire;
}

onEitherStore("what clients are told of runs", (kind) => {
  const stage = runStage(kind);

  test("[RUN100] the answer comes first, then the run, its question, its answer and its end, numbered", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const [mine, other] = [await stage.gateway().wire(), await follower(stage, scene)];
    scene.plays(says("Hello."));
    const { workspace_id } = scene;
    const { run } = await mine.result("run/start", { workspace_id, thread_id: id, content: "Hi" });
    await Promise.all([told(mine, run.id), told(other, run.id)]);
    const notes = [
      "run/changed running",
      "message/appended user",
      "thread/changed running",
      "thread/tree/changed",
      "message/appended agent",
      "thread/changed idle",
      "thread/tree/changed",
      "run/changed completed",
    ];
    expect(account(mine)).toEqual(["answer", ...notes]);
    expect(account(other)).toEqual(["answer", ...notes]);
    const seqs = durable(mine).map(({ params }) => params.seq);
    expect(seqs).toEqual(seqs.map((_, at) => seqs[0] + at));
    expect(durable(other)).toEqual(durable(mine));
    const [began, asked, , , answered] = durable(mine).map(({ params }) => params);
    expect(began.run).toEqual(run);
    expect([asked.message.id, answered.message.id]).toEqual([run.user_message_id, run.agent_message_id]);
    expect(asked).toMatchObject({ workspace_id, thread_id: id, message: { run_id: run.id } });
  });

  test("[RUN100] a message that waits, an edit and a removal are told as such", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    scene.plays({ steps: [{ gate: "told" }, { text: "One." }] });
    const { run } = await scene.startRun(id, "one");
    await scene.model.request(0);
    const wire = await follower(stage, scene);
    const second = await scene.startRun(id, "two");
    const run_id = second.run.id;
    await scene.wire.result("run/update", { run_id, content: "better" });
    await scene.wire.result("run/cancel", { run_id });
    scene.model.open("told");
    await told(wire, run.id);
    const heard = wire.notifications("run/changed").map(({ params }) => params.run);
    expect(heard.map(({ number, status, content }) => [number, status, content])).toEqual([
      [2, "queued", "two"],
      [2, "queued", "better"],
      [2, "cancelled", undefined],
      [1, "completed", undefined],
    ]);
  });

  test("[RUN101] steps are no news of their own: a run is told of when it is admitted, begins and ends", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const wire = await follower(stage, scene);
    scene.plays(calls("system_time"), calls("system_time"), says("Late."));
    const run = await scene.answered(id, "When?");
    await told(wire, run.id);
    expect(account(wire).filter((each) => each.startsWith("run/"))).toEqual([
      "run/changed running",
      "run/changed completed",
    ]);
    expect(wire.notifications("message/appended")).toHaveLength(2);
  });

  test("[RUN102] who is told of something finds it on disk and in the store", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const wire = await follower(stage, scene);
    const log = scene.path(id, "messages.jsonl");
    const seen: [string, number][] = [];
    wire.socket.on("message", (data) => {
      const { method, params } = JSON.parse(String(data));
      const lines = () => readFileSync(log, "utf8").split("\n").length - 1;
      if (method === "message/appended") seen.push([params.message.role, lines()]);
      if (method === "run/changed" && params.run.ended_at) seen.push([params.run.status, lines()]);
    });
    scene.plays(says("One."), { steps: [{ status: 400, body: "no" }] });
    const runs = [await scene.ask(id, "one"), await scene.ask(id, "two")];
    await told(wire, runs[1]?.id as string);
    expect(seen).toEqual([
      ["user", 1],
      ["agent", 2],
      ["completed", 2],
      ["user", 3],
      ["failed", 3],
    ]);
    for (const run of runs) expect(await scene.getRun(run.id)).toEqual(run);
  });

  test("[RUN103] after a reconnect nothing is missed and nothing comes twice", async () => {
    const scene = await stage.scene();
    const threads = [await scene.start({ title: "A" }), await scene.start({ title: "B" })];
    const steady = await follower(stage, scene);
    const { seq } = await scene.wire.result("subscribe", { workspace_id: scene.workspace_id });
    scene.plays({ repeat: true, steps: [{ text: ["so", " it", " is."] }] });
    const heard: Notification[] = [];
    let last = seq;
    let runs: Run[] = [];
    for (let round = 0; round < 6; round++) {
      const wire = await follower(stage, scene, last);
      const started = await Promise.all(threads.map(({ id }) => scene.startRun(id, `round ${round}`)));
      if (round % 2 === 0) await new Promise((resolve) => setTimeout(resolve, round * 5));
      else await Promise.all(started.map(({ run }) => told(wire, run.id)));
      wire.close();
      heard.push(...durable(wire));
      last = heard.at(-1)?.params.seq ?? last;
      runs = await Promise.all(started.map(({ run }) => scene.ended(run.id)));
    }
    const { seq: end } = await scene.wire.result("subscribe", { workspace_id: scene.workspace_id });
    const wire = await follower(stage, scene, last);
    for (const each of [wire, steady]) {
      const arrived = () => (durable(each).at(-1)?.params.seq ?? last) === end || undefined;
      await waitOn(each, arrived, "the last of them");
    }
    heard.push(...durable(wire));
    expect(heard).toEqual(durable(steady));
    expect(heard.map(({ params }) => params.seq)).toEqual(heard.map((_, at) => seq + 1 + at));
    expect(heard.filter((note) => runs.some(({ id }) => isEnd(note, id)))).toHaveLength(2);
  });

  test("[RUN103] who reconnects after a restart hears of the run it lost", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const { seq } = await scene.wire.result("subscribe", { workspace_id: scene.workspace_id });
    scene.plays({ steps: [{ text: "Half" }, { hang: true }] });
    const { run } = await scene.startRun(id, "Go");
    await scene.model.request(0);
    await stage.restart();
    const again = await stage.again(scene);
    const wire = await follower(stage, again, seq);
    await told(wire, run.id);
    const statuses = wire.notifications("run/changed").map(({ params }) => params.run.status);
    expect(statuses).toEqual(["running", "interrupted"]);
    expect(wire.notifications("message/appended").map(({ params }) => params.message.role)).toEqual([
      "user",
      "agent",
    ]);
  });

  test("[RUN104] a run asked for over plain HTTP is answered once it is durable, and told to whoever follows", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const wire = await follower(stage, scene);
    scene.plays(says("Hello."));
    const params = { workspace_id: scene.workspace_id, thread_id: id, content: "Hi" };
    const { result } = await postCall(stage.gateway(), "run/start", params);
    const { run } = result as { run: Run };
    await told(wire, run.id);
    expect(account(wire)).toContain("run/changed completed");
  });
});
