import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { describe, expect, test } from "vitest";
import { askedOf, assistant, modelAgents, openAi, user } from "../support/openai.js";
import { doer, doing } from "../support/programs.js";
import { calls, runStage, says } from "../support/runs.js";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("conversations", () => {
  const stage = runStage(undefined, { config: modelAgents });

  test("[CCE5] one that was begun elsewhere is recorded first, and told to the model", async () => {
    const scene = await stage.scene();
    scene.plays("Four.");
    const messages: ChatCompletionMessageParam[] = [
      user("one"),
      assistant("Two."),
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "seen" },
      user("three"),
    ];
    const { response } = await openAi(stage, scene)
      .chat.completions.create({ model: "helper", messages })
      .withResponse();
    const thread_id = response.headers.get("x-heddle-thread-id") ?? "";
    const recorded = await scene.messages(thread_id);
    expect(recorded.map(({ role }) => role)).toEqual(["user", "agent", "agent", "user", "agent"]);
    const told = (await askedOf(scene, 0)).filter(({ role }) => role !== "system");
    expect(told.map(({ role }) => role)).toEqual(["user", "assistant", "assistant", "tool", "user"]);
    scene.plays("Six.");
    const further = [...messages, assistant("Four."), user("five")];
    const again = await openAi(stage, scene)
      .chat.completions.create({ model: "helper", messages: further })
      .withResponse();
    expect(again.response.headers.get("x-heddle-thread-id")).toBe(thread_id);
  });

  test("[CCE5] another history, another agent or a thread that people went on with begins a new one", async () => {
    const scene = await stage.scene();
    scene.model.play(() => says("Yes."));
    const client = openAi(stage, scene);
    const threadOf = async (model: string, messages: ChatCompletionMessageParam[]) =>
      (await client.chat.completions.create({ model, messages }).withResponse()).response.headers.get(
        "x-heddle-thread-id",
      ) ?? "";
    const first = await threadOf("helper", [user("a")]);
    const known = [user("a"), assistant("Yes."), user("b")];
    expect(await threadOf("helper", [user("a"), assistant("No."), user("b")])).not.toBe(first);
    expect(await threadOf("other", known)).not.toBe(first);
    expect(await threadOf("helper", [user("a")])).not.toBe(first);
    const went = await scene.answered(first, "somebody goes on in the page");
    expect(went.thread_id).toBe(first);
    expect(await threadOf("helper", known)).not.toBe(first);
    // A thread of the same words that this endpoint did not make is left alone.
    const own = await scene.start({ agent_id: "helper" });
    await scene.answered(own.id, "mine");
    expect(await threadOf("helper", [user("mine"), assistant("Yes."), user("b")])).not.toBe(own.id);
  });

  test("[CCE5] two that go on with one conversation at the same moment are two branches", async () => {
    const scene = await stage.scene();
    scene.model.play(() => says("Yes."));
    const client = openAi(stage, scene);
    await client.chat.completions.create({ model: "helper", messages: [user("a")] });
    const next = [user("a"), assistant("Yes."), user("b")];
    const both = await Promise.all(
      [1, 2].map(() => client.chat.completions.create({ model: "helper", messages: next }).withResponse()),
    );
    const threads = both.map(({ response }) => response.headers.get("x-heddle-thread-id"));
    expect(new Set(threads).size).toBe(2);
  });

  test("[CCE6] the caller's instructions come behind the agent's own, and the manifest shows both", async () => {
    const scene = await stage.scene();
    await scene.saveDoc("Be brief.");
    scene.plays("Aye.", "Aye aye.");
    const client = openAi(stage, scene);
    const ask = (system: string, ...rest: ChatCompletionMessageParam[]) =>
      client.chat.completions.create({
        model: "helper",
        messages: [{ role: "system", content: system }, { role: "developer", content: "No emoji." }, ...rest],
      });
    await ask("Talk like a pirate.", user("hi"));
    const [run] = await scene.runs();
    const told = (await askedOf(scene, 0))
      .filter(({ role }) => role === "system")
      .map(({ content }) => content);
    const all = told.join("\n");
    expect(all.indexOf("You help.")).toBeGreaterThanOrEqual(0);
    expect(all.indexOf("Talk like a pirate.\n\nNo emoji.")).toBeGreaterThan(all.indexOf("You help."));
    expect(all).toContain("Be brief.");
    const { sections } = await scene.manifest(run?.id ?? "");
    expect(sections.filter(({ source }) => source.kind === "run_refs")).toHaveLength(2);
    // Instructions that changed count from then on, in the same thread.
    await ask("Talk like a poet.", user("hi"), assistant("Aye."), user("again"));
    expect(await scene.runs(run?.thread_id)).toHaveLength(2);
    const later = (await askedOf(scene, 1)).map(({ content }) => content).join("\n");
    expect(later).toContain("Talk like a poet.");
    expect(later).not.toContain("pirate");
  });

  test("[CCE7] images come as data, also those of before; addresses are not fetched", async () => {
    const scene = await stage.scene();
    scene.plays("A dot.", "Still a dot.");
    const client = openAi(stage, scene);
    const picture: ChatCompletionMessageParam = {
      role: "user",
      content: [
        { type: "text", text: "What is this?" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
      ],
    };
    const first = await client.chat.completions
      .create({ model: "helper", messages: [picture] })
      .withResponse();
    expect(await scene.received(0)).toContain(PIXEL);
    const second = await client.chat.completions
      .create({ model: "helper", messages: [picture, assistant("A dot."), user("Sure?")] })
      .withResponse();
    const thread = ({ response }: { response: Response }) => response.headers.get("x-heddle-thread-id");
    expect(thread(second)).toBe(thread(first));
    const remote = { type: "image_url" as const, image_url: { url: "https://example.com/a.png" } };
    await expect(
      client.chat.completions.create({ model: "helper", messages: [{ role: "user", content: [remote] }] }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining("not fetched") });
  });

  test("[CCE8] tools of the agent are called and stay with it; the text around them is one answer", async () => {
    const scene = await stage.scene();
    scene.write("a.txt", "content of a");
    const turn = calls("files_read", { path: "a.txt" });
    const play = () =>
      scene.plays({ ...turn, steps: [{ text: "Let me see." }, ...turn.steps] }, "It says a.");
    play();
    const client = openAi(stage, scene);
    const whole = await client.chat.completions.create({ model: "helper", messages: [user("read a")] });
    expect(whole.choices[0]?.message).toMatchObject({ content: "Let me see.\n\nIt says a." });
    expect(whole.choices[0]?.message.tool_calls).toBeUndefined();
    play();
    let text = "";
    const stream = await client.chat.completions.create({
      model: "helper",
      messages: [user("read a")],
      stream: true,
    });
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    expect(text).toBe("Let me see.\n\nIt says a.");
    scene.plays("Bye.");
    const { response } = await client.chat.completions
      .create({ model: "helper", messages: [user("read a"), assistant(text), user("thanks")] })
      .withResponse();
    const [run] = await scene.runs(response.headers.get("x-heddle-thread-id") ?? "");
    expect(run?.number).toBe(2);
  });
});

describe("conversations with an agent that is a program", () => {
  const program = doer();
  const stage = runStage(undefined, { config: () => ({ agents: [program.agent("doer")] }) });
  const read = { tool: "read", output: "seen" };

  test.each([
    ["tools", [{ say: "I look." }, read, { say: "Found it." }, read, read, { say: "\nBye." }]],
    ["thoughts", [{ say: "I look." }, { think: "hm" }, { say: "Found it." }]],
  ])("[CCE4] [CCE8] a streamed answer with %s between its texts is known again", async (between, deeds) => {
    const client = openAi(stage, await stage.scene());
    const ask = async (messages: ChatCompletionMessageParam[]) => {
      const asked = client.chat.completions.create({ model: "doer", messages, stream: true });
      const { data, response } = await asked.withResponse();
      let text = "";
      for await (const { choices } of data) text += choices[0]?.delta.content ?? "";
      return { text, thread_id: response.headers.get("x-heddle-thread-id") };
    };
    const first = await ask([user(doing(...deeds))]);
    if (between === "tools") expect(first.text).toBe("I look.\n\nFound it.\n\n\nBye.");
    const next = await ask([user(doing(...deeds)), assistant(first.text), user(doing({ say: "yes" }))]);
    expect(next).toEqual({ text: "yes", thread_id: first.thread_id });
  });

  const edit = doing({ tool: "edit", input: { path: "a.txt" }, output: "edited" });
  const stopped = doing({ tool: "edit", output: "edited" }, { hang: true });
  const after = doing({ say: "I edited it." });

  test("[CCE4] an answer without words is known again, and its work is not asked for a second time", async () => {
    const scene = await stage.scene();
    const client = openAi(stage, scene);
    const ask = (...messages: ChatCompletionMessageParam[]) =>
      client.chat.completions.create({ model: "doer", messages }).withResponse();
    const first = await ask(user(edit));
    expect(first.data.choices[0]?.message.content ?? "").toBe("");
    const known = [user(edit), assistant(""), user(after)] as const;
    const second = await ask(...known);
    expect(second.data.choices[0]?.message.content).toBe("I edited it.");
    const third = await ask(...known, assistant("I edited it."), user(doing({ say: "bye" })));
    const threads = [first, second, third].map(({ response }) => response.headers.get("x-heddle-thread-id"));
    expect(new Set(threads).size).toBe(1);
    expect(program.prompts().filter((prompt) => prompt.includes(edit))).toHaveLength(1);
    expect(program.prompts().at(-2)).toBe(after);
  });

  test("[CCE4] who stops it before it has said a word goes on in the same thread, and it is told what it did", async () => {
    const scene = await stage.scene();
    const client = openAi(stage, scene);
    const stream = await client.chat.completions.create({
      model: "doer",
      messages: [user(stopped)],
      stream: true,
    });
    const [run] = await scene.runs();
    const kinds = async () => (await scene.journal(run?.id ?? "")).map(({ type }) => type);
    await expect.poll(kinds).toContain("program.worked");
    stream.controller.abort();
    expect((await scene.ended(run?.id ?? "")).status).toBe("cancelled");
    await expect.poll(async () => (await scene.get(run?.thread_id ?? "")).status).toBe("idle");
    const next = await client.chat.completions
      .create({ model: "doer", messages: [user(stopped), user(after)] })
      .withResponse();
    expect(next.response.headers.get("x-heddle-thread-id")).toBe(run?.thread_id);
    expect(program.prompts().at(-1)).toMatch(/\[result of edit\]\nedited[\s\S]*I edited it/);
  });

  test("[CCE5] an answer that said something is not passed over where the client leaves it out", async () => {
    const client = openAi(stage, await stage.scene());
    const ask = async (...messages: ChatCompletionMessageParam[]) =>
      (await client.chat.completions.create({ model: "doer", messages }).withResponse()).response.headers.get(
        "x-heddle-thread-id",
      );
    const first = await ask(user(doing({ tool: "edit" }, { say: "Done." })));
    expect(await ask(user(doing({ tool: "edit" }, { say: "Done." })), user(after))).not.toBe(first);
  });
});
