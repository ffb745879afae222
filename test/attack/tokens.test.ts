import { beforeEach, describe, expect, test } from "vitest";
import { methods } from "../../src/protocol/index.js";
import { agentNamed, playByAgent } from "../support/agents.js";
import { http, post, upgrade } from "../support/http.js";
import { calls, type RunScene, runStage } from "../support/runs.js";
import { Wire } from "../support/wire.js";
import { request, Traps } from "./support.js";

const traps = new Traps();
const stage = runStage(undefined, {
  config: (url) => ({
    plugins: {},
    agents: [
      agentNamed(url, "narrow", { toolDenylist: ["open_door"], toolApprovals: { ask: ["open_safe"] } }),
      agentNamed(url, "wide", { toolApprovals: { allow: ["*"] } }),
      agentNamed(url, "asker", { toolApprovals: { ask: ["open_box"] } }),
    ],
  }),
  options: { tools: ["open_door", "open_box", "open_safe"].map((name) => traps.tool(name)) },
});
beforeEach(() => void traps.sprung.splice(0));

const call = (name: string, more: object = {}) =>
  request("tool/call", { name, arguments: { word: "x" }, ...more });

async function threadOf(scene: RunScene, agent_id: string) {
  const { id: thread_id } = await scene.start({ agent_id });
  return { workspace_id: scene.workspace_id, thread_id };
}

/** A door of the gateway with the token of a thread. */
function doorOf(bound: { workspace_id: string; thread_id: string }) {
  const { access } = stage.gateway().app.gateway;
  const token = access.issue(bound);
  const { url } = stage.gateway();
  const send = async (message: unknown) => JSON.parse((await post({ url, token }, message)).text || "null");
  return { url, token, send, revoke: () => access.revoke(token) };
}

/** What the journal keeps of calls from outside the steps of a run, while that run is under way. */
async function calledIn(scene: RunScene, run_id: string) {
  const events = (await scene.journal(run_id)).filter(({ type }) => type === "tool.called");
  return events.map(({ by, name, status, reason }) => ({ by, name, status, ...(reason ? { reason } : {}) }));
}

describe("a person", () => {
  test("[SCP20] who calls in a thread has its agent's scope but needs nobody's word, and both are recorded", async () => {
    const scene = await stage.scene();
    const bound = await threadOf(scene, "narrow");
    playByAgent(scene.model, { narrow: [{ steps: [{ gate: "person" }, { text: "done" }] }] });
    const { run } = await scene.startRun(bound.thread_id, "wait");
    const params = (name: string) => ({ ...bound, name, arguments: { word: "p" } });
    expect(await scene.wire.result("tool/call", params("open_door"))).toMatchObject({
      status: "failed",
      output: "open_door was not called: in the agent's toolDenylist (open_door).",
    });
    await scene.wire.result("tool/call", params("open_safe"));
    await scene.wire.result("tool/call", params("Open_door"));
    expect(traps.sprung).toEqual(["open_safe p"]);
    expect(await calledIn(scene, run.id)).toEqual([
      {
        by: "person",
        name: "open_door",
        status: "refused",
        reason: "in the agent's toolDenylist (open_door)",
      },
      { by: "person", name: "open_safe", status: "completed" },
      { by: "person", name: "Open_door", status: "failed" },
    ]);
    scene.model.open("person");
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
  });

  test("[SCP20] can't lend a thread to a workspace that is not its own", async () => {
    const [scene, other] = [await stage.scene(), await stage.scene()];
    const { thread_id } = await threadOf(scene, "wide");
    const { workspace_id } = other;
    for (const name of ["open_box", "files_list"])
      expect(await scene.wire.error("tool/call", { workspace_id, thread_id, name })).toMatchObject({
        data: { kind: "thread.not_found" },
      });
    expect(traps.sprung).toEqual([]);
  });
});

describe("a token of a thread", () => {
  test("[SCP21] has the scope and the approvals of the thread's agent, and what it tries is recorded", async () => {
    const scene = await stage.scene();
    const bound = await threadOf(scene, "narrow");
    playByAgent(scene.model, { narrow: [{ steps: [{ gate: "token" }, { text: "done" }] }] });
    const { run } = await scene.startRun(bound.thread_id, "wait");
    const { send } = doorOf(bound);
    const tries = ["open_door", "open_safe", "bash", "files_write", "open_box", "system_open_door"];
    const answers = await send(tries.map((name, at) => ({ ...call(name), id: at })));
    expect(answers.map(({ result }: { result: { status: string } }) => result.status)).toEqual(
      tries.map((name) => (name === "open_box" ? "completed" : "failed")),
    );
    expect(traps.sprung).toEqual(["open_box x"]);
    const kept = await calledIn(scene, run.id);
    expect(kept.map(({ by, name, status }) => `${by} ${name} ${status}`)).toEqual([
      "agent open_door refused",
      "agent open_safe refused",
      "agent bash refused",
      "agent files_write refused",
      "agent open_box completed",
      "agent system_open_door failed",
    ]);
    expect(kept[1]?.reason).toContain("somebody has to allow it first");
    scene.model.open("token");
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
  });

  test("[SCP22] can't name another thread or workspace, leave its thread out, or slip one in", async () => {
    const [scene, elsewhere] = [await stage.scene(), await stage.scene()];
    const own = await threadOf(scene, "narrow");
    const wide = await threadOf(scene, "wide");
    const far = await threadOf(elsewhere, "wide");
    const { send } = doorOf(own);
    const named = [
      wide,
      far,
      { thread_id: wide.thread_id },
      { workspace_id: far.workspace_id },
      { ...own, workspace_id: far.workspace_id },
      { ...own, thread_id: `${own.thread_id} ` },
      { thread_id: { toString: own.thread_id } },
      { thread_id: false },
      { workspace_id: "" },
    ];
    for (const more of named) {
      const { error } = await send(call("open_door", more));
      expect(error, JSON.stringify(more)).toMatchObject({ code: -32003, data: { kind: "not_allowed" } });
    }
    const { params } = call("open_door");
    const twice = `{"jsonrpc":"2.0","id":1,"method":"tool/call","params":{"name":"open_door","thread_id":"${own.thread_id}","thread_id":"${wide.thread_id}"}}`;
    const proto = `{"jsonrpc":"2.0","id":1,"method":"tool/call","params":{"name":"open_door","__proto__":{"thread_id":"${wide.thread_id}"}}}`;
    expect((await send(twice)).error).toMatchObject({ code: -32003 });
    expect(JSON.stringify(await send(proto))).not.toContain("did open_door");
    const without = await send(request("tool/call", params));
    expect(without.result.output).toContain("toolDenylist");
    expect(traps.sprung).toEqual([]);
  });

  test("[SCP23] opens no other method, with whatever it would need to work, one by one, in a batch and as notifications", async () => {
    const scene = await stage.scene();
    const { workspace_id, thread_id } = await threadOf(scene, "asker");
    playByAgent(scene.model, { asker: [calls("open_box", { word: "asked" }), "done"] });
    const { run } = await scene.startRun(thread_id, "go");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    const folder_id = await scene.folder("F");
    const { send, token, url } = doorOf({ workspace_id, thread_id });
    // What every method that could do harm would be satisfied with.
    const params = {
      workspace_id,
      thread_id,
      folder_id,
      run_id: run.id,
      tool_call_id: "call_1",
      decision: "always",
      granted_tools: ["open_box"],
      agent_id: "wide",
      content: "do it",
      message: { role: "user", content: "x" },
      name: "N",
      title: "T",
      root_path: scene.root,
      kind: "config",
      content_sha256: "0".repeat(64),
      query: "x",
    };
    const before = JSON.stringify([await scene.list(), await scene.tree(), await scene.runs()]);
    const others = Object.keys(methods).filter(
      (method) => !["initialize", "ping", "tool/list", "tool/call"].includes(method),
    );
    expect(others).toEqual(expect.arrayContaining(["run/approve", "thread/update", "workspace/trust"]));
    const wire = await Wire.open(url, token);
    for (const method of others) {
      expect(await wire.error(method, params), method).toMatchObject({
        code: -32003,
        data: { kind: "not_allowed", method },
      });
    }
    wire.close();
    const answers = await send(others.map((method, at) => request(method, params, at)));
    expect(answers.map(({ error }: { error?: { code: number } }) => error?.code)).toEqual(
      others.map(() => -32003),
    );
    expect(await send(others.map((method) => ({ jsonrpc: "2.0", method, params })))).toBeNull();
    for (const method of ["Run/approve", "run/approve ", "__proto__", "constructor", "run/approve\0"])
      expect((await send(request(method, params))).error.code, method).toBe(-32601);
    expect(JSON.stringify([await scene.list(), await scene.tree(), await scene.runs()])).toBe(before);
    expect(traps.sprung).toEqual([]);
    await scene.wire.result("run/cancel", { run_id: run.id });
  });

  test("[SCP24] opens no other address, in whichever way it is handed over", async () => {
    const scene = await stage.scene();
    const bound = await threadOf(scene, "wide");
    const { url, token } = doorOf(bound);
    const cookie = `heddle_session_${new URL(url).port}=${token}`;
    const body = JSON.stringify(call("open_box"));
    const ways = [
      { cookie },
      { cookie: `${cookie}.x`, authorization: "" },
      { authorization: `Basic ${Buffer.from(`x:${token}`).toString("base64")}` },
      { authorization: token },
      { authorization: `Bearer ${token.slice(0, -1)}` },
      { authorization: `Bearer ${token.split(".")[1]}` },
      { authorization: `Bearer ${token.split(".")[0]}.` },
      { "x-api-key": token },
      { "sec-websocket-protocol": token },
    ];
    for (const headers of ways) {
      expect((await http(`${url}/rpc`, { method: "POST", headers, body })).status).toBe(401);
      expect(await upgrade(`${url}/rpc`, headers)).toBe(401);
    }
    for (const query of [`?token=${token}`, `?code=${token}`])
      expect((await http(`${url}/rpc${query}`, { method: "POST", body })).status).toBe(401);
    const page = await http(`${url}/?code=${token}`);
    expect([page.status, page.headers["set-cookie"]]).toEqual([303, undefined]);
    const headers = { authorization: `Bearer ${token}` };
    for (const path of ["/metrics", `/threads/${bound.thread_id}/assets/a.png`, "//rpc", "/rpc/", "/RPC"]) {
      const { status, text } = await http(`${url}${path}`, { headers });
      expect(status, path).toBe(403);
      expect(text).not.toContain("# HELP");
    }
    expect(await upgrade(`${url}/metrics`, headers)).not.toBe(101);
    const open = await http(`${url}/`, { headers });
    expect([open.status, open.headers["set-cookie"]]).toEqual([200, undefined]);
    expect(traps.sprung).toEqual([]);
  });

  test("[SCP25] is of no use to another thread, nor once it is revoked, while that thread's command goes on", async () => {
    const scene = await stage.scene();
    const [narrow, wide] = [await threadOf(scene, "narrow"), await threadOf(scene, "wide")];
    const [one, two] = [doorOf(narrow), doorOf(wide)];
    expect((await one.send(call("open_box", wide))).error.code).toBe(-32003);
    expect((await two.send(call("open_box", narrow))).error.code).toBe(-32003);
    expect((await two.send(call("open_door"))).result.status).toBe("completed");
    expect((await one.send(call("open_door"))).result.status).toBe("failed");
    const wire = await Wire.open(one.url, one.token);
    one.revoke();
    expect(await wire.closed()).toBe(1008);
    expect((await post(one, call("open_box"))).status).toBe(401);
    expect(await upgrade(`${one.url}/rpc`, { authorization: `Bearer ${one.token}` })).toBe(401);
    expect((await two.send(call("open_box"))).result.status).toBe("completed");
    expect(traps.sprung).toEqual(["open_door x", "open_box x"]);
  });
});
