import { NotFoundError } from "openai";
import type { ChatCompletionChunk, ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { describe, expect, test } from "vitest";
import { askedOf, assistant, modelAgents, openAi, user } from "../support/openai.js";
import { calls, runStage } from "../support/runs.js";
import { onEachStore } from "../support/stores.js";

onEachStore("the OpenAI-compatible endpoint", (kind) => {
  const stage = runStage(kind, { config: modelAgents });

  test("[CCE1] a model is an agent: those that can be used are listed", async () => {
    const client = openAi(stage);
    const models = await client.models.list();
    expect(models.data.map(({ id, object, owned_by }) => [id, object, owned_by])).toEqual([
      ["helper", "model", "heddle"],
      ["other", "model", "heddle"],
      ["asking", "model", "heddle"],
    ]);
    expect(await client.models.retrieve("other")).toMatchObject({ id: "other" });
    for (const id of ["secret", "keyless", "nobody"])
      await expect(client.models.retrieve(id), id).rejects.toThrow(NotFoundError);
  });

  test("[CCE2] a question is recorded as a thread, run, and answered", async () => {
    const scene = await stage.scene();
    scene.plays({ steps: [{ text: "Hello there." }, { usage: { input: 11, output: 7, cached_input: 3 } }] });
    const { data, response } = await openAi(stage, scene)
      .chat.completions.create({ model: "helper", messages: [user("hi")] })
      .withResponse();
    expect(data).toMatchObject({
      object: "chat.completion",
      model: "helper",
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hello there." } }],
      usage: {
        prompt_tokens: 11,
        completion_tokens: 7,
        total_tokens: 18,
        prompt_tokens_details: { cached_tokens: 3 },
      },
    });
    const [run] = await scene.runs();
    expect(response.headers.get("x-heddle-run-id")).toBe(run?.id);
    expect(response.headers.get("x-heddle-thread-id")).toBe(run?.thread_id);
    expect(data.id).toBe(`chatcmpl-${run?.id}`);
    expect(run).toMatchObject({ agent_id: "helper", status: "completed" });
    expect((await scene.get(run?.thread_id ?? "")).title).toBe("hi");
  });

  test("[CCE3] the answer streams as it is written, with its usage where that is wanted", async () => {
    const scene = await stage.scene();
    scene.plays({
      steps: [
        { thinking: "hm" },
        { text: ["Hel", "lo"] },
        { gate: `half ${kind.name}` },
        { text: [" you."] },
        { usage: { input: 5, output: 4 } },
      ],
    });
    const stream = await openAi(stage, scene).chat.completions.create({
      model: "helper",
      messages: [user("hi")],
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    const ends: (string | null)[] = [];
    const usages: unknown[] = [];
    for await (const { choices, usage } of stream) {
      const [choice] = choices;
      text += choice?.delta.content ?? "";
      if (choice) ends.push(choice.finish_reason);
      if (usage) usages.push(usage);
      // The rest is written only when the first part has come.
      if (text === "Hello") scene.model.open(`half ${kind.name}`);
    }
    expect(text).toBe("Hello you.");
    expect(ends.filter(Boolean)).toEqual(["stop"]);
    expect(usages).toMatchObject([{ prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 }]);
  });

  test("[CCE4] a conversation that goes on stays in its thread, and its model is told it once", async () => {
    const scene = await stage.scene();
    const client = openAi(stage, scene);
    const messages: ChatCompletionMessageParam[] = [{ role: "system", content: "Be kind." }];
    for (const word of ["one", "two", "three"]) {
      scene.plays(`Answer to ${word}.`);
      messages.push(user(word));
      const { choices } = await client.chat.completions.create({ model: "helper", messages });
      messages.push(assistant(`  ${choices[0]?.message.content}\n`));
    }
    const runs = await scene.runs();
    expect(new Set(runs.map(({ thread_id }) => thread_id)).size).toBe(1);
    const told = await askedOf(scene, 2);
    expect(told.filter(({ role }) => role !== "system").map(({ content }) => content)).toEqual([
      "one",
      "Answer to one.",
      "two",
      "Answer to two.",
      "three",
    ]);
  });
});

describe("what is asked beside the messages", () => {
  const stage = runStage(undefined, { config: modelAgents });

  test("[CCE9] limits are passed on; what has no meaning here is named and left out", async () => {
    const scene = await stage.scene();
    scene.plays("Yes.", "Yes.");
    const client = openAi(stage, scene);
    const { response } = await client.chat.completions
      .create({
        model: "helper",
        messages: [user("hi")],
        max_completion_tokens: 77,
        reasoning_effort: "low",
        temperature: 0.2,
        top_p: 1,
        user: "me",
        metadata: { a: "b" },
        tools: [{ type: "function", function: { name: "bash", parameters: {} } }],
        tool_choice: "auto",
      })
      .withResponse();
    const sent = JSON.parse(await scene.received(0));
    expect(sent).toMatchObject({ reasoning_effort: "low" });
    expect(sent.max_tokens ?? sent.max_completion_tokens).toBe(77);
    expect(sent.temperature).toBeUndefined();
    expect(JSON.stringify(sent.tools ?? [])).not.toContain('"bash"');
    expect(response.headers.get("x-heddle-ignored")?.split(", ").sort()).toEqual([
      "temperature",
      "tool_choice",
      "tools",
      "top_p",
    ]);
    const quiet = await client.chat.completions
      .create({ model: "helper", messages: [user("hi")], tools: [] })
      .withResponse();
    expect(quiet.response.headers.get("x-heddle-ignored")).toBeNull();
  });

  test("[CCE9] an answer that was cut says so", async () => {
    const scene = await stage.scene();
    scene.plays({ steps: [{ text: "And so" }, { finish: "length" }] });
    const { choices } = await openAi(stage, scene).chat.completions.create({
      model: "helper",
      messages: [user("hi")],
      max_tokens: 2,
    });
    expect(choices[0]).toMatchObject({ finish_reason: "length", message: { content: "And so" } });
  });

  test("[CCE10] a run that waits for an approval keeps its stream alive until somebody answers", async () => {
    const scene = await stage.scene();
    scene.write("a.txt", "content of a");
    scene.plays(calls("files_read", { path: "a.txt" }), "It says a.");
    const { url, token } = stage.gateway();
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "x-heddle-workspace": scene.workspace_id },
      body: JSON.stringify({ model: "asking", messages: [user("read")], stream: true }),
    });
    const run_id = response.headers.get("x-heddle-run-id") ?? "";
    let text = "";
    let answered = false;
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (answered || !text.includes("\n: at work\n")) continue;
      answered = true;
      const [approval] = (await scene.getRun(run_id)).approvals ?? [];
      const tool_call_id = approval?.tool_call_id ?? "";
      await scene.wire.result("run/approve", { run_id, tool_call_id, decision: "allow" });
    }
    expect(text).toContain('"content":"It says a."');
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test.each([true, false])("[CCE11] a client that leaves cancels the run [stream: %s]", async (stream) => {
    const scene = await stage.scene();
    scene.plays({ steps: [{ text: "And" }, { gate: "never" }, { text: " so" }] });
    const leaving = new AbortController();
    const waiting = openAi(stage, scene)
      .chat.completions.create(
        { model: "helper", messages: [user("hi")], stream },
        { signal: leaving.signal },
      )
      .then(async (answer) => {
        for await (const { choices } of answer as AsyncIterable<ChatCompletionChunk>)
          if (choices[0]?.delta.content === "And") leaving.abort();
      })
      .catch((error: unknown) => error);
    await scene.model.request(0);
    const [run] = await scene.runs();
    if (!stream) leaving.abort();
    await waiting;
    await scene.wire.result("subscribe", { workspace_id: scene.workspace_id, after_seq: 0 });
    expect((await scene.ended(run?.id ?? "")).status).toBe("cancelled");
    expect(scene.model.requests).toHaveLength(1);
  });
});
