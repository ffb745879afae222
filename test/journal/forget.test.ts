import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Agents } from "../../src/agents/index.js";
import { composeThreads } from "../../src/app/compose-threads.js";
import { idMaker } from "../../src/base/index.js";
import { collectUnused } from "../../src/prompts/index.js";
import { forgetGone } from "../../src/runs/index.js";
import { replayRun } from "../../src/runs/replay.js";
import { openStore, type Store } from "../../src/store/index.js";
import { locationOf, runSql } from "../contract/support/stage.js";
import { startGateway } from "../support/gateway.js";
import { startModelServer } from "../support/model-server/server.js";
import { agentAt, calls, RunScene, says } from "../support/runs.js";
import { onEachStore, type StoreKind, type StorePlace, temporaryDirectory } from "../support/stores.js";
import { projectDirectory } from "../support/threads.js";

const DAY_MS = 24 * 3600 * 1000;

/** Two threads that were told much the same, one of which was deleted; a third in a workspace that was. */
async function left(kind: StoreKind) {
  const model = await startModelServer();
  const configFile = join(temporaryDirectory(), "heddle.config.json");
  writeFileSync(
    configFile,
    JSON.stringify({ agents: [agentAt(model.url), agentAt(model.url, undefined, { agentId: "second" })] }),
  );
  const gateway = await startGateway(kind, { configFile });
  onTestFinished(() => model.close());
  const scene = await RunScene.over(gateway, model, projectDirectory());
  const other = await RunScene.over(gateway, model, projectDirectory());
  const threads: Record<string, string> = {};
  const runs: Record<string, string> = {};
  for (const [name, where] of Object.entries({ gone: scene, kept: scene, elsewhere: other })) {
    where.plays(calls("system_time"), says(`Said in ${name}.`), says("Said in all of them."));
    const { id } = await where.start();
    threads[name] = id;
    runs[name] = (await where.answered(id, "Asked in all of them.")).id;
    await where.answered(id, `Asked in ${name}.`);
  }
  threads.called = (await scene.start()).id;
  const { workspace_id } = scene;
  const call = (thread_id: string, name: string, given: object) =>
    scene.wire.result("tool/call", { workspace_id, thread_id, name, arguments: { ...given } });
  await call(threads.called, "system_time", {});
  scene.plays("An answer.");
  await call(threads.gone as string, "agents_message", { agentId: "second", content: "A private question" });
  for (const name of ["gone", "called"])
    await scene.wire.result("thread/delete", { thread_id: threads[name] as string });
  await other.wire.result("workspace/delete", { workspace_id: other.workspace_id });
  scene.wire.close();
  other.wire.close();
  await gateway.app.stop();
  onTestFinished(() => gateway.place.remove());
  return { place: gateway.place, threads, runs };
}

/** What the gateway does once a day, that many days from now. */
async function purgeIn(days: number, store: Store, { dataDir }: StorePlace): Promise<void> {
  const clock = { now: () => Date.now() + days * DAY_MS };
  const quiet = () => {};
  const parts = composeThreads({
    store,
    clock,
    makeId: idMaker(clock),
    dataDir,
    log: { warn: quiet, info: quiet, error: quiet, debug: quiet } as never,
    firstLookMs: 0,
    agents: new Agents({ env: {} }),
    childEnv: {},
    project: { read: () => ({ files: [], warnings: [] }), refresh: async () => {} },
  });
  await parts.purge();
  await forgetGone({ store, clock });
  await collectUnused({ store, clock });
  await parts.close();
}

onEachStore("what is forgotten of runs", (kind) => {
  test("[JRN40] with a thread that is gone for good its journal goes, and every blob that nothing else names; what others share stays", async () => {
    const { place, threads, runs } = await left(kind);
    const location = locationOf(kind, place);
    const texts = async () =>
      (await runSql(location, "select content from blob")).map(({ content }) =>
        Buffer.from(content as Uint8Array).toString(),
      );
    const count = async (table: string, name: string) =>
      Number(
        (await runSql(location, `select count(*) as n from ${table} where thread_id = '${threads[name]}'`))[0]
          ?.n,
      );
    const store = await openStore(location);
    onTestFinished(() => store.close());
    const before = await texts();
    await purgeIn(29, store, place);
    expect(await texts()).toEqual(before);
    expect(await count("journal_event", "gone")).toBeGreaterThan(0);
    expect(await runSql(location, "select asked from delegation")).toHaveLength(1);
    await purgeIn(31, store, place);
    // One in which nobody was asked anything, but a tool was called.
    expect(await count("journal_event", "called")).toBe(0);
    expect(await runSql(location, "select asked from delegation")).toEqual([]);
    for (const table of ["journal_event", "run", "history", "blob_use"]) {
      expect(await count(table, "gone"), table).toBe(0);
      expect(await count(table, "elsewhere"), table).toBe(0);
      expect(await count(table, "kept"), table).toBeGreaterThan(0);
    }
    const said = (await texts()).join("\n");
    for (const text of ["Asked in gone.", "Said in gone.", "Asked in elsewhere.", "Said in elsewhere."])
      expect(said).not.toContain(text);
    for (const text of ["Asked in kept.", "Said in kept.", "Asked in all of them.", "Said in all of them."])
      expect(said).toContain(text);
    const run_id = runs.kept as string;
    expect(await replayRun({ store }, { run_id, workspace_id: undefined })).toMatchObject({ verified: true });
    // Every blob that is left is named by what is left.
    await purgeIn(60, store, place);
    expect((await texts()).join("\n")).toBe(said);
  });

  test("[JRN41] what a run has said is kept for as long as it waits, however many days", async () => {
    const model = await startModelServer();
    onTestFinished(() => model.close());
    const configFile = join(temporaryDirectory(), "heddle.config.json");
    const asking = agentAt(model.url, undefined, { toolApprovals: { ask: ["system_time"] } });
    writeFileSync(configFile, JSON.stringify({ agents: [asking] }));
    const gateway = await startGateway(kind, { configFile });
    const directory = projectDirectory();
    const scene = await RunScene.over(gateway, model, directory);
    scene.plays(calls("system_time"), says("Done."));
    const { id } = await scene.start();
    const { run } = await scene.startRun(id, "What time is it?");
    const { approvals = [] } = await scene.changed(run.id, ({ status }) => status === "waiting");
    scene.wire.close();
    await gateway.app.stop();
    const store = await openStore(locationOf(kind, gateway.place));
    await purgeIn(5, store, gateway.place).finally(() => store.close());
    const next = await startGateway({ ...kind, fresh: async () => gateway.place }, { configFile });
    onTestFinished(() => next.stop());
    const wire = await next.wire();
    const tool_call_id = approvals[0]?.tool_call_id ?? "";
    await wire.result("run/approve", { run_id: run.id, tool_call_id, decision: "allow" });
    await expect
      .poll(async () => (await wire.result("run/get", { run_id: run.id })).run.status)
      .toBe("completed");
    expect(await wire.result("run/replay", { run_id: run.id })).toMatchObject({ verified: true });
  });
});
