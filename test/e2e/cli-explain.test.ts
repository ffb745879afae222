import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sqliteDriver } from "../../src/base/index.js";
import { buildCommand, type ServedGateway } from "../support/cli.js";
import { ModelHome } from "../support/cli-model.js";
import { agentAt, apis } from "../support/runs.js";

const ESC = "\u001b";
const answer = {
  repeat: true,
  steps: [{ text: "ok" }, { usage: { input: 1234, output: 5, cached_input: 1000 } }],
};

let home: ModelHome;
let gateway: ServedGateway;
beforeAll(buildCommand);
beforeEach(async () => {
  home = await ModelHome.open((url) => [
    agentAt(url, apis[0], {
      systemPrompt: "You answer in one word.",
      toolAllowlist: ["system_*", "files_*"],
    }),
    agentAt(url, apis[2], { chat: { maxTokens: 500 } }),
  ]);
  gateway = await home.serveAgents();
  home.model.play([answer]);
});
afterEach(() => home.remove());

const send = async (...args: string[]) => (await home.json("send", ...args)).run;

describe("which run", () => {
  test("[CLI170] the latest of the workspace, the latest of a thread, one by id or by number", async () => {
    const one = await send("one");
    const two = await send("--thread", one.thread_id, "two");
    const three = await send("--agent", "anthropic", "three");
    const explained = async (...args: string[]) => (await home.json("explain", ...args)).run.id;
    expect(await explained()).toBe(three.id);
    expect(await explained(one.thread_id)).toBe(two.id);
    expect(await explained("--thread", one.thread_id)).toBe(two.id);
    expect(await explained(one.id)).toBe(one.id);
    expect(await explained("1", "--thread", one.thread_id)).toBe(one.id);
  });

  test("[CLI170] what is not there is refused, with what to do", async () => {
    const refused = async (...args: string[]) => {
      const { code, stdout, stderr } = await home.run(["explain", ...args, "--json"]);
      expect(stdout).toBe("");
      return { code, ...JSON.parse(stderr).error };
    };
    expect(await refused()).toMatchObject({ code: 1, kind: "run.none" });
    const { thread } = await home.json("threads", "start");
    expect(await refused(thread.id)).toMatchObject({ code: 1, kind: "run.none", thread_id: thread.id });
    expect(await refused("run_none")).toMatchObject({ code: 1, kind: "run.not_found" });
    expect(await refused("thr_none")).toMatchObject({ code: 1, kind: "thread.not_found" });
    expect(await refused("3")).toMatchObject({ code: 2, kind: "usage" });
    expect(await refused("3", "--thread", thread.id)).toMatchObject({ code: 1, kind: "run.none", number: 3 });
    const run = await send("--thread", thread.id, "hi");
    expect(await refused(run.id, "--step", "2")).toMatchObject({ code: 1, kind: "run.no_step" });
    const { stderr } = await home.run(["explain", "run_none"]);
    expect(stderr).toContain("`heddle runs` lists the ones there are.");
  });
});

describe("what was told", () => {
  test("[CLI171] agent, model, window, every section with source and size, history, tools, usage", async () => {
    await home.ok("agents-md", "set", "/", "--text", "Use cents everywhere.");
    const run = await send("hello");
    const text = await home.ok("explain");
    const { manifest, request } = await home.json("explain");
    const doc = (await home.json("agents-md", "history")).data[0];
    expect(text).toContain(`Run 1 of hello  completed  ${run.id}\n`);
    expect(text).toMatch(/^agent {4}openai-compatible$/m);
    expect(text).toMatch(/^model {4}qwen3 {2}provider openai-compatible$/m);
    expect(text).toMatch(/^step {5}1 of 1$/m);
    const { tokens_estimate, context } = manifest.window;
    expect(text).toContain(
      `~${tokens_estimate.toLocaleString("en-US")} of ${context.toLocaleString("en-US")} tokens`,
    );
    expect(text).toMatch(/^counted {2}1,234 tokens in \(1,000 cached\), 5 out, by the provider$/m);
    expect(text).toContain("can be built again byte for byte");
    expect(text).toContain(`heddle replay ${run.id}`);
    const row = (title: string) => text.split("\n").find((line) => line.startsWith(title)) ?? "";
    expect(row("System prompt of the agent")).toMatch(
      / 23 +~\d+ +agent openai-compatible: its systemPrompt$/,
    );
    expect(row("AGENTS.md")).toContain(
      `hook pioneer.thread_agents_doc_prompt of pioneer.prompt.agents_doc, document ${doc.doc_id} version 1`,
    );
    expect(row("History")).toMatch(/ 5 +~\d+ +1 message of the thread$/);
    expect(text).toContain("Tools offered: ");
    expect(manifest.sections.map(({ id }: { id: string }) => id)).toEqual(["base", "agents_md", "tools"]);
    expect(request).toMatchObject({ exact: true, url: expect.stringContaining("/chat/completions") });
  });

  test("[CLI171] parameters, a prompt given with the message, and what it takes the place of", async () => {
    const { thread_id } = await send("--agent", "anthropic", "--prompt", "Be brief.", "hi");
    const text = await home.ok("explain", thread_id);
    expect(text).toMatch(/^params {3}max_tokens 500$/m);
    expect(text).toMatch(/Base prompt of the run +9 +~\d+ +given with the message: sha256:[0-9a-f]{12}…/);
    const fork = (await home.ok("fork", thread_id, "--prompt", "Be kind.")).trim();
    await home.ok("send", "--thread", fork, "--prompt", "Be quick.", "and?");
    expect(await home.ok("explain", fork)).toContain(
      "Not used: the thread's own prompt. In its place: the prompt given with the message.",
    );
  });

  test("[CLI171] --step shows one of several calls of the model", async () => {
    const call = { id: "c1", name: "system_time", arguments: "{}" };
    home.model.play([{ steps: [{ text: "I look." }, { tool_call: call }] }, answer]);
    const run = await send("when?");
    expect(await home.ok("explain", run.id)).toMatch(/^step {5}2 of 2$/m);
    const first = await home.ok("explain", run.id, "--step", "1");
    expect(first).toMatch(/^step {5}1 of 2$/m);
    expect(first).toContain("1 message of the thread");
  });

  test("[CLI171] where the words are damaged, the account of them is shown and says so", async () => {
    await send("hello");
    await change(
      `update blob set content = cast('{}' as blob) where content like '%You answer in one word.%'`,
    );
    const { code, stdout } = await home.run(["explain"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^request {2}.*sha256:/m);
    expect(stdout).toContain("System prompt of the agent");
    expect(await home.run(["explain", "--exact"])).toMatchObject({ code: 1, stdout: "" });
  });

  test("[CLI174] nothing that was told can steer the terminal", async () => {
    await home.ok("agents-md", "set", "/", "--text", `a${ESC}[2Jb`);
    const { thread_id } = await send(`hi${ESC}]0;x\u0007`);
    await home.ok("agents-md", "set", "/", "--text", `a${ESC}[2Jc`);
    await send("--thread", thread_id, "again");
    for (const args of [["explain"], ["explain", "--diff"], ["explain", "--exact"], ["runs"], ["replay"]]) {
      const { stdout } = await home.onTerminal(args, { env: { NO_COLOR: "1" } });
      expect(stdout, args.join(" ")).not.toContain(ESC);
    }
  });
});

describe("--diff", () => {
  test("[CLI172] sections that are the same, changed, new and gone, with the text of what changed", async () => {
    await home.ok("agents-md", "set", "/", "--text", "Be brief.\nUse cents.");
    const first = await send("one");
    expect(await home.ok("explain", "--diff")).toBe(
      "Run 1 is the first of its thread: there is none to compare it with.\n",
    );
    await home.ok("agents-md", "set", "/", "--text", "Be brief.\nUse euros.");
    await send("--thread", first.thread_id, "--model", "large", "two");
    const text = await home.ok("explain", "--diff");
    expect(text).toContain("Run 2 against run 1");
    expect(text).toContain("model: qwen3 → large");
    expect(text).toMatch(/^same {5}System prompt of the agent/m);
    expect(text).toMatch(/^changed {2}AGENTS\.md/m);
    expect(text).toContain("tools: the same");
    expect(text).toContain("history: the same 1 message, then 2 new");
    expect(text).toMatch(/^-Use cents\.$/m);
    expect(text).toMatch(/^\+Use euros\.$/m);
    expect(text).toContain("--- run 1\n+++ run 2\n");
    await home.ok("agents-md", "archive", "/");
    await send("--thread", first.thread_id, "three");
    const { diff } = await home.json("explain", first.thread_id, "--diff");
    expect(diff).toMatchObject({
      before: { number: 2 },
      settings: [{ name: "model", before: "large", now: "qwen3" }],
      tools: { added: [], removed: [] },
      history: { same: 3, added: 2, removed: 0 },
    });
    expect(diff.sections).toContainEqual({ id: "agents_md", title: "AGENTS.md", change: "gone" });
    const back = await home.json("explain", "2", "--thread", first.thread_id, "--diff");
    expect(back.diff.before).toEqual({ id: first.id, number: 1 });
  });

  test("[CLI172] a run that told a model nothing is passed over", async () => {
    const first = await send("one");
    home.model.play([{ steps: [{ hang: true }] }, answer]);
    const sending = home.begin("send", "--thread", first.thread_id, "two");
    await home.model.request(1);
    const waiting = home.begin("send", "--thread", first.thread_id, "three");
    await waiting.said("waits for its turn", "stderr");
    waiting.child.kill("SIGINT");
    await waiting.ended;
    sending.child.kill("SIGINT");
    await sending.ended;
    await send("--thread", first.thread_id, "four");
    expect((await home.json("explain", "--diff")).diff.before).toMatchObject({ number: 2 });
  });
});

describe("--exact", () => {
  test("[CLI173] the bytes that the model got, and nothing else", async () => {
    await home.ok("agents-md", "set", "/", "--text", "Ümläüte 🧵");
    for (const agent of ["openai-compatible", "anthropic"]) {
      home.model.forget();
      const run = await send("--agent", agent, "hello 🧵");
      const { code, stdout, stderr } = await home.run(["explain", run.id, "--exact"]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toBe((await home.model.request(0)).body);
    }
  });

  test("[CLI173] a request that was not sent is refused, and nothing is printed", async () => {
    await home.ok("workspaces", "create", ".");
    home.model.play([{ steps: [{ hang: true }] }]);
    const sending = home.begin("send", "hi");
    await home.model.request(0);
    const { code, stdout, stderr } = await home.run(["explain", "--exact"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^heddle: Step 1 of run 1 has not been sent/);
    sending.child.kill("SIGINT");
    await sending.ended;
  });

  test("[CLI173] bytes that are only like those that were sent are refused too", async () => {
    await send("hello");
    await change(
      `update journal_event set body = replace(body, '"request_sha256":"', '"request_sha256":"0')`,
    );
    const { code, stdout, stderr } = await home.run(["explain", "--exact"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("can't be built again byte for byte");
    expect(await home.ok("explain")).toMatch(/^request .* can't be built again byte for byte$/m);
  });

  test("[CLI173] it goes with no other way of printing", async () => {
    expect((await home.run(["explain", "--exact", "--json"])).code).toBe(2);
    expect((await home.run(["explain", "--exact", "--diff"])).code).toBe(2);
  });
});

/** Changes the record behind the gateway's back. */
async function change(sql: string): Promise<void> {
  await gateway.stop();
  const store = sqliteDriver().open(join(home.data, "heddle.db"));
  store.exec(sql);
  store.close();
  gateway = await home.serveAgents();
}
