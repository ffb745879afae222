import { expect, test } from "vitest";
import { agentNamed, playByAgent, requestsOf } from "../support/agents.js";
import { runStage, says, waitOn } from "../support/runs.js";
import { onEachStore } from "../support/stores.js";

const MANY = 1_000;
const ROUNDS = 5;

const config = (url: string) => ({
  agents: [
    agentNamed(url, "general"),
    agentNamed(url, "journal"),
    { agentId: "keyless", chat: { provider: "anthropic", model: "x" } },
  ],
});

onEachStore("threads as sessions", (kind) => {
  const stage = runStage(kind, { config });

  test("[SES3] a switch opens the latest thread of an agent, or makes the first one, and says which", async () => {
    const scene = await stage.scene();
    const { workspace_id, wire } = scene;
    const first = await wire.result("thread/switch", { workspace_id, agent_id: "journal" });
    expect(first).toMatchObject({ created: true, thread: { agent_id: "journal", workspace_id } });
    expect(first.run).toBeUndefined();
    const again = await wire.result("thread/switch", { workspace_id, agent_id: "journal" });
    expect(again).toMatchObject({ created: false, thread: { id: first.thread.id } });
    const named = await wire.result("thread/switch", { workspace_id, thread_id: first.thread.id });
    expect(named).toMatchObject({ created: false, thread: { id: first.thread.id } });
  });

  test("[SES4] [SES5] a switch with a message sends it there, remembers the way back, and stays in the same folder", async () => {
    const scene = await stage.scene();
    const { workspace_id, wire } = scene;
    const { folder } = await wire.result("thread/folder/create", { workspace_id, name: "Area" });
    const from = await scene.start({ agent_id: "general", folder_id: folder.id });
    await scene.saveDoc("Speak softly.", folder.id);
    playByAgent(scene.model, { journal: ["let us talk"], general: ["welcome back"] });
    const there = await wire.result("thread/switch", {
      workspace_id,
      agent_id: "journal",
      message: "discuss X",
      return_to: from.id,
    });
    expect(there).toMatchObject({
      created: true,
      thread: { folder_id: folder.id, attributes: { returnTo: from.id } },
      run: { agent_id: "journal" },
    });
    await scene.ended(there.run?.id as string);
    const told = requestsOf(scene.model, "journal")[0]?.messages ?? [];
    expect(told.at(-1)).toMatchObject({ role: "user", content: "discuss X" });
    expect(JSON.stringify(told)).toContain("Speak softly.");
    const back = await wire.result("thread/switch", {
      workspace_id,
      thread_id: there.thread.attributes?.returnTo as string,
      message: "we decided Y",
    });
    expect(back.thread.id).toBe(from.id);
    expect(await scene.ended(back.run?.id as string)).toMatchObject({ status: "completed" });
  });

  test("[SES6] a switch that can't be done says why and leaves no thread behind", async () => {
    const scene = await stage.scene();
    const elsewhere = await stage.scene();
    const { workspace_id, wire } = scene;
    const mine = await scene.start({ agent_id: "general" });
    const gone = await scene.start({ agent_id: "general" });
    await wire.result("thread/delete", { thread_id: gone.id });
    const foreign = await elsewhere.start({ agent_id: "general" });
    const before = (await wire.result("thread/list", { workspace_id })).data.length;
    const refused = async (params: object) =>
      (await wire.error("thread/switch", { workspace_id, ...params })).data.kind;
    expect(await refused({ agent_id: "nobody" })).toBe("agent.not_found");
    expect(await refused({ agent_id: "keyless" })).toBe("agent.unavailable");
    expect(await refused({ thread_id: gone.id })).toBe("thread.not_found");
    expect(await refused({ thread_id: foreign.id })).toBe("thread.not_found");
    expect(await refused({ agent_id: "journal", return_to: foreign.id })).toBe("thread.not_found");
    expect(await refused({})).toBe("invalid_params");
    expect(await refused({ agent_id: "journal", thread_id: mine.id })).toBe("invalid_params");
    expect(await refused({ agent_id: "journal", message: " " })).toBe("invalid_params");
    expect((await wire.result("thread/list", { workspace_id })).data).toHaveLength(before);
  });

  test("[SES8] clearing keeps who and what a thread is; a deleted one is nobody's latest", async () => {
    const scene = await stage.scene();
    const { workspace_id, wire } = scene;
    const { id } = await scene.start({ agent_id: "journal", title: "Diary" });
    playByAgent(scene.model, { journal: ["dear diary", "a new one"] });
    await scene.answered(id, "begin");
    await wire.result("thread/update", { thread_id: id, attributes: { mood: "calm" } });
    const { thread } = await wire.result("thread/clear", { thread_id: id });
    expect(thread).toMatchObject({
      title: "Diary",
      agent_id: "journal",
      message_count: 0,
      attributes: { mood: "calm" },
    });
    await scene.answered(id, "again");
    expect(
      requestsOf(scene.model, "journal")
        .at(-1)
        ?.messages.filter(({ role }) => role === "user"),
    ).toHaveLength(1);
    await wire.result("thread/delete", { thread_id: id });
    const { created } = await wire.result("thread/switch", { workspace_id, agent_id: "journal" });
    expect(created).toBe(true);
  });
});

const single = runStage(undefined, { config });

test("[SES1] [SES7] the latest is the one that was updated last: by a name, a pin, attributes or a message, not by a look", async () => {
  const scene = await single.scene();
  const { workspace_id, wire } = scene;
  const latest = async () =>
    (await wire.result("thread/switch", { workspace_id, agent_id: "journal" })).thread.id;
  const start = async () => (await scene.start({ agent_id: "journal" })).id;
  const [named, pinned, marked, asked] = [await start(), await start(), await start(), await start()];
  const changes = [
    [named, { title: "Mine" }],
    [pinned, { pinned: true }],
    [marked, { attributes: { panel: "p1" } }],
  ] as const;
  for (const [thread_id, change] of changes) {
    await later();
    await wire.result("thread/update", { thread_id, ...change });
    await scene.start({ agent_id: "general" });
    await wire.result("thread/get", { thread_id: asked });
    await wire.result("thread/messages", { thread_id: asked });
    expect(await latest()).toBe(thread_id);
  }
  await later();
  playByAgent(scene.model, { journal: ["an answer to remember"] });
  await scene.answered(asked, "hello");
  expect(await latest()).toBe(asked);
  expect((await scene.get(asked)).last_snippet).toContain("an answer to remember");
});

/** Times are whole seconds on the wire. */
const later = () => new Promise((resolve) => setTimeout(resolve, 1_050));

const many = runStage(undefined, {
  config: () => ({
    agents: Array.from({ length: MANY }, (_, at) => ({
      agentId: `a${at}`,
      chat: { provider: "demo", model: "demo" },
    })),
  }),
});

test("[SES2] two callers at the same instant get one thread, 1,000 times", { timeout: 120_000 }, async () => {
  const scene = await many.scene();
  const { workspace_id } = scene;
  const other = await many.gateway().wire();
  const outcomes: string[] = [];
  for (let at = 0; at < MANY; at += 1) {
    const params = { workspace_id, agent_id: `a${at}` };
    const [mine, theirs] = await Promise.all([
      scene.wire.result("thread/switch", params),
      other.result("thread/switch", params),
    ]);
    outcomes.push(`${mine.thread.id === theirs.thread.id} ${Number(mine.created) + Number(theirs.created)}`);
  }
  expect(new Set(outcomes)).toEqual(new Set(["true 1"]));
  expect((await scene.wire.result("thread/tree", { workspace_id })).threads).toHaveLength(MANY);
  other.close();
});

const roomy = runStage(undefined, {
  config: (url) => ({ agents: Array.from({ length: ROUNDS }, (_, at) => agentNamed(url, `a${at}`)) }),
  options: { limits: { messageBytes: 32 * 1024 * 1024 } },
});

test("[SES6] [SES9] a switch that is refused takes its thread away, unless somebody else has begun something there", {
  timeout: 60_000,
}, async () => {
  const scene = await roomy.scene();
  const { workspace_id, wire } = scene;
  const other = await roomy.gateway().wire();
  const message = "x".repeat(17 * 1024 * 1024);
  roomy.model().play(() => says("Here."));
  const { id: return_to } = await scene.start({ agent_id: "a0" });
  const used = [return_to];
  for (let at = 1; at < ROUNDS; at += 1) {
    const agent_id = `a${at}`;
    const made = () =>
      wire.notifications("thread/changed").find(({ params }) => params.thread.agent_id === agent_id);
    const refused = wire.error("thread/switch", { workspace_id, agent_id, message, return_to });
    await waitOn(wire, made, `the thread of ${agent_id}`);
    if (at % 2 === 1) {
      const { run } = await other.result("thread/switch", { workspace_id, agent_id, message: "hello" });
      expect(await scene.ended(run?.id as string)).toMatchObject({ status: "completed" });
      used.push(run?.thread_id as string);
    }
    expect((await refused).data.kind).toBe("run.input_too_large");
  }
  const left = async () => (await wire.result("thread/tree", { workspace_id })).threads.map(({ id }) => id);
  expect((await left()).sort()).toEqual(used.sort());
  other.close();
});
