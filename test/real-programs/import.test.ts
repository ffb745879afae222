import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Message } from "../../src/protocol/index.js";
import { startGateway } from "../support/gateway.js";
import type { ServerTurn } from "../support/model-server/script.js";
import { startModelServer } from "../support/model-server/server.js";
import { sqliteStore } from "../support/stores.js";
import { projectDirectory, ThreadScene } from "../support/threads.js";
import { answers, type MakerStage, type SessionMaker, sessionMakers } from "./import-sessions.js";
import { cleanHome } from "./support.js";

/** Two turns in one session: a command, a file, an answer; then one more question. */
async function converse(maker: SessionMaker, at: MakerStage): Promise<void> {
  const turns: ServerTurn[] = [
    maker.command("call_1", "echo OUT-$((40+2))"),
    maker.write("call_2", join(at.directory, `made-${maker.tool}.txt`), "WRITTEN"),
    answers("DONE-1"),
    answers("DONE-2"),
  ];
  // What a program asks besides (a title, say) has no tools.
  at.server.play((body) =>
    body.includes('"tools"') ? (turns.shift() ?? answers("NEVER")) : answers("A title"),
  );
  await maker.ask(at, "Do it WORD-1", false);
  await maker.ask(at, "And again WORD-2", true);
}

/** What every session has, whichever tool made it. */
const TEXTS = ["WORD-1", "SAID-call_1", "DONE-1", "WORD-2", "DONE-2"];

test("[IMP92] sessions that the real programs made are imported, every text, call and result; the second time changes nothing", async () => {
  const home = await cleanHome();
  const directory = projectDirectory();
  for (const maker of sessionMakers) {
    const server = await startModelServer();
    onTestFinished(() => server.close());
    await converse(maker, { home, directory, server });
  }
  const gateway = await startGateway(sqliteStore, { sessionEnv: { HOME: home } });
  onTestFinished(() => gateway.stop());
  const scene = await ThreadScene.at(gateway, directory);
  const take = (from: SessionMaker["tool"]) =>
    scene.wire.result("thread/import", { workspace_id: scene.workspace_id, from });
  const { data: sources } = await scene.wire.result("import/sources", { workspace_id: scene.workspace_id });
  expect(sources.map(({ tool, threads }) => [tool, threads])).toEqual([
    ["claude", 1],
    ["codex", 1],
    ["pi", 1],
    ["opencode", 1],
  ]);
  for (const { tool } of sessionMakers) {
    const { data, not_read } = await take(tool);
    expect(not_read).toBeUndefined();
    expect(new Set(data.map(({ status }) => status))).toEqual(new Set(["imported"]));
    const messages: Message[] = [];
    for (const { thread_id } of data) messages.push(...(await scene.messages(thread_id)));
    const said = JSON.stringify(messages.flatMap(({ content }) => content));
    // What Codex writes with a patch has no words besides.
    const alone = tool === "codex" ? [] : ["SAID-call_2", "THOUGHT-call_1", "THOUGHT-call_2"];
    for (const text of [...TEXTS, ...alone]) expect(said, tool).toContain(text);
    const calls = messages.flatMap(({ toolCalls = [] }) => toolCalls) as Record<string, string>[];
    const [ran, wrote] = ["call_1", "call_2"].map((id) => calls.find(({ toolCallId }) => toolCallId === id));
    expect(ran, tool).toMatchObject({
      status: "completed",
      input: expect.stringContaining("echo OUT-"),
      output: expect.stringContaining("OUT-42"),
    });
    expect(wrote, tool).toMatchObject({ status: "completed", input: expect.stringContaining("WRITTEN") });
    expect(wrote?.output).not.toBe("");
    if (tool !== "pi")
      expect(wrote?.diff, tool).toMatchObject({ path: join(directory, `made-${tool}.txt`), oldText: "" });
    const counted = messages.filter(({ role }) => role === "agent");
    expect(
      counted.every(({ model, tokens }) => model !== undefined && tokens !== undefined),
      tool,
    ).toBe(true);
  }
  const before = snapshot(directory);
  for (const { tool } of sessionMakers)
    expect(new Set((await take(tool)).data.map(({ status }) => status))).toEqual(new Set(["exists"]));
  expect(snapshot(directory)).toEqual(before);
  const pi = sessionMakers.find(({ tool }) => tool === "pi") as SessionMaker;
  const server = await startModelServer([answers("DONE-3")]);
  onTestFinished(() => server.close());
  await pi.ask({ home, directory, server }, "Once more WORD-3", true);
  expect((await take("pi")).data).toMatchObject([{ status: "updated", added: 2, messages: 8 }]);
}, 400_000);

function snapshot(directory: string): string[] {
  const dir = join(directory, ".agent/threads");
  return readdirSync(dir, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(dir, name)).isFile())
    .sort()
    .map((name) => `${name} ${statSync(join(dir, name)).mtimeMs} ${readFileSync(join(dir, name), "base64")}`);
}
