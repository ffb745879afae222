import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { old, only, take, talk } from "../imports/stage.js";
import { startGateway } from "../support/gateway.js";
import { agentAt, runStage } from "../support/runs.js";
import { onEachStore, sqliteStore, temporaryDirectory } from "../support/stores.js";
import { projectDirectory, ThreadScene } from "../support/threads.js";

onEachStore("continuing an imported session", (kind) => {
  const home = temporaryDirectory();
  const stage = runStage(kind, { options: { sessionEnv: { HOME: home } } });

  test("[IMP77] a run on the thread gets what was said and done in the session, images included", async () => {
    const scene = await stage.scene();
    talk(home, scene.root);
    const { thread_id } = only(await take(scene, { from: "claude" }));
    expect((await scene.get(thread_id)).agent_id).toBe("openai-compatible");
    scene.plays("I go on.");
    await scene.answered(thread_id, "And now?");
    const { messages } = JSON.parse(await scene.received(0)) as { messages: { role: string }[] };
    expect(messages.filter(({ role }) => role !== "system")).toMatchObject([
      { role: "user", content: [{ type: "text", text: "Look" }, { type: "image_url" }] },
      {
        role: "assistant",
        content: "I look.",
        tool_calls: [{ id: "t1", function: { name: "Read", arguments: '{"p":1}' } }],
      },
      { role: "tool", tool_call_id: "t1", content: "found it" },
      { role: "assistant", content: "Done." },
      { role: "user", content: expect.stringContaining("And now?") },
    ]);
  });

  test("[IMP62] [IMP77] what the session has after that run does not get between it and the thread", async () => {
    const scene = await stage.scene();
    const session = talk(home, scene.root);
    const { thread_id } = only(await take(scene, { from: "claude" }));
    scene.plays("I go on.", "I went on.");
    await scene.answered(thread_id, "And now?");
    session.user("e", "d", "In the other tool").save();
    old(session);
    const aside = only(await take(scene, { from: "claude" }));
    expect(aside.thread_id).not.toBe(thread_id);
    await scene.answered(thread_id, "Once more");
    expect(await scene.received(1)).not.toContain("In the other tool");
  });
});

test("[IMP74] a thread belongs to the agent that is its tool, where there is one", async () => {
  const home = temporaryDirectory();
  const configFile = join(temporaryDirectory(), "heddle.config.json");
  const mine = {
    agentId: "mine",
    displayName: "Mine",
    chat: { provider: "claude-cli", config: { command: "/bin/true" } },
  };
  writeFileSync(configFile, JSON.stringify({ agents: [agentAt("http://127.0.0.1:9"), mine] }));
  const gateway = await startGateway(sqliteStore, { configFile, sessionEnv: { HOME: home } });
  try {
    const scene = await ThreadScene.at(gateway, projectDirectory());
    talk(home, scene.root);
    const { thread_id } = only(await take(scene, { from: "claude" }));
    expect(scene.envelope(thread_id).agent).toEqual({
      id: "mine",
      name: "Mine",
      protocol: "custom",
      version: "2.1.0",
    });
  } finally {
    await gateway.stop();
  }
});
