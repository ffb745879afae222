import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { ToolRegistry } from "../../src/tools/index.js";
import { agentNamed, playByAgent } from "../support/agents.js";
import { scripted } from "../support/mcp-stage.js";
import { endOf, MortalGateway } from "../support/mortal-gateway.js";
import { agentAt, apis, calls, type RunScene, runStage, says } from "../support/runs.js";
import { soon } from "../support/threads.js";
import { type Call, recorded, step, Traps, toldOf } from "./support.js";

const traps = new Traps();
const stage = runStage(undefined, {
  config: (url) => ({
    plugins: {},
    mcpServers: { later: scripted({ tools: [{ name: "grow", does: "add" }] }) },
    agents: [
      agentNamed(url, "listed", { toolAllowlist: ["open_*", "mcp_*"], toolDenylist: ["open_door"] }),
      agentNamed(url, "incapable", { capabilityAllowlist: ["open.*"], capabilityDenylist: ["open.door"] }),
      agentNamed(url, "skilled", { toolExposure: "skills", toolDenylist: ["open_door"] }),
      agentNamed(url, "barred", { toolApprovals: { allow: ["*"], deny: ["open_door"] } }),
      agentNamed(url, "free", { toolApprovals: { allow: ["mcp_*"] } }),
    ],
  }),
  options: { tools: [traps.tool("open_door"), traps.tool("open_box")] },
});
beforeEach(() => void traps.sprung.splice(0));

/** A thread of the agent in which it makes these calls, all in one step. Answers what the model was told of them. */
async function attempt(scene: RunScene, agent_id: string, ...attempts: readonly Call[]) {
  const { id } = await scene.start({ agent_id });
  scene.model.forget();
  playByAgent(scene.model, { [agent_id]: [step(...attempts), "I see."] });
  const run = await scene.answered(id, "go");
  return { id, run, told: toldOf(scene, agent_id, attempts.length) };
}

describe("what a model asks for", () => {
  const forbidden = [
    ["listed", "open_door", "in the agent's toolDenylist (open_door)"],
    ["listed", "files_read", "not in the agent's toolAllowlist"],
    ["listed", "bash", "not in the agent's toolAllowlist"],
    ["listed", "agents_message", "not in the agent's toolAllowlist"],
    ["incapable", "open_door", "its capability open.door is in the agent's capabilityDenylist (open.door)"],
    ["incapable", "bash", "its capability bash is not in the agent's capabilityAllowlist"],
    ["skilled", "open_door", "in the agent's toolDenylist (open_door)"],
    ["skilled", "open_box", "used as a skill, through bash: the agent's toolExposure is skills"],
    ["barred", "open_door", "in the agent's toolApprovals.deny (open_door)"],
  ] as const;

  test.each(forbidden)("[SCP10] %s is refused %s, is told why, and goes on", async (agent_id, name, why) => {
    const scene = await stage.scene();
    scene.write("secret.txt", "the secret");
    const { id, run, told } = await attempt(scene, agent_id, [name, { path: "secret.txt", command: "id" }]);
    expect(told).toEqual([`The tool ${name} is not available to you: ${why}.`]);
    expect(run.steps).toBe(2);
    expect(await recorded(scene, id)).toEqual([{ name, status: "failed", output: told[0] }]);
    const { tools } = await scene.manifest(run.id);
    expect(tools.find((tool) => tool.name === name)).toEqual({ name, offered: false, reason: why });
    expect(traps.sprung).toEqual([]);
  });

  test("[SCP10] of several calls in one step those within scope are made, and no other", async () => {
    const scene = await stage.scene();
    const attempts: Call[] = [
      ["open_door", { word: "first" }],
      ["open_box", { word: "one" }],
      ["open_door", { word: "second" }],
      ["bash", { command: "echo" }],
      ["open_box", { word: "two" }],
      ["nothing_there"],
    ];
    const { id, told } = await attempt(scene, "listed", ...attempts);
    expect(traps.sprung.toSorted()).toEqual(["open_box one", "open_box two"]);
    expect(told.map((text) => /did open_box|not available|no tool/.exec(text)?.[0])).toEqual([
      "not available",
      "did open_box",
      "not available",
      "not available",
      "did open_box",
      "no tool",
    ]);
    expect((await recorded(scene, id)).map(({ status }) => status === "completed")).toEqual([
      false,
      true,
      false,
      false,
      true,
      false,
    ]);
  });

  test("[SCP11] a name that only looks like a tool's is no tool's", async () => {
    const scene = await stage.scene();
    const looks = [
      "Open_door",
      "OPEN_BOX",
      "open_box ",
      " open_box",
      "open_box\n",
      "open_box\u200b",
      "open_box\0",
      "ｏpen_box",
      "оpen_box",
      "open_bo\u0445",
      "system_open_box",
      "system_open_door",
      "functions.open_box",
      "mcp_open_box",
      "open-box",
      "open_*",
      "*",
      "open_box,open_door",
      "open_box/../open_door",
      "__proto__",
      "constructor",
      "toString",
      "hasOwnProperty",
      "valueOf",
      "x".repeat(5_000),
    ];
    const { id, run, told } = await attempt(
      scene,
      "listed",
      ...looks.map((name): Call => [name, { word: name }]),
      ["open_box", { word: "itself" }],
    );
    expect(run.steps).toBe(2);
    for (const [at, name] of looks.entries()) {
      expect(told[at], JSON.stringify(name.slice(0, 40))).toMatch(
        /^There is no tool .* Nothing was done\.$/s,
      );
      expect(told[at]?.length, String(at)).toBeLessThan(600);
    }
    expect(traps.sprung).toEqual(["open_box itself"]);
    const statuses = (await recorded(scene, id)).map(({ status }) => status);
    expect(statuses).toEqual([...looks.map(() => "failed"), "completed"]);
  });

  test("[SCP11] by whichever API the model is asked", async () => {
    for (const api of apis) {
      const scene = await many.scene();
      const { id } = await scene.start({ agent_id: api.id });
      scene.plays(step(["open_door"], ["open_box "], ["Open_box"], ["open_box"]), says("I see."));
      await scene.answered(id, "go");
      const outputs = (await recorded(scene, id)).map(({ output }) => output);
      expect(outputs, api.id).toEqual([
        expect.stringContaining("toolDenylist"),
        expect.stringContaining("no tool"),
        expect.stringContaining("no tool"),
        "did open_box",
      ]);
    }
    expect(traps.sprung).toEqual(apis.map(() => "open_box"));
  });
  const many = runStage(undefined, {
    config: (url) => ({ agents: apis.map((api) => agentAt(url, api, { toolDenylist: ["open_door"] })) }),
    options: { tools: [traps.tool("open_door"), traps.tool("open_box")] },
  });
});

describe("a tool that comes later", () => {
  test("[SCP12] is not called in a run that began before it was there, and is in the next", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const names = async () =>
      (await scene.wire.result("tool/list", { workspace_id })).data.map(({ name }) => name);
    await soon(names).toContain("mcp_later_grow");
    const { id } = await scene.start({ agent_id: "free" });
    const name = "mcp_later_added_0";
    expect(await names()).not.toContain(name);
    const gated = { steps: [{ gate: "grown" }, ...step([name, { text: "now" }]).steps] };
    playByAgent(scene.model, { free: [calls("mcp_later_grow", {}), gated, "I see."] });
    const { run } = await scene.startRun(id, "go");
    await soon(names).toContain(name);
    scene.model.open("grown");
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    expect(toldOf(scene, "free", 1)).toEqual([
      `The tool ${name} is not available to you: it was not there when this run began.`,
    ]);
    expect((await recorded(scene, id)).at(-1)).toMatchObject({ name, status: "failed" });
    playByAgent(scene.model, { free: [step([name, { text: "again" }]), "I see."] });
    await scene.answered(id, "go on");
    expect(toldOf(scene, "free", 1)[0]).not.toContain("not available");
  });

  test("[SCP12] not even when it comes between the look at a call and the call", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const comes = comingLate("late_work");
    const { id } = await scene.start({ agent_id: "listed" });
    playByAgent(scene.model, { listed: [step(["late_work"]), "I see."] });
    await scene.answered(id, "go");
    expect([comes.times(), traps.sprung]).toEqual([1, []]);
    comes.again();
    const params = { workspace_id, thread_id: id, name: "late_work" };
    expect(await scene.wire.result("tool/call", params)).toMatchObject({ status: "failed" });
    expect(comes.times()).toBe(2);
    expect(traps.sprung).toEqual([]);
  });
});

/** A tool out of everyone's scope that is registered right after somebody has looked whether it is there. */
function comingLate(name: string) {
  let times = 0;
  let armed = true;
  let from: ToolRegistry | undefined;
  const plugin = { id: "late", title: "Late", description: "", tools: [traps.tool(name)] };
  const arrive = (registry: ToolRegistry) => {
    if (!armed) return;
    armed = false;
    from = registry;
    queueMicrotask(() => {
      times += 1;
      registry.setPlugin(plugin);
    });
  };
  const { get, list } = ToolRegistry.prototype;
  const ofGet = vi.spyOn(ToolRegistry.prototype, "get").mockImplementation(function (
    this: ToolRegistry,
    ...args
  ) {
    const found = get.apply(this, args);
    if (args[0] === name) arrive(this);
    return found;
  });
  const ofList = vi.spyOn(ToolRegistry.prototype, "list").mockImplementation(function (
    this: ToolRegistry,
    ...args
  ) {
    const found = list.apply(this, args);
    if (times > 0) arrive(this);
    return found;
  });
  onTestFinished(() => {
    ofGet.mockRestore();
    ofList.mockRestore();
    from?.removePlugin("late");
  });
  return {
    times: () => times,
    again: () => {
      from?.removePlugin("late");
      armed = true;
    },
  };
}

describe("after a kill", () => {
  test("[SCP13] calls that are made again are within the scope their run began with, and others are not made", async () => {
    const gateway = await MortalGateway.make();
    onTestFinished(() => gateway.remove());
    const configure = (more: { toolAllowlist?: string[] }) => {
      const agents = [agentAt(gateway.model.url, apis[0], more)];
      writeFileSync(join(gateway.place.dataDir, "heddle.config.json"), JSON.stringify({ agents }));
    };
    configure({ toolAllowlist: ["test_look"] });
    const scene = await gateway.start();
    const { id } = await scene.start();
    gateway.hold("test_look");
    gateway.plays(
      step(["test_look", { id: "a" }], ["test_write", { id: "b" }], ["test_wri\u200bte", { id: "c" }]),
      "I see.",
    );
    const { run } = await scene.startRun(id, "go");
    await soon(() => gateway.trace("test_look")).toEqual(["begin a"]);
    await gateway.kill();
    // Whatever the file says by now: what the run was offered counts.
    configure({});
    gateway.release("test_look");
    const again = await gateway.start();
    expect(await endOf(again, run.id)).toMatchObject({ status: "completed" });
    expect(gateway.trace("test_look")).toEqual(["begin a", "begin a", "end a"]);
    expect(gateway.trace("test_write")).toEqual([]);
    const [, write, odd] = await recorded(again, id);
    expect(write).toMatchObject({ name: "test_write", status: "failed" });
    expect(write?.output).toMatch(/not in the agent's toolAllowlist|Interrupted/);
    expect(odd?.output).toMatch(/no tool|Interrupted/);
  });
});
