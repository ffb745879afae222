import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { TrustState } from "../../src/protocol/index.js";
import { agentIds } from "../support/live-config.js";
import { agentAt, apis, calls, type RunScene, runStage, says } from "../support/runs.js";
import { temporaryDirectory } from "../support/stores.js";
import { projectDirectory, soon } from "../support/threads.js";

const stage = runStage();
const USER = apis.map(({ id }) => id);
const CONFIG = "heddle.config.json";

type Kind = "config" | "mcp";

async function stateOf(
  { wire, workspace_id }: RunScene,
  kind: Kind = "config",
): Promise<TrustState | undefined> {
  const { trust = [] } = await wire.result("workspace/get", { workspace_id });
  return trust.find((one) => one.kind === kind);
}

async function warningsOf({ wire, workspace_id }: RunScene): Promise<string[]> {
  return (await wire.result("workspace/get", { workspace_id })).warnings ?? [];
}

async function trust(scene: RunScene, kind: Kind = "config"): Promise<void> {
  const { content_sha256 } = (await stateOf(scene, kind)) as TrustState;
  const { workspace_id } = scene;
  expect(await scene.wire.result("workspace/trust", { workspace_id, kind, content_sha256 })).toEqual({
    trusted: true,
  });
}

const ids = ({ wire, workspace_id }: RunScene) => agentIds(wire, workspace_id);

const agent = (agentId: string, more: object = {}) => ({ agentId, chat: { provider: "demo" }, ...more });

describe("a project's configuration", () => {
  test("[CFG20] is shown as JSON, and nothing of it is used before it is trusted", async () => {
    const scene = await stage.scene();
    expect(await stateOf(scene)).toBeUndefined();
    scene.write(CONFIG, `{ // for the team\n "agents": [${JSON.stringify(agent("team"))},], }`);
    const shown = (await stateOf(scene)) as TrustState;
    expect(JSON.parse(shown.content)).toEqual({ agents: [agent("team")] });
    expect(shown).toMatchObject({ kind: "config", trusted: false });
    expect(await ids(scene)).toEqual(USER);
    expect(await warningsOf(scene)).toEqual([]);
    const { workspace_id } = scene;
    expect(await scene.wire.error("agent/get", { workspace_id, agent_id: "team" })).toMatchObject({
      data: { kind: "agent.not_found" },
    });
  });

  test("[CFG21] once trusted, its agents stand beside the user's, in that workspace alone, and after a restart too", async () => {
    const scene = await stage.scene();
    const other = await stage.scene();
    const replaced = agentAt(scene.model.url, apis[0], {
      displayName: "The team's",
      chat: { model: "team-model" },
    });
    for (const { root } of [scene, other]) {
      writeFileSync(
        join(root, CONFIG),
        JSON.stringify({ agents: [agent("team"), { ...replaced, chat: undefined }] }),
      );
    }
    await trust(scene);
    expect(await ids(scene)).toEqual(["team", apis[0].id, ...USER.slice(1)]);
    expect(await ids(other)).toEqual(USER);
    expect(await agentIds(scene.wire)).toEqual(USER);
    const { workspace_id } = scene;
    const { agent: shown } = await scene.wire.result("agent/get", { workspace_id, agent_id: apis[0].id });
    expect(shown.display_name).toBe("The team's");
    await stage.restart();
    const again = await stage.again(scene);
    expect(await ids(again)).toEqual(["team", apis[0].id, ...USER.slice(1)]);
    expect((await again.answered((await again.start({ agent_id: "team" })).id, "hello")).status).toBe(
      "completed",
    );
  });

  test("[CFG22] only the hash of what stands there now can be trusted", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const attempt = (content_sha256: string, kind: Kind = "config") =>
      scene.wire.error("workspace/trust", { workspace_id, kind, content_sha256 });
    expect(await attempt("0".repeat(64))).toMatchObject({ data: { kind: "trust.content_changed" } });
    scene.write(CONFIG, { agents: [agent("seen")] });
    const seen = (await stateOf(scene))?.content_sha256 as string;
    expect(await attempt(seen, "mcp")).toMatchObject({ data: { kind: "trust.content_changed" } });
    scene.write(CONFIG, { agents: [agent("swapped")] });
    expect(await attempt(seen)).toMatchObject({
      data: { kind: "trust.content_changed", content_sha256: (await stateOf(scene))?.content_sha256 },
    });
    expect(await scene.wire.error("workspace/trust", { workspace_id, kind: "config" })).toMatchObject({
      code: -32602,
    });
    expect(await ids(scene)).toEqual(USER);
  });

  test("[CFG23] changed after that, it is not used from that moment on, and one is told; as it was, it is used again", async () => {
    const scene = await stage.scene();
    scene.write(CONFIG, { agents: [agent("team")] });
    await trust(scene);
    // However close one change follows the other, and though neither its size nor its name differs.
    for (let round = 0; round < 30; round++) {
      scene.write(CONFIG, { agents: [agent("evil")] });
      expect(await ids(scene)).toEqual(USER);
      scene.write(CONFIG, { agents: [agent("team")] });
      await soon(() => ids(scene)).toContain("team");
    }
    scene.write(CONFIG, { agents: [agent("evil")] });
    expect(await warningsOf(scene)).toEqual([expect.stringContaining("has changed since you trusted it")]);
    expect(await stateOf(scene)).toMatchObject({ trusted: false });
    rmSync(join(scene.root, CONFIG));
    expect(await ids(scene)).toEqual(USER);
    expect(await stateOf(scene)).toBeUndefined();
  });

  test("[CFG23] comments and spaces may change: what is trusted is what it says", async () => {
    const scene = await stage.scene();
    scene.write(CONFIG, { agents: [agent("team")] });
    await trust(scene);
    scene.write(CONFIG, `// a comment\n${JSON.stringify({ agents: [agent("team")] }, null, 4)}`);
    await soon(() => ids(scene)).toContain("team");
    expect(await stateOf(scene)).toMatchObject({ trusted: true });
  });

  test("[CFG24] a run under way is not carried on with what is not trusted any more", async () => {
    const scene = await stage.scene();
    const own = { ...agentAt(scene.model.url, apis[0], { chat: { model: "team-model" } }), agentId: "team" };
    scene.write(CONFIG, {
      agents: [{ ...own, chat: { ...own.chat, config: { baseURL: `${scene.model.url}/v1` } } }],
    });
    await trust(scene);
    const { id } = await scene.start({ agent_id: "team" });
    scene.plays({ steps: [{ gate: "distrusted" }, ...calls("system_time").steps] }, says("never"));
    const { run } = await scene.startRun(id, "go");
    await scene.model.request(0);
    scene.write(CONFIG, { agents: [agent("another")] });
    scene.model.open("distrusted");
    const ended = await scene.ended(run.id);
    expect(ended).toMatchObject({ status: "failed", error: { code: expect.stringMatching(/^agent\./) } });
    expect(scene.model.requests).toHaveLength(1);
  });

  test("[CFG25] takes back: nothing of it is used any more, whatever it said before", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    for (const name of ["one", "two"]) {
      scene.write(CONFIG, { agents: [agent(name)] });
      await trust(scene);
    }
    expect(await ids(scene)).toContain("two");
    const revoked = { workspace_id, kind: "config" as const, revoke: true };
    expect(await scene.wire.result("workspace/trust", revoked)).toEqual({ trusted: false });
    expect(await ids(scene)).toEqual(USER);
    scene.write(CONFIG, { agents: [agent("one")] });
    expect(await stateOf(scene)).toMatchObject({ trusted: false });
    expect(await ids(scene)).toEqual(USER);
    expect(await scene.wire.result("workspace/trust", revoked)).toEqual({ trusted: false });
  });

  test("[CFG26] hooks and plugins of a project are not used, and that is said", async () => {
    const scene = await stage.scene();
    const mark = join(scene.root, "started");
    const hook = {
      id: "theirs",
      contributes: ["prompt_section"],
      shell: `touch ${mark}`,
      subscriptions: [{ hook_id: "theirs.hook", phase: "turn.pre_prompt_compile" }],
    };
    scene.write(CONFIG, {
      agents: [agent("team")],
      hooks: [hook],
      plugins: { files: { enabled: false } },
      agnets: [],
    });
    await trust(scene);
    expect(await warningsOf(scene)).toEqual([
      expect.stringMatching(/agnets is not a key that is known here/),
      expect.stringMatching(/: hooks of a project are not used/),
      expect.stringMatching(/: plugins of a project are not used/),
    ]);
    await scene.answered((await scene.start({ agent_id: "team" })).id, "hello");
    expect(existsSync(mark)).toBe(false);
    const { data } = await scene.wire.result("tool/list", { workspace_id: scene.workspace_id });
    expect(data.map(({ name }) => name)).toContain("files_read");
  });

  test.each([
    ["a file", (root: string) => writeFileSync(root, "no directory any more")],
    ["a link to itself", (root: string) => symlinkSync(root, root)],
  ])(
    "[CFG27] a trusted project whose directory has become %s stops nobody, now or at the next start",
    async (_, become) => {
      const scene = await stage.scene();
      scene.write(CONFIG, { agents: [agent("team")] });
      await trust(scene);
      await soon(() => ids(scene)).toContain("team");
      rmSync(scene.root, { recursive: true });
      become(scene.root);
      await soon(() => ids(scene)).toEqual(USER);
      await stage.restart();
      const wire = await stage.gateway().wire();
      expect(await agentIds(wire, scene.workspace_id)).toEqual(USER);
      rmSync(scene.root);
    },
  );

  test("[CFG27] what can't be used is a warning that says what to do, and is never used", async () => {
    const scene = await stage.scene();
    const file = join(scene.root, CONFIG);
    const outside = join(temporaryDirectory(), "outside.json");
    writeFileSync(outside, JSON.stringify({ agents: [agent("outside")] }));
    const made: Record<string, [why: RegExp, make: () => void]> = {
      "a link that leads out": [/leads out of its project/, () => symlinkSync(outside, file)],
      "a link to nothing": [/no such file/, () => symlinkSync("/nowhere/x", file)],
      "a directory": [/no regular file/, () => mkdirSync(file)],
      huge: [/more than 1 MiB/, () => writeFileSync(file, `{}${" ".repeat(1024 * 1024)}`)],
      "not UTF-8": [/UTF-8/, () => writeFileSync(file, Buffer.from([0x7b, 0xff, 0x7d]))],
      broken: [/is not JSON/, () => writeFileSync(file, "{")],
      "with a wrong value": [/agents\[0\]/, () => writeFileSync(file, '{"agents": [{"agentId": "a b"}]}')],
      "with an unknown variable": [
        /NOT_SET_ANYWHERE/,
        () => scene.write(CONFIG, { agents: [agent("a", { description: "$" + "{NOT_SET_ANYWHERE}" })] }),
      ],
      "with a key": [
        /looks like a key or token/,
        () =>
          scene.write(CONFIG, {
            agents: [
              { agentId: "a", chat: { provider: "openai", config: { apiKey: "sk-abcdefghijklmnopqrstu1" } } },
            ],
          }),
      ],
    };
    for (const [what, [why, make]] of Object.entries(made)) {
      make();
      const answer = await scene.wire.result("workspace/get", { workspace_id: scene.workspace_id });
      expect(answer.warnings, what).toEqual([expect.stringMatching(why)]);
      expect(answer.trust, what).toBeUndefined();
      expect(JSON.stringify(answer), what).not.toContain("sk-abcdefg");
      expect(await ids(scene), what).toEqual(USER);
      rmSync(file, { recursive: true });
    }
    expect(await warningsOf(scene)).toEqual([]);
  });

  test("[CFG27] one that was trusted and is a link to the same elsewhere is not followed there", async () => {
    const scene = await stage.scene();
    const file = join(scene.root, CONFIG);
    scene.write(CONFIG, { agents: [agent("team")] });
    await trust(scene);
    const outside = join(temporaryDirectory(), "outside.json");
    writeFileSync(outside, readFileSync(file));
    rmSync(file);
    symlinkSync(outside, file);
    writeFileSync(outside, JSON.stringify({ agents: [agent("evil")] }));
    expect(await ids(scene)).toEqual(USER);
    rmSync(file);
    writeFileSync(join(scene.root, "inside.json"), JSON.stringify({ agents: [agent("team")] }));
    linkSync(join(scene.root, "inside.json"), file);
    await soon(() => ids(scene)).toContain("team");
  });

  test("[CFG28] a workspace that is bound to another directory has that project's, if it is trusted", async () => {
    const scene = await stage.scene();
    scene.write(CONFIG, { agents: [agent("team")] });
    await trust(scene);
    const elsewhere = projectDirectory();
    writeFileSync(join(elsewhere, CONFIG), JSON.stringify({ agents: [agent("evil")] }));
    const { workspace_id } = scene;
    await scene.wire.result("workspace/update", { workspace_id, root_path: elsewhere });
    expect(await ids(scene)).toEqual(USER);
    await scene.wire.result("workspace/update", { workspace_id, root_path: scene.root });
    expect(await ids(scene)).toContain("team");
    await scene.wire.result("workspace/delete", { workspace_id });
    expect(await ids(scene)).toEqual(USER);
    await scene.wire.result("workspace/undelete", { workspace_id });
    expect(await ids(scene)).toContain("team");
  });
});

describe("a project's .mcp.json", () => {
  /** A server that leaves a mark when it is started. */
  const server = (mark: string) => ({
    mcpServers: { marker: { command: "sh", args: ["-c", `touch ${mark}; exec cat > /dev/null`] } },
  });

  test("[CFG29] has no server started before it is trusted, and that trust is not the configuration's", async () => {
    const scene = await stage.scene();
    const marks = temporaryDirectory();
    scene.write(".mcp.json", server(join(marks, "mcp")));
    scene.write(CONFIG, server(join(marks, "config")));
    const shown = (await stateOf(scene, "mcp")) as TrustState;
    expect(JSON.parse(shown.content)).toEqual(server(join(marks, "mcp")));
    await trust(scene, "config");
    await soon(() => existsSync(join(marks, "config"))).toBe(true);
    expect(await stateOf(scene, "mcp")).toMatchObject({ trusted: false });
    expect(existsSync(join(marks, "mcp"))).toBe(false);
    await scene.wire.result("workspace/trust", {
      workspace_id: scene.workspace_id,
      kind: "config",
      revoke: true,
    });
    await trust(scene, "mcp");
    await soon(() => existsSync(join(marks, "mcp"))).toBe(true);
  });

  test("[CFG29] names servers only: what else stands in it is not used", async () => {
    const scene = await stage.scene();
    scene.write(".mcp.json", { mcpServers: {}, agents: [agent("evil")] });
    await trust(scene, "mcp");
    expect(await ids(scene)).toEqual(USER);
    expect(await warningsOf(scene)).toEqual([expect.stringMatching(/: agents of a project are not used/)]);
  });
});
