import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentAt, calls, runStage, says, verifyAll } from "../support/runs.js";
import { onEitherStore } from "../support/stores.js";

const plugins = { artifacts: { enabled: false }, agents: { enabled: false } };

onEitherStore("hands", (kind) => {
  const stage = runStage(kind, {
    config: (url) => ({ plugins, agents: [agentAt(url, undefined, { toolApprovals: { allow: ["*"] } })] }),
  });

  test("[FIL16] what a run writes and edits is recorded as a diff on its tool calls", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays(
      calls("files_write", { path: "src/a.txt", content: "one\n" }, "call_1"),
      calls("files_edit", { path: "src/a.txt", old_text: "one", new_text: "two" }, "call_2"),
      says("Done."),
    );
    await scene.answered(id, "Write it.");
    expect(readFileSync(join(scene.root, "src/a.txt"), "utf8")).toBe("two\n");
    expect((await scene.messages(id))[1]?.toolCalls).toMatchObject([
      { status: "completed", diff: { path: "src/a.txt", oldText: "", newText: "one\n" } },
      { status: "completed", diff: { path: "src/a.txt", oldText: "one\n", newText: "two\n" } },
    ]);
    await verifyAll(scene);
  });

  test("[BSH6] whatever a command writes is recorded and told to the model as it is", async () => {
    const scene = await stage.scene();
    scene.write("a.txt", "here\n");
    const { id } = await scene.start();
    scene.plays(calls("bash", { command: "cat a.txt; printf 'a\\0b\\033[1m\\377'; exit 2" }), says("Hm."));
    await scene.answered(id, "Run it.");
    const output = "here\na\0b\u001b[1m\ufffd\n[exit code 2]";
    expect((await scene.messages(id))[1]?.toolCalls).toMatchObject([{ status: "failed", output }]);
    const { messages } = JSON.parse(await scene.received(1));
    expect(messages.find(({ role }: { role: string }) => role === "tool")).toMatchObject({ content: output });
    await verifyAll(scene);
  });

  test("[BSH8] a command sees no key of the gateway's", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays(calls("bash", { command: "env" }), says("Hm."));
    await scene.answered(id, "What is there?");
    const [call] = (await scene.messages(id))[1]?.toolCalls ?? [];
    expect(call?.status).toBe("completed");
    expect(call?.output).toContain("PATH=");
    expect(call?.output).not.toMatch(/^(?!HEDDLE_TOKEN)[A-Z_]*(KEY|SECRET|PASSWORD|TOKEN)=/im);
  });
});
