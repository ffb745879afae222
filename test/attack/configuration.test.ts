import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { TrustState } from "../../src/protocol/index.js";
import { agentNamed, playByAgent, requestsOf } from "../support/agents.js";
import { post } from "../support/http.js";
import { replace, told } from "../support/live-config.js";
import { type RunScene, runStage } from "../support/runs.js";
import { temporaryDirectory } from "../support/stores.js";
import { request, step, Traps, toldOf } from "./support.js";

const traps = new Traps();
const options = { tools: ["open_door", "open_box"].map((name) => traps.tool(name)) };
const narrow = { toolDenylist: ["open_door"] };
const stage = runStage(undefined, {
  options,
  config: (url) => ({ agents: [agentNamed(url, "wide"), agentNamed(url, "narrow", narrow)] }),
});
let good: string;
beforeEach(() => {
  good = readFileSync(stage.configFile(), "utf8");
  traps.sprung.splice(0);
});
afterEach(async () => {
  if (readFileSync(stage.configFile(), "utf8") === good) return;
  const wire = await stage.gateway().wire();
  await wire.result("subscribe", { workspace_id: stage.gateway().home });
  await told(wire, () => replace(stage.configFile(), good));
});

/** A run of the agent that tries the door; answers what it was told. */
async function triesDoor(scene: RunScene, agent_id: string, thread_id?: string): Promise<string> {
  const id = thread_id ?? (await scene.start({ agent_id })).id;
  playByAgent(scene.model, { [agent_id]: [step(["open_door", { word: agent_id }]), "I see."] });
  await scene.answered(id, "go");
  return toldOf(scene, agent_id, 1)[0] ?? "";
}

const follow = ({ wire, workspace_id }: RunScene) => wire.result("subscribe", { workspace_id });

describe("the user's configuration", () => {
  test("[SCP70] an edit that can't be used lifts no limit", async () => {
    const scene = await stage.scene();
    await follow(scene);
    const { url } = scene.model;
    const broken = [
      '{ "agents": [',
      "",
      JSON.stringify({ agents: [agentNamed(url, "narrow", { toolDenylist: ["!open_door"] })] }),
      JSON.stringify({ agents: [agentNamed(url, "narrow", { toolDenylist: "open_door" })] }),
      JSON.stringify({ agents: [agentNamed(url, "narrow"), agentNamed(url, "narrow")] }),
      JSON.stringify({ agents: [agentNamed(url, "narrow", { extends: "nobody" })] }),
      JSON.stringify({ agents: [agentNamed(url, "narrow", { toolApprovals: { allow: [""] } })] }),
    ];
    for (const text of broken) {
      const { problem } = await told(scene.wire, () => writeFileSync(stage.configFile(), text));
      expect(problem, text).toBeDefined();
      expect(await triesDoor(scene, "narrow"), text).toContain("toolDenylist");
    }
    expect(traps.sprung).toEqual([]);
  });

  test("[SCP71] an edit that makes lists stricter counts for the next run, and for commands and people at once", async () => {
    const scene = await stage.scene();
    await follow(scene);
    const { workspace_id } = scene;
    const { id: thread_id } = await scene.start({ agent_id: "wide" });
    const held = { steps: [{ gate: "tighter" }, ...step(["open_door", { word: "under way" }]).steps] };
    playByAgent(scene.model, { wide: [held, "done"] });
    const { run } = await scene.startRun(thread_id, "go");
    await scene.model.request(0);
    const agents = [agentNamed(scene.model.url, "wide", narrow)];
    await told(scene.wire, () => replace(stage.configFile(), { agents }));
    const door = {
      url: stage.gateway().url,
      token: stage.gateway().app.gateway.access.issue({ workspace_id, thread_id }),
    };
    const { text } = await post(door, request("tool/call", { name: "open_door" }));
    expect(JSON.parse(text).result.output).toContain("toolDenylist");
    const byPerson = { workspace_id, thread_id, name: "open_door" };
    expect((await scene.wire.result("tool/call", byPerson)).output).toContain("toolDenylist");
    scene.model.open("tighter");
    await scene.ended(run.id);
    expect(traps.sprung).toEqual(["open_door under way"]);
    expect(await triesDoor(scene, "wide", thread_id)).toContain("toolDenylist");
    expect(traps.sprung).toHaveLength(1);
  });

  test("[SCP72] a run whose agent is gone when its turn comes is ended, not carried out by another", async () => {
    const scene = await stage.scene();
    await follow(scene);
    const { id } = await scene.start({ agent_id: "narrow" });
    playByAgent(scene.model, {
      narrow: [{ steps: [{ gate: "gone" }, { text: "first" }] }, step(["open_door"]), "second"],
      wide: [step(["open_door"]), "never"],
    });
    const first = await scene.startRun(id, "one");
    const second = await scene.startRun(id, "two");
    await scene.model.request(0);
    const agents = [agentNamed(scene.model.url, "wide")];
    await told(scene.wire, () => replace(stage.configFile(), { agents }));
    scene.model.open("gone");
    expect(await scene.ended(first.run.id)).toMatchObject({ status: "completed" });
    expect(await scene.ended(second.run.id)).toMatchObject({
      status: "failed",
      error: { code: "agent.not_found" },
    });
    expect(scene.model.requests).toHaveLength(1);
    expect(traps.sprung).toEqual([]);
  });

  test("[SCP44] an agent that is gone while its run is under way hands work to nobody under somebody else's lists", async () => {
    const scene = await stage.scene();
    await follow(scene);
    const { url } = scene.model;
    const all = { plugins: { artifacts: { enabled: false }, bash: { enabled: false } } };
    const [wide, other] = [agentNamed(url, "wide"), agentNamed(url, "other")];
    const alone = agentNamed(url, "alone", { agentAllowlist: ["wide"] });
    await told(scene.wire, () => replace(stage.configFile(), { ...all, agents: [wide, other, alone] }));
    const { id } = await scene.start({ agent_id: "alone" });
    const ask = step(["agents_message", { agentId: "other", content: "let me out" }]).steps;
    playByAgent(scene.model, { alone: [{ steps: [{ gate: "left" }, ...ask] }], other: ["never"] });
    const { run } = await scene.startRun(id, "go");
    await scene.model.request(0);
    await told(scene.wire, () => replace(stage.configFile(), { ...all, agents: [wide, other] }));
    scene.model.open("left");
    await scene.ended(run.id);
    expect(toldOf(scene, "alone", 1)[0]).toContain("There is no agent");
    expect((await scene.runs()).map(({ agent_id }) => agent_id)).toEqual(["alone"]);
    expect(requestsOf(scene.model, "other")).toEqual([]);
  });

  test("[SCP72] one that waits its turn has the lists of the day it begins", async () => {
    const scene = await stage.scene();
    await follow(scene);
    const { id } = await scene.start({ agent_id: "wide" });
    playByAgent(scene.model, {
      wide: [{ steps: [{ gate: "later" }, { text: "first" }] }, step(["open_door"]), "second"],
    });
    await scene.startRun(id, "one");
    const { run } = await scene.startRun(id, "two");
    await scene.model.request(0);
    const agents = [agentNamed(scene.model.url, "wide", narrow)];
    await told(scene.wire, () => replace(stage.configFile(), { agents }));
    scene.model.open("later");
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    expect(toldOf(scene, "wide", 1)[0]).toContain("toolDenylist");
    expect(traps.sprung).toEqual([]);
  });

  test("[SCP73] an agent that extends another has each of its limits, unless it says otherwise itself", async () => {
    const scene = await stage.scene();
    await follow(scene);
    const limits = {
      toolAllowlist: ["open_*"],
      toolDenylist: ["open_door"],
      capabilityAllowlist: ["open.*"],
      capabilityDenylist: ["open.safe"],
      agentAllowlist: [],
      toolApprovals: { ask: ["open_box"], deny: ["bash"] },
      uiVisible: false,
    };
    const agents = [
      agentNamed(scene.model.url, "base", limits),
      { agentId: "child", extends: "base", chat: { model: "child" } },
      { agentId: "grandchild", extends: "child", chat: { model: "grandchild" }, toolDenylist: ["open_box"] },
      agentNamed(scene.model.url, "wide"),
    ];
    await told(scene.wire, () => replace(stage.configFile(), { agents }));
    const { workspace_id } = scene;
    const toolsOf = async (agent_id: string) => {
      const { id: thread_id } = await scene.start({ agent_id });
      const { data } = await scene.wire.result("tool/list", { workspace_id, thread_id });
      return data.map(({ name, offered, reason, approval }) => ({ name, offered, reason, approval }));
    };
    expect(await toolsOf("child")).toEqual(await toolsOf("base"));
    const offered = (await toolsOf("grandchild")).filter((tool) => tool.offered).map(({ name }) => name);
    expect(offered).toEqual(["open_door", "system_time"]);
    expect(await triesDoor(scene, "child")).toContain("toolDenylist");
    const { data } = await scene.wire.result("agent/list", {});
    expect(data.map(({ agent_id }) => agent_id)).toEqual(["wide"]);
    expect(traps.sprung).toEqual([]);
  });
});

describe("a project's configuration", () => {
  const CONFIG = "heddle.config.json";
  /** A project's file names no keys. */
  const widened = (url: string, more: object = {}) => {
    const { chat, ...agent } = agentNamed(url, "narrow", more);
    const { provider, model } = chat;
    return { agents: [{ ...agent, chat: { provider, model, config: { baseURL: `${url}/v1` } } }] };
  };

  async function trust({ wire, workspace_id }: RunScene): Promise<void> {
    const { trust: states = [] } = await wire.result("workspace/get", { workspace_id });
    const { content_sha256 } = states.find(({ kind }) => kind === "config") as TrustState;
    await wire.result("workspace/trust", { workspace_id, kind: "config", content_sha256 });
  }

  test("[SCP74] counts for nothing before it is trusted, and from the moment on that it is another", async () => {
    const scene = await stage.scene();
    scene.write(CONFIG, widened(scene.model.url));
    expect(await triesDoor(scene, "narrow")).toContain("toolDenylist");
    await trust(scene);
    expect(await triesDoor(scene, "narrow")).toBe("did open_door");
    traps.sprung.splice(0);
    const others = [
      () => scene.write(CONFIG, widened(scene.model.url, { description: "Edited." })),
      () => scene.write(CONFIG, widened(scene.model.url, { toolAllowlist: ["open_door"] })),
      () => scene.write(CONFIG, '{ "agents": ['),
      () => {
        const file = join(temporaryDirectory(), CONFIG);
        writeFileSync(file, JSON.stringify(widened(scene.model.url)));
        rmSync(join(scene.root, CONFIG));
        symlinkSync(file, join(scene.root, CONFIG));
      },
      () => rmSync(join(scene.root, CONFIG)),
    ];
    for (const change of others) {
      change();
      expect(await triesDoor(scene, "narrow")).toContain("toolDenylist");
    }
    expect(traps.sprung).toEqual([]);
  });

  test("[SCP74] can't take another's agents as its own by extending them, nor change other workspaces", async () => {
    const [scene, other] = [await stage.scene(), await stage.scene()];
    const { url } = scene.model;
    scene.write(CONFIG, { agents: [{ agentId: "mine", extends: "narrow", toolDenylist: null }] });
    await trust(scene).catch(() => {});
    const { workspace_id } = scene;
    const { data } = await scene.wire.result("agent/list", { workspace_id });
    expect(data.map(({ agent_id }) => agent_id)).toEqual(["wide", "narrow"]);
    scene.write(CONFIG, { ...widened(url), limits: { maxDelegationDepth: 9 } });
    await trust(scene);
    expect(await triesDoor(other, "narrow")).toContain("toolDenylist");
    expect(requestsOf(other.model, "narrow").length).toBeGreaterThan(0);
    expect(traps.sprung).toEqual([]);
  });
});
