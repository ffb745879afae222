import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../support/agents-doc.js";
import { agentAt, apis, calls, forEachApi, type RunScene, runStage, verifyAll } from "../support/runs.js";
import { onEitherStore, sqliteStore, temporaryDirectory } from "../support/stores.js";
import { line, textMessage } from "../support/threads.js";

const PIXEL = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 7, 7, 7]).toString("base64");
const withImage = [
  { type: "text" as const, text: "What is this?" },
  { type: "image" as const, data: PIXEL, mimeType: "image/png" },
];

/** A hook that fails closed when the message says so. */
function config(url: string) {
  const file = join(temporaryDirectory(), "hook.mjs");
  writeFileSync(
    file,
    `const run = ({ input }) => { if (input.includes("REFUSE")) throw new Error("no"); };
     export default { id: "limit", contributes: [], subscriptions: [
       { hook_id: "limit.hook", phase: "turn.pre_prompt_compile", failure_policy: "fail_closed", run } ] };`,
  );
  return { agents: apis.map((api) => agentAt(url, api)), hooks: [{ module: file }] };
}

type Content = Parameters<RunScene["ask"]>[1];
type Config = { config?: { prompt_refs?: string[]; model?: string; max_tokens?: number } };

/** That what is shown before is what is then sent, with the same manifest. */
async function expectForeseen(scene: RunScene, thread_id: string, content: Content, more: Config = {}) {
  const asked = scene.model.requests.length;
  const shown = await scene.preview(thread_id, { content, ...more });
  const run = await scene.answered(thread_id, content, more);
  const sent = await scene.model.request(asked);
  expect(shown.request).toEqual({ url: `${scene.model.url}${sent.path}`, body: sent.body });
  const { prefix_changed_at: _, ...manifest } = await scene.manifest(run.id, 1);
  expect(shown.manifest).toEqual(manifest);
  expect(shown.step).toBe(1);
  const { messages } = await scene.context(run.id, 1);
  const withoutNew = (all: typeof messages) =>
    all.map(({ message_id, ...rest }, at) => (at === all.length - 1 ? rest : { message_id, ...rest }));
  expect(withoutNew(shown.messages)).toEqual(withoutNew(messages));
  return run;
}

describe("a look ahead", () => {
  const stage = runStage(sqliteStore, { config });

  forEachApi("the same bytes", ({ id: agent_id }) => {
    test("[TLD90] what run/preview shows is what the next run sends: first message, calls, images, other sources", async () => {
      const scene = await stage.scene();
      const { id } = await scene.start({ agent_id });
      scene.plays(calls("system_time"), "One.", "Two.", "Three.", "Four.", "Five.");
      await expectForeseen(scene, id, "One?");
      await expectForeseen(scene, id, withImage);
      await scene.saveDoc("Be brief.");
      await expectForeseen(scene, id, "Three?");
      const prompt = await scene.blob({
        messages: [
          { role: "system", content: "A." },
          { role: "user", content: "B?" },
        ],
      });
      await expectForeseen(scene, id, "Four?", {
        config: { prompt_refs: [prompt], model: "other", max_tokens: 99 },
      });
      const fork = await scene.fork(id);
      await expectForeseen(scene, fork.id, "Five?");
      await verifyAll(scene);
    });
  });

  test("[TLD91] what other programs wrote meanwhile is in it", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays("One.", "Two.", "Three.");
    await scene.answered(id, "One?");
    appendFileSync(scene.path(id, "messages.jsonl"), line(textMessage("x", "From elsewhere.")));
    await expectForeseen(scene, id, "Two?");
    writeFileSync(scene.path(id, "messages.jsonl"), line(textMessage("y", "All anew.")));
    await expectForeseen(scene, id, "Three?");
    const { messages } = JSON.parse(await scene.received(2));
    expect(messages.slice(1).map(({ content }: { content: string }) => content)).toEqual([
      "All anew.",
      "Three?",
    ]);
  });

  test("[TLD92] without a message it shows what is told so far; of a fresh thread what stands before", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    const fresh = await scene.preview(id);
    expect(fresh.messages.map(({ section_id }) => section_id)).toEqual(["base", "tools"]);
    expect(fresh.manifest.history).toMatchObject({ messages: 0, chars: 0, tokens_estimate: 0 });
    scene.plays("One.");
    await scene.answered(id, "One?");
    const { messages } = await scene.preview(id);
    expect(messages.slice(2).map(({ role, content }) => [role, content])).toEqual([
      ["user", "One?"],
      ["assistant", "One."],
    ]);
  });

  test("[TLD93] what would be refused is refused in the same words", async () => {
    const scene = await stage.scene();
    const { id: thread_id } = await scene.start();
    const unknown = `sha256:${"0".repeat(64)}`;
    for (const params of [
      { config: { prompt_refs: [] } },
      { config: { prompt_refs: [unknown] } },
      { config: { prompt_pack: "nothing" } },
      { config: { provider: "nobody" } },
      { content: " " },
      { content: [{ type: "image", data: "not base64", mimeType: "image/png" }] },
    ]) {
      const asked = { thread_id, content: "Hello?", ...params };
      const [shown, started] = [
        await scene.wire.error("run/preview", asked),
        await scene.wire.error("run/start", asked),
      ];
      expect(shown).toEqual(started);
    }
    expect(await scene.wire.error("run/preview", { thread_id, content: "REFUSE" })).toMatchObject({
      code: -32600,
      data: { kind: "hook.failed", hook_id: "limit.hook" },
    });
    const gone = await scene.wire.error("run/preview", { thread_id: "thr_gone", content: "x" });
    expect(gone).toMatchObject({ code: -32602, data: { kind: "thread.not_found" } });
  });

  test("[TLD94] while a run is under way it shows what is told so far and the new message behind it", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays({ steps: [{ gate: "tld94" }, { text: "One." }] });
    const { run } = await scene.startRun(id, "One?");
    await scene.model.request(0);
    const { messages } = await scene.preview(id, { content: "Two?" });
    expect(messages.slice(2).map(({ content }) => content)).toEqual(["One?", "Two?"]);
    scene.model.open("tld94");
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    await verifyAll(scene);
  });
});

/** Every file below a directory, with what it holds. */
function filesIn(dir: string): Record<string, string> {
  if (!existsSync(dir)) return {};
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path, createHash("sha256").update(readFileSync(path)).digest("hex")];
    }),
  );
}

onEitherStore("a look ahead", (kind) => {
  const stage = runStage(kind, { config });
  const tables =
    "workspace thread thread_folder run journal_event history blob blob_use notification prompt_pack tool_sync trust";

  async function everything(scene: RunScene): Promise<object> {
    const database = await openDatabase(stage.gateway().place);
    const rows: Record<string, unknown> = {};
    for (const table of tables.split(" ")) rows[table] = await database.all(`select * from ${table}`);
    await database.close();
    // The index of words follows a moment later.
    const threads = (rows.thread as Record<string, unknown>[]).map(({ words_to: _, ...rest }) => rest);
    return { ...rows, thread: threads, files: filesIn(scene.root) };
  }

  test("[TLD95] it leaves nothing behind: no row, no blob, no file, no notification, no request", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "anthropic" });
    scene.plays("One.");
    await scene.answered(id, "One?");
    await scene.saveDoc("A document that no run was told.");
    const before = await everything(scene);
    const heard = (await scene.wire.settled()).length;
    await scene.preview(id);
    await scene.preview(id, { content: "Never sent." });
    await scene.preview(id, { content: withImage });
    await scene.preview(id, { content: "x", config: { model: "other", max_tokens: 7 } });
    await scene.wire.error("run/preview", { thread_id: id, content: "REFUSE" });
    expect(await everything(scene)).toEqual(before);
    expect(await scene.wire.settled()).toHaveLength(heard);
    expect(scene.model.requests).toHaveLength(1);
    expect(await scene.get(id)).toMatchObject({ status: "idle", message_count: 2 });
    expect(await scene.runs()).toHaveLength(1);
  });
});
