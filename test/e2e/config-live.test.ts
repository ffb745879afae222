import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { PLUGIN_IDS } from "../../src/app/compose-plugins.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { agentIds, replace, told } from "../support/live-config.js";
import { startModelServer } from "../support/model-server/server.js";
import { doer, doing } from "../support/programs.js";
import { freshRepository, ownGit, Workshop } from "../support/repository.js";
import { agentAt, apis, calls, RunScene, runStage, says } from "../support/runs.js";
import { sqliteStore, temporaryDirectory } from "../support/stores.js";
import { projectDirectory } from "../support/threads.js";
import type { Wire } from "../support/wire.js";

const CONFIG = "heddle.config.json";

const named = (...ids: string[]) => ({
  agents: ids.map((agentId) => ({ agentId, chat: { provider: "demo" } })),
});

describe("the file of the data directory", () => {
  let gateway: TestGateway;
  let wire: Wire;
  let file: string;
  beforeEach(async () => {
    gateway = await startGateway(sqliteStore);
    file = join(gateway.place.dataDir, "heddle.config.json");
    wire = await gateway.wire();
    await wire.result("subscribe", { workspace_id: gateway.home });
  });
  afterEach(() => gateway?.stop());

  test("[CFG1] made, edited, replaced and removed while the gateway runs, it counts from then on", async () => {
    expect(await agentIds(wire)).toEqual(["demo", "demo-notes"]);
    expect(await told(wire, () => writeFileSync(file, JSON.stringify(named("one"))))).toEqual({
      workspace_id: gateway.home,
    });
    expect(await agentIds(wire)).toEqual(["one"]);
    await told(wire, () => writeFileSync(file, JSON.stringify(named("two", "three"))));
    expect(await agentIds(wire)).toEqual(["two", "three"]);
    await told(wire, () => replace(file, named("four")));
    expect(await agentIds(wire)).toEqual(["four"]);
    await told(wire, () => rmSync(file));
    expect(await agentIds(wire)).toEqual(["demo", "demo-notes"]);
  });

  test("[CFG1] behind a link, what it leads to counts", async () => {
    const target = join(temporaryDirectory(), "mine.json");
    writeFileSync(target, JSON.stringify(named("one")));
    await told(wire, () => symlinkSync(target, file));
    expect(await agentIds(wire)).toEqual(["one"]);
    await told(wire, () => writeFileSync(target, JSON.stringify(named("another"))));
    expect(await agentIds(wire)).toEqual(["another"]);
  });

  test("[CFG2] a broken edit changes nothing, and everyone is told why until it is corrected", async () => {
    await told(wire, () => writeFileSync(file, JSON.stringify(named("good"))));
    const agent = (more: object) => ({ agents: [{ agentId: "a", chat: { provider: "demo" }, ...more }] });
    const broken: Record<string, [unknown, RegExp]> = {
      "no JSON": ['{\n"agents": [', /:2: .*is not JSON/],
      "an unknown variable": [agent({ description: "$" + "{NOT_SET_ANYWHERE}" }), /NOT_SET_ANYWHERE/],
      "a circle": [
        {
          agents: [
            { agentId: "a", extends: "b" },
            { agentId: "b", extends: "a" },
          ],
        },
        /circle/,
      ],
      "a pattern with !": [agent({ toolDenylist: ["!bash"] }), /toolDenylist/],
      "a secret in an address": [
        agent({ type: "external", external: { inputUrl: "http://elsewhere.example/x" } }),
        /inputUrl/,
      ],
      "a hook that is not there": [{ ...agent({}), hooks: [{ module: "none.mjs" }] }, /none\.mjs/],
      "two hooks of one id": [
        { ...agent({}), hooks: [command("same"), command("same", "same.other")] },
        /same/,
      ],
      "no UTF-8": [Buffer.from([0x7b, 0xff, 0x7d]), /UTF-8/],
    };
    for (const [what, [content, why]] of Object.entries(broken)) {
      const write =
        Buffer.isBuffer(content) || typeof content === "string" ? content : JSON.stringify(content);
      const { problem } = await told(wire, () => writeFileSync(file, write));
      expect(problem, what).toMatch(why);
      const listed = await wire.result("agent/list", {});
      expect([listed.data.map(({ agent_id }) => agent_id), listed.problem], what).toEqual([
        ["good"],
        problem,
      ]);
      expect((await wire.result("hook/list", {})).data.filter(({ id }) => id === "same")).toEqual([]);
    }
    expect(await told(wire, () => writeFileSync(file, JSON.stringify(named("fine"))))).toEqual({
      workspace_id: gateway.home,
    });
    expect(await wire.result("agent/list", {})).not.toHaveProperty("problem");
    expect(await agentIds(wire)).toEqual(["fine"]);
  });

  test("[CFG2] a directory or a link to nowhere in its place is no configuration that was removed", async () => {
    await told(wire, () => writeFileSync(file, JSON.stringify(named("good"))));
    rmSync(file);
    expect((await told(wire, () => mkdirSync(file))).problem).toContain("no regular file");
    rmSync(file, { recursive: true });
    expect((await told(wire, () => symlinkSync("/nowhere/at/all", file))).problem).toContain(file);
    expect(await agentIds(wire)).toEqual(["good"]);
  });

  test("[CFG3] hooks come and go with it, and those that are the same stay as they are", async () => {
    const hooks = async () =>
      (await wire.result("hook/list", {})).data
        .filter(({ source }) => source.kind !== "built_in")
        .map(({ id }) => id);
    const kept = counting("kept");
    await told(wire, () => writeFileSync(file, JSON.stringify({ hooks: [kept.entry, command("first")] })));
    expect(await hooks()).toEqual(["first", "kept"]);
    expect(kept.loads()).toBe(1);
    await told(wire, () => writeFileSync(file, JSON.stringify({ hooks: [command("second"), kept.entry] })));
    expect(await hooks()).toEqual(["kept", "second"]);
    expect(kept.loads()).toBe(1);
    // Taken from one package and given to another in one edit: no state in between has both.
    await told(wire, () => writeFileSync(file, JSON.stringify({ hooks: [command("third", "second.hook")] })));
    expect(await hooks()).toEqual(["third"]);
    await told(wire, () => rmSync(file));
    expect(await hooks()).toEqual([]);
  });

  test("[CFG4] a plugin that is disabled is gone whole, and comes back", async () => {
    const tools = async () =>
      (await wire.result("tool/list", { workspace_id: gateway.home })).data.map(({ name }) => name);
    expect(await tools()).toContain("notes_list");
    await told(wire, () => writeFileSync(file, JSON.stringify({ plugins: { notes: { enabled: false } } })));
    expect((await tools()).filter((name) => name.startsWith("notes_"))).toEqual([]);
    expect(await tools()).toContain("lists_list");
    await told(wire, () => rmSync(file));
    expect(await tools()).toContain("notes_list");
  });

  test("[AGT4] every plugin that the gateway has is known by its name", async () => {
    const { data } = await wire.result("tool/list", { workspace_id: gateway.home });
    const ids = new Set(data.flatMap(({ plugin }) => plugin ?? []));
    expect([...ids, "artifacts", "mcp"].sort()).toEqual(PLUGIN_IDS);
  });
});

test("[CFG5] a variable the configuration is filled with is no longer given to children from then on", async () => {
  ownGit();
  process.env.CFG_LIVE_VALUE = "a-value-of-some-length";
  const gateway = await startGateway(sqliteStore);
  onTestFinished(() => gateway.stop());
  const marks = temporaryDirectory();
  const shop = await Workshop.open(gateway, freshRepository({ "a.txt": "a" }));
  await shop.wire.result("subscribe", { workspace_id: shop.workspace_id });
  const seen = async (name: string) => {
    const line = `printf '%s' "$CFG_LIVE_VALUE" > ${marks}/${name}`;
    await shop.trusted({ postSetupCommands: [{ command: line }] });
    const { id } = await shop.startInWorktree();
    await shop.setUp(id);
    return readFileSync(join(marks, name), "utf8");
  };
  expect(await seen("before")).toBe("a-value-of-some-length");
  const agents = [{ agentId: "a", description: "$" + "{CFG_LIVE_VALUE}", chat: { provider: "demo" } }];
  await told(shop.wire, () =>
    writeFileSync(join(gateway.place.dataDir, "heddle.config.json"), JSON.stringify({ agents })),
  );
  expect(await seen("after")).toBe("");
});

test("[CFG5] what a trusted project was filled with is not given to set-ups, hooks, servers and programs either, also after a restart", async () => {
  ownGit();
  process.env.CFG_TEAM_VALUE = "a-value-of-the-team";
  let gateway = await startGateway(sqliteStore);
  onTestFinished(() => gateway.stop());
  const marks = temporaryDirectory();
  const print = (name: string) => `printf '[%s]' "$CFG_TEAM_VALUE" > ${join(marks, name)}`;
  const hook = join(marks, "hook.mjs");
  writeFileSync(hook, printingHook(join(marks, "hook")));
  const user = {
    agents: [started(doer().agent("doer"), print("program"))],
    hooks: [{ module: hook }],
    mcpServers: { printing: { command: "sh", args: ["-c", `${print("server")}; exec cat > /dev/null`] } },
  };
  const team = {
    agents: [{ agentId: "team", description: "$" + "{CFG_TEAM_VALUE}", chat: { provider: "demo" } }],
  };
  let shop = await Workshop.open(gateway, freshRepository({ [CONFIG]: JSON.stringify(team) }));
  const { workspace_id } = shop;
  await shop.wire.result("subscribe", { workspace_id });
  await told(shop.wire, () => writeFileSync(join(gateway.place.dataDir, CONFIG), JSON.stringify(user)));
  const thread = await shop.start({ agent_id: "doer" });
  const seen = async (...names: string[]) => {
    await shop.trusted({ postSetupCommands: [{ command: print("setup") }] });
    await shop.setUp((await shop.startInWorktree()).id);
    const content = doing({ say: "done" });
    const { run } = await shop.wire.result("run/start", { workspace_id, thread_id: thread.id, content });
    await expect
      .poll(async () => (await shop.wire.result("run/get", { run_id: run.id })).run.status)
      .toBe("completed");
    return names.map((name) => readFileSync(join(marks, name), "utf8"));
  };
  const value = "[a-value-of-the-team]";
  expect(await seen("setup", "hook", "program")).toEqual([value, value, value]);
  const { trust = [] } = await shop.wire.result("workspace/get", { workspace_id });
  const { content_sha256 } = trust.find(({ kind }) => kind === "config") ?? {};
  await shop.wire.result("workspace/trust", { workspace_id, kind: "config", content_sha256 });
  // Hooks are loaded anew, which takes a moment.
  await expect.poll(() => seen("setup", "hook", "program")).toEqual(["[]", "[]", "[]"]);
  for (const name of ["setup", "hook", "program", "server"]) rmSync(join(marks, name));
  gateway = await gateway.restart();
  shop = await shop.on(gateway);
  expect(await seen("setup", "hook", "program")).toEqual(["[]", "[]", "[]"]);
  await expect.poll(() => existsSync(join(marks, "server"))).toBe(true);
  expect(readFileSync(join(marks, "server"), "utf8")).toBe("[]");
  await shop.wire.result("workspace/trust", { workspace_id, kind: "config", revoke: true });
  await expect.poll(() => seen("setup", "hook", "program")).toEqual([value, value, value]);
});

describe("runs", () => {
  const stage = runStage();
  const write = (...agents: object[]) => replace(stage.configFile(), { agents });

  test("[CFG6] the next run of a thread has the new model, key and prompt; the same thread as well as another", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: apis[0].id });
    scene.plays("one", "two", "three");
    await scene.answered(id, "first");
    const chat = { provider: "openai-compatible", model: "newer" };
    const config = { baseURL: `${scene.model.url}/v1`, apiKey: "another-key-123" };
    await told(scene.wire, () =>
      write({ agentId: apis[0].id, systemPrompt: "Be new.", chat: { ...chat, config } }),
    );
    await scene.answered(id, "second");
    await scene.answered((await scene.start({ agent_id: apis[0].id })).id, "third");
    const sent = scene.model.requests.map(({ body, headers }) => {
      const { model, messages } = JSON.parse(body);
      return [model, headers.authorization, JSON.stringify(messages).includes("Be new.")];
    });
    expect(sent).toEqual([
      ["qwen3", "Bearer test-key-0123456789", false],
      ["newer", "Bearer another-key-123", true],
      ["newer", "Bearer another-key-123", true],
    ]);
    await told(scene.wire, () => write(...apis.map((api) => agentAt(scene.model.url, api))));
  });

  test("[CFG7] a run under way ends with what it was admitted with, also when its agent is gone", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: apis[0].id });
    scene.plays({ steps: [{ gate: "held" }, ...calls("system_time").steps] }, says("done"));
    const { run } = await scene.startRun(id, "go");
    await scene.model.request(0);
    await told(scene.wire, () => write({ agentId: "other", chat: { provider: "demo" } }));
    scene.model.open("held");
    const ended = await scene.ended(run.id);
    expect([ended.status, ended.error]).toEqual(["completed", undefined]);
    expect(JSON.parse(await scene.received(1)).model).toBe("qwen3");
    const refused = await scene.startRun((await scene.start({ agent_id: "other" })).id, "hello");
    expect((await scene.ended(refused.run.id)).status).toBe("completed");
    expect(scene.model.requests).toHaveLength(2);
    await told(scene.wire, () => write(...apis.map((api) => agentAt(scene.model.url, api))));
  });

  test("[CFG2] a file that --config names and that is removed keeps what it said, and says so", async () => {
    const scene = await stage.scene();
    await scene.wire.result("subscribe", { workspace_id: scene.workspace_id });
    const text = readFileSync(stage.configFile(), "utf8");
    const { problem } = await told(scene.wire, () => rmSync(stage.configFile()));
    expect(problem).toContain(stage.configFile());
    expect(await agentIds(scene.wire)).toEqual(apis.map(({ id }) => id));
    await told(scene.wire, () => writeFileSync(stage.configFile(), text));
  });
});

test("[CFG8] everyone who follows a workspace is told, and nobody who does not", async () => {
  const gateway = await startGateway(sqliteStore);
  onTestFinished(() => gateway.stop());
  const model = await startModelServer();
  onTestFinished(() => model.close());
  const one = await RunScene.over(gateway, model, projectDirectory());
  const two = await RunScene.over(gateway, model, projectDirectory());
  const silent = await gateway.wire();
  const file = join(gateway.place.dataDir, "heddle.config.json");
  for (const { wire, workspace_id } of [one, two]) await wire.result("subscribe", { workspace_id });
  const both = [one, two].map(({ wire }) => told(wire, () => {}));
  writeFileSync(file, JSON.stringify(named("a")));
  expect(await Promise.all(both)).toEqual([one, two].map(({ workspace_id }) => ({ workspace_id })));
  expect(silent.notifications("agent/changed")).toEqual([]);
});

function command(id: string, hook_id = `${id}.hook`) {
  return {
    id,
    contributes: ["prompt_section"],
    command: ["true"],
    subscriptions: [{ hook_id, phase: "turn.pre_prompt_compile" }],
  };
}

/** A module that counts how often it is loaded. */
function counting(id: string) {
  const dir = temporaryDirectory();
  const count = join(dir, "count");
  writeFileSync(
    join(dir, "hook.mjs"),
    `import { appendFileSync } from "node:fs";
     appendFileSync(${JSON.stringify(count)}, "x");
     export default { id: "${id}", contributes: ["prompt_section"],
       subscriptions: [{ hook_id: "${id}.hook", phase: "turn.pre_prompt_compile", run: async () => undefined }] };`,
  );
  return {
    entry: { module: join(dir, "hook.mjs") },
    loads: () => (existsSync(count) ? readFileSync(count, "utf8").length : 0),
  };
}

/** An agent that is a program, with a line for the shell before it. */
function started(agent: object, line: string): object {
  const { chat, ...rest } = agent as { chat: { config: { command: string; args: readonly string[] } } };
  const { command, args } = chat.config;
  const config = { ...chat.config, command: "sh", args: ["-c", `${line}; exec "$0" "$@"`, command, ...args] };
  return { ...rest, chat: { ...chat, config } };
}

/** A module that writes down what it sees of the team's variable whenever it is asked. */
function printingHook(file: string): string {
  return `import { writeFileSync } from "node:fs";
     const run = async () => writeFileSync(${JSON.stringify(file)}, "[" + (process.env.CFG_TEAM_VALUE ?? "") + "]");
     export default { id: "printing", contributes: ["prompt_section"],
       subscriptions: [{ hook_id: "printing.hook", phase: "turn.pre_prompt_compile", run }] };`;
}
