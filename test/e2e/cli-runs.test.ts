import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { sqliteDriver } from "../../src/base/index.js";
import { buildCommand, type ServedGateway } from "../support/cli.js";
import { HeldModel, ModelHome } from "../support/cli-model.js";
import { agentAt, apis } from "../support/runs.js";

const answer = { repeat: true, steps: [{ text: "ok" }, { usage: { input: 1234, output: 5 } }] };

let home: ModelHome;
let held: HeldModel;
let gateway: ServedGateway;
beforeAll(buildCommand);
beforeEach(async () => {
  held = await HeldModel.open();
  home = await ModelHome.open((url) => [
    agentAt(url, apis[0]),
    agentAt(url, apis[2]),
    agentAt(held.url, apis[0], { agentId: "held" }),
    { agentId: "keyless", displayName: "No key", chat: { provider: "openai", model: "gpt-5" } },
    { agentId: "secret", displayName: "Secret", uiVisible: false, chat: { provider: "demo", model: "demo" } },
  ]);
  gateway = await home.serveAgents();
  home.model.play([answer]);
});
afterEach(async () => {
  await home.remove();
  held.close();
});

const send = async (...args: string[]) => (await home.json("send", ...args)).run;

describe("runs", () => {
  test("[CLI185] the newest first, of a thread or in a state, paged up to the limit", async () => {
    const one = await send("one");
    const two = await send("--thread", one.thread_id, "two");
    home.model.play([{ repeat: true, steps: [{ status: 400, body: "no" }] }]);
    await home.run(["send", "three"]);
    const ids = async (...args: string[]) =>
      (await home.json("runs", ...args)).data.map(({ id }: { id: string }) => id);
    const all = await ids();
    expect(all).toHaveLength(3);
    expect(all.slice(1)).toEqual([two.id, one.id]);
    expect(await ids("--thread", one.thread_id)).toEqual([two.id, one.id]);
    expect(await ids("--status", "failed")).toEqual([all[0]]);
    expect(await ids("--status", "completed, failed")).toEqual(all);
    expect(await home.json("runs", "list", "--limit", "1")).toMatchObject({
      data: [{ id: all[0] }],
      more: true,
    });
    const text = await home.ok("runs", "--thread", one.thread_id);
    expect(text).toMatch(/^ID +RUN +ASKED +STATUS +AGENT +TOKENS +MODEL\n/);
    expect(text).toMatch(new RegExp(`${two.id} +2 +.* completed +openai-compatible +1,234 \\+ 5 +qwen3\\n`));
    expect((await home.run(["runs", "--limit", "2"])).stderr).toBe("There are more: --limit 20\n");
    expect((await home.run(["runs", "--status", "dead"])).code).toBe(2);
    expect((await home.run(["runs", "--thread", "thr_none"])).code).toBe(1);
  });

  test("[CLI185] none yet is told with how to make one", async () => {
    expect(await home.ok("runs")).toBe("No runs found. Ask something: heddle send TEXT\n");
  });

  test("[CLI186] cancel ends one that is under way, takes one out of the queue, leaves an ended one", async () => {
    home.model.play([{ steps: [{ text: "so far" }, { hang: true }] }]);
    const first = home.begin("send", "one");
    await first.said("so far");
    const [running] = (await home.json("runs")).data;
    const second = home.begin("send", "--thread", running.thread_id, "two");
    await second.said("waits for its turn", "stderr");
    const queued = await home.json("runs", "cancel", "2", "--thread", running.thread_id);
    expect(queued.run).toMatchObject({ number: 2, status: "cancelled" });
    expect((await second.ended).code).toBe(1);
    expect(await home.ok("runs", "cancel", running.id)).toBe(`Cancelled run 1  cancelled  ${running.id}\n`);
    expect((await first.ended).code).toBe(1);
    expect(await home.ok("runs", "cancel", running.id)).toMatch(/^It had ended already: run 1 {2}cancelled/);
    expect((await home.run(["runs", "cancel", "run_none"])).stderr).toContain("`heddle runs` lists");
  });

  test("[CLI186] steer gives a run under way another message", async () => {
    const sending = home.begin("send", "--agent", "held", "one");
    await held.say(0, "first");
    await sending.said("first");
    const [run] = (await home.json("runs")).data;
    expect(await home.ok("runs", "steer", run.id, "Leave", "the tests")).toBe(
      `run 1  running  ${run.id} gets it with its next step\n`,
    );
    await held.say(0, " part", { end: true });
    await held.say(1, "second part", { end: true });
    expect(await sending.ended).toMatchObject({ code: 0, stdout: "first part\n\nsecond part\n" });
    const { data } = await home.json("threads", "messages", run.thread_id);
    expect(data.map(({ role }: { role: string }) => role)).toEqual(["user", "agent", "user", "agent"]);
    const late = await home.run(["runs", "steer", run.id, "too late", "--json"]);
    expect(JSON.parse(late.stderr).error).toMatchObject({ kind: "run.not_running" });
    expect((await home.run(["runs", "steer", run.id, " "])).code).toBe(2);
  });
});

describe("replay", () => {
  test("[CLI180] the three checks of a run that holds", async () => {
    const run = await send("one");
    const text = await home.ok("replay", run.id);
    expect(text).toMatch(new RegExp(`^verified {2}run 1 of ${run.thread_id} {2}${run.id}\\n`));
    expect(text).toMatch(/^integrity {2}ok .*\nfold {7}ok .*\ncompile {4}ok /m);
    const { replay } = await home.json("replay");
    expect(replay).toMatchObject({ verified: true, integrity: "ok", fold: "ok", compile: "ok", steps: 1 });
    expect((await home.json("replay", "1", "--thread", run.thread_id)).run.id).toBe(run.id);
  });

  test("[CLI180] a record that was changed: where it differs first, and the exit code 1", async () => {
    const run = await send("one");
    await gateway.stop();
    spoil(join(home.data, "heddle.db"));
    await home.serveAgents();
    const { code, stdout } = await home.run(["replay", run.id]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^not verified {2}/);
    expect(stdout).toMatch(/^integrity {2}failed/m);
    expect(stdout).toMatch(/^first difference {2}integrity, /m);
    const all = await home.run(["replay", "--all", "--json"]);
    expect(all.code).toBe(1);
    expect(JSON.parse(all.stdout)).toMatchObject({
      verified: false,
      data: [{ replay: { verified: false } }],
    });
  });

  test("[CLI181] every run of a thread, or of the workspace, the oldest first", async () => {
    const one = await send("one");
    const two = await send("--thread", one.thread_id, "two");
    const three = await send("three");
    const ids = async (...args: string[]) =>
      (await home.json("replay", ...args)).data.map(({ run }: { run: { id: string } }) => run.id);
    expect(await ids(one.thread_id)).toEqual([one.id, two.id]);
    expect(await ids("--all", "--thread", one.thread_id)).toEqual([one.id, two.id]);
    expect(await ids(two.id, "--all")).toEqual([one.id, two.id]);
    expect(await ids("--all")).toEqual([one.id, two.id, three.id]);
    const text = await home.ok("replay", one.thread_id);
    expect(text).toContain("2 runs, 2 verified, 0 not\n");
    expect((await home.run(["replay", "1"])).code).toBe(2);
    expect((await home.run(["replay", "1", "--thread", one.thread_id, "--all"])).code).toBe(2);
    const onTerminal = await home.onTerminal(["replay", "--all"], { env: { NO_COLOR: "1" } });
    expect(onTerminal.stdout).toContain("replaying run 3 of 3");
  });
});

describe("fork", () => {
  test("[CLI187] the id of the new thread alone, with the messages up to one", async () => {
    const { thread_id } = await send("one");
    await send("--thread", thread_id, "two");
    const { data } = await home.json("threads", "messages", thread_id);
    const { stdout, stderr } = await home.run(["fork", thread_id]);
    expect(stdout).toMatch(/^thr_\w+\n$/);
    expect(stderr).toBe("");
    const whole = (await home.json("threads", "messages", stdout.trim())).data;
    expect(whole.map(({ id }: { id: string }) => id)).toEqual(data.map(({ id }: { id: string }) => id));
    const part = await home.json("fork", thread_id, "--message", data[1].id);
    expect(part.thread).toMatchObject({ message_count: 2, parent_thread_id: thread_id });
  });

  test("[CLI187] for another agent, model and prompt, which stay with the thread", async () => {
    const { thread_id } = await send("one");
    const { thread } = await home.json(
      ...["fork", thread_id, "--agent", "anthropic", "--model", "large", "--prompt", "Be kind."],
    );
    expect(thread).toMatchObject({
      agent_id: "anthropic",
      config: { model: "large", default_prompt_refs: [expect.stringMatching(/^sha256:/)] },
    });
    home.model.forget();
    await send("--thread", thread.id, "two");
    const { model, system, messages } = JSON.parse((await home.model.request(0)).body);
    expect(model).toBe("large");
    expect(JSON.stringify(system)).toContain("Be kind.");
    expect(messages).toHaveLength(3);
  });

  test("[CLI187] what is not there is refused", async () => {
    const { thread_id } = await send("one");
    const kind = async (...args: string[]) =>
      JSON.parse((await home.run(["fork", ...args, "--json"])).stderr).error.kind;
    expect(await kind("thr_none")).toBe("thread.not_found");
    expect(await kind(thread_id, "--message", "none")).toBe("message.not_found");
    expect(await kind(thread_id, "--agent", "nobody")).toBe("agent.not_found");
    expect((await home.json("threads")).data).toHaveLength(1);
  });
});

describe("agents", () => {
  test("[CLI193] id, name, provider, model, and whether each can be used or why not", async () => {
    const text = await home.ok("agents");
    expect(text).toMatch(/^ID +NAME +PROVIDER +MODEL +STATE\n/);
    expect(text).toMatch(/^anthropic +Agent anthropic +anthropic +claude-sonnet-4-5 +available$/m);
    expect(text).toMatch(/^keyless +No key +openai +gpt-5 +.*(key|Key|KEY).*$/m);
    expect(text).not.toContain("secret");
    expect(await home.ok("agents", "--all")).toMatch(/^secret +Secret +demo +demo +available {2}hidden$/m);
    const { data } = await home.json("agents", "--all");
    expect(data.map(({ agent_id }: { agent_id: string }) => agent_id).sort()).toEqual(
      ["anthropic", "held", "keyless", "openai-compatible", "secret"].sort(),
    );
    expect(JSON.stringify(data)).not.toContain("test-key");
  });

  test("[CLI194] serve --config names the file; one that is missing or broken is refused", async () => {
    await gateway.stop();
    const missing = await home.run(["serve", "--port", "0", "--config", "none.json"]);
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain("none.json");
    home.write({ "broken.json": '{ "agents": [ {} ] }' });
    const broken = await home.run(["serve", "--port", "0", "--config", "broken.json"]);
    expect(broken.code).toBe(1);
    expect(broken.stderr).toContain("broken.json");
    expect(broken.stderr).toContain("agentId");
  });
});

/** Changes one letter of what was answered, as no program of ours would. */
function spoil(file: string): void {
  const store = sqliteDriver().open(file);
  store.exec(`update journal_event set body = replace(body, '"run.completed"', '"run.cancelled"')`);
  store.close();
}
