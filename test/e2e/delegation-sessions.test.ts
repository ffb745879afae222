import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { answerTo, playByAgent, requestsOf } from "../support/agents.js";
import { delegates, delegationConfig, runsOf } from "../support/delegation.js";
import { type RunScene, runStage } from "../support/runs.js";
import { onEitherStore } from "../support/stores.js";

onEitherStore("the session of a delegation", (kind) => {
  const stage = runStage(kind, { config: delegationConfig(["general", "notes", "other"]) });

  /** What general is told when it asks notes with this session. */
  async function ask(scene: RunScene, session: string | undefined, from?: string): Promise<unknown> {
    const id = from ?? (await scene.start({ agent_id: "general" })).id;
    const args = { agentId: "notes", content: "note this", ...(session !== undefined && { session }) };
    playByAgent(scene.model, { general: [delegates(args), "done"], notes: ["noted"] });
    scene.model.forget();
    await scene.answered(id, "go");
    return answerTo(scene.model, "general");
  }

  async function threadsOf(scene: RunScene, agent_id: string): Promise<string[]> {
    const { threads } = await scene.tree();
    return threads.filter((thread) => thread.agent_id === agent_id).map(({ id }) => id);
  }

  test("[DEL10] latest without any thread of the agent is refused with what to do, and makes none", async () => {
    const scene = await stage.scene();
    expect(await ask(scene, "latest")).toBe(
      "There is no thread of notes yet. Use latest-or-create, or create.",
    );
    expect(await threadsOf(scene, "notes")).toEqual([]);
  });

  test("[DEL11] latest is the most recently updated thread of the agent in the caller's workspace, whichever is the newest", async () => {
    const scene = await stage.scene();
    const elsewhere = await stage.scene();
    const old = await scene.start({ agent_id: "notes" });
    const newer = await scene.start({ agent_id: "notes" });
    // Times are in seconds.
    await sleep(1_100);
    await scene.append(old.id, "something happens here");
    await elsewhere.start({ agent_id: "notes" });
    for (const session of ["latest", "latest-or-create", undefined])
      expect(await ask(scene, session)).toMatchObject({ sessionId: old.id, created: false });
    await scene.wire.result("thread/delete", { workspace_id: scene.workspace_id, thread_id: old.id });
    expect(await ask(scene, "latest")).toMatchObject({ sessionId: newer.id, created: false });
  });

  test("[DEL12] create makes a thread each time; latest-or-create, the default, only where there is none", async () => {
    const scene = await stage.scene();
    const first = (await ask(scene, undefined)) as { sessionId: string };
    expect(first).toMatchObject({ created: true });
    expect(await ask(scene, undefined)).toMatchObject({ created: false, sessionId: first.sessionId });
    const other = (await ask(scene, "create")) as { sessionId: string };
    expect(other).toMatchObject({ created: true });
    expect(other.sessionId).not.toBe(first.sessionId);
    expect(await threadsOf(scene, "notes")).toHaveLength(2);
  });

  test("[DEL13] callers that find no thread at the same moment make one, and are answered one after the other", async () => {
    const scene = await stage.scene();
    const args = { agentId: "notes", content: "note this" };
    const callers = await Promise.all([1, 2].map(() => scene.start({ agent_id: "general" })));
    playByAgent(scene.model, {
      general: [delegates(args, args), delegates(args, args), "done", "done"],
      notes: ["one", "two", "three", "four"],
    });
    await Promise.all(callers.map(({ id }) => scene.answered(id, "go")));
    expect(await threadsOf(scene, "notes")).toHaveLength(1);
    const runs = await runsOf(scene, "notes");
    expect(runs.map(({ number, status }) => `${number} ${status}`)).toEqual(
      [1, 2, 3, 4].map((number) => `${number} completed`),
    );
  });

  test("[DEL14] any other text is the id of a thread, which must be there, in this workspace, and the agent's own", async () => {
    const scene = await stage.scene();
    const elsewhere = await stage.scene();
    const mine = await scene.start({ agent_id: "notes" });
    await scene.start({ agent_id: "notes" });
    expect(await ask(scene, mine.id)).toMatchObject({ sessionId: mine.id, created: false });
    const others = await scene.start({ agent_id: "other" });
    expect(await ask(scene, others.id)).toBe(`The thread ${others.id} is one of other, not of notes.`);
    const away = await elsewhere.start({ agent_id: "notes" });
    await scene.wire.result("thread/delete", { workspace_id: scene.workspace_id, thread_id: mine.id });
    const asked = (await scene.runs()).filter(({ agent_id }) => agent_id !== "general").length;
    for (const gone of [mine.id, away.id, "thr_nothing", "Latest", "../.."])
      expect(String(await ask(scene, gone)), gone).toMatch(/no thread|not found|There is no/i);
    expect((await scene.runs()).filter(({ agent_id }) => agent_id !== "general")).toHaveLength(asked);
    expect(await elsewhere.runs()).toEqual([]);
  });

  test("[DEL15] a thread that is made stands beside the caller's, and the same AGENTS.md is in effect", async () => {
    const scene = await stage.scene();
    const folder = await scene.folder("Research");
    await scene.saveDoc("Everywhere.");
    await scene.saveDoc("Only in research.", folder);
    const caller = await scene.start({ agent_id: "general", folder_id: folder });
    const { sessionId } = (await ask(scene, undefined, caller.id)) as { sessionId: string };
    const made = await scene.get(sessionId);
    expect(made).toMatchObject({ folder_id: folder, parent_thread_id: caller.id });
    const told = JSON.stringify(requestsOf(scene.model, "notes")[0]?.messages);
    expect(told).toContain("Only in research.");
    expect(told).not.toContain("Everywhere.");
  });
});
