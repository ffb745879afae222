import OpenAI, { APIError } from "openai";
import { describe, expect, test } from "vitest";
import { assistant, modelAgents, openAi, user } from "../support/openai.js";
import { type RunScene, runStage, says } from "../support/runs.js";

describe("failures", () => {
  const stage = runStage(undefined, { config: modelAgents });
  const failing = (scene: RunScene, params: object): Promise<APIError> =>
    openAi(stage, scene)
      .chat.completions.create({ model: "helper", messages: [user("hi")], ...params })
      .then(
        () => Promise.reject(new Error("it was answered")),
        (error) => error,
      );

  test("[CCE12] a model that is not there, hidden or can't be used is a 404 that says why", async () => {
    const scene = await stage.scene();
    for (const model of ["nobody", "secret", "keyless"]) {
      const error = await failing(scene, { model });
      expect(error, model).toMatchObject({ status: 404, code: "model_not_found", param: "model" });
      expect(error.message).toContain(model === "keyless" ? "key" : "does not exist");
    }
    expect((await failing(scene, { model: "secret" })).message).not.toMatch(/There are:.*secret/);
    expect(await scene.runs()).toEqual([]);
    expect((await scene.tree()).threads).toEqual([]);
  });

  test("[CCE13] a request that is none is a 400 with what is wrong, and leaves nothing behind", async () => {
    const scene = await stage.scene();
    const wrong: [object, string][] = [
      [{ messages: [] }, "messages"],
      [{ messages: [assistant("hi")] }, "messages"],
      [{ messages: [user("  ")] }, "messages"],
      [{ messages: [{ role: "robot", content: "x" }] }, "messages.0.role"],
      [{ messages: [{ role: "user", content: [{ type: "input_audio" }] }] }, "messages.0.content"],
      [{ max_tokens: -1 }, "max_tokens"],
      [{ reasoning_effort: "immense" }, "reasoning_effort"],
      [{ n: 2 }, "n"],
      [{ stream: "yes" }, "stream"],
      [{ model: 7 }, "model"],
      [{ messages: [user("a\0b")] }, ""],
    ];
    for (const [params, param] of wrong) {
      const error = await failing(scene, params);
      expect(error, JSON.stringify(params)).toMatchObject({ status: 400, type: "invalid_request_error" });
      if (param !== "") expect(error.param).toBe(param);
    }
    expect((await failing(scene, { n: 2 })).code).toBe("unsupported_parameter");
    expect((await scene.tree()).threads).toEqual([]);
  });

  test("[CCE14] a run that fails is an error with its reason, whole or in the stream, and not tried again", async () => {
    const scene = await stage.scene();
    const refuse = { steps: [{ status: 400, body: { error: { message: "no such thing" } } }] };
    scene.plays(refuse);
    const { url, token } = stage.gateway();
    const headers = { "x-heddle-workspace": scene.workspace_id };
    const trying = new OpenAI({
      baseURL: `${url}/v1`,
      apiKey: token,
      defaultHeaders: headers,
      maxRetries: 2,
    });
    const params = { model: "helper", messages: [user("hi")] };
    await expect(trying.chat.completions.create(params)).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining("no such thing"),
    });
    expect(await scene.runs()).toHaveLength(1);
    scene.plays({ steps: [{ text: "And" }, { error: { type: "server_error", message: "it broke" } }] });
    const stream = await trying.chat.completions.create({ ...params, stream: true });
    const seen: string[] = [];
    const failure = await (async () => {
      for await (const { choices } of stream) seen.push(choices[0]?.delta.content ?? "");
    })().catch((error: unknown) => error);
    expect(seen.join("")).toBe("And");
    expect(failure).toBeInstanceOf(APIError);
    expect((failure as APIError).message).toContain("it broke");
  });

  test("[CCE14] a run that somebody cancels is told as such", async () => {
    const scene = await stage.scene();
    scene.plays({ steps: [{ gate: "never" }, { text: "x" }] });
    const waiting = failing(scene, {});
    await scene.model.request(0);
    const [run] = await scene.runs();
    await scene.wire.result("run/cancel", { run_id: run?.id ?? "" });
    expect(await waiting).toMatchObject({ status: 409, code: "run.cancelled" });
  });

  test("[CCE15] only the gateway's own token lets in; refusals have OpenAI's shape", async () => {
    const scene = await stage.scene();
    const { url, app } = stage.gateway();
    const stranger = new OpenAI({ baseURL: `${url}/v1`, apiKey: "wrong", maxRetries: 0 });
    await expect(stranger.models.list()).rejects.toMatchObject({
      status: 401,
      type: "invalid_request_error",
      message: expect.stringContaining("token"),
    });
    const { id: thread_id } = await scene.start();
    const apiKey = app.gateway.access.issue({ workspace_id: scene.workspace_id, thread_id });
    const bound = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
    await expect(bound.models.list()).rejects.toMatchObject({ status: 403 });
    await expect(
      bound.chat.completions.create({ model: "helper", messages: [user("hi")] }),
    ).rejects.toMatchObject({ status: 403, message: expect.stringContaining("/rpc and /mcp") });
    await expect(openAi(stage).embeddings.create({ model: "x", input: "y" })).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining("/v1/models"),
    });
  });

  test("[CCE16] a workspace that is not there is refused; without one it is Home", async () => {
    const { url, token, home } = stage.gateway();
    const nowhere = new OpenAI({
      baseURL: `${url}/v1`,
      apiKey: token,
      maxRetries: 0,
      defaultHeaders: { "x-heddle-workspace": "Nowhere" },
    });
    await expect(nowhere.models.list()).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining("Nowhere"),
    });
    stage.model().play([says("At home.")]);
    const { response } = await openAi(stage)
      .chat.completions.create({ model: "helper", messages: [user("hi")] })
      .withResponse();
    const thread_id = response.headers.get("x-heddle-thread-id") ?? "";
    const wire = await stage.gateway().wire();
    expect((await wire.result("thread/get", { thread_id })).thread.workspace_id).toBe(home);
  });
});
