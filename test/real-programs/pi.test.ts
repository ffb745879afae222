import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import {
  type AskedPermission,
  type Bridge,
  createProvider,
  type GenerateRequest,
  type PermissionAnswer,
  type PromptMessage,
  type Provider,
  type ProviderEvent,
  type WorkPlace,
} from "../../src/providers/index.js";
import { type ModelServer, startModelServer } from "../support/model-server/server.js";
import { all, assistant, system, user } from "../support/programs/events.js";
import { cleanEnv, cleanHome, programPath } from "./support.js";

const hello = { steps: [{ thinking: "Hm." }, { text: ["Hel", "lo."] }, { usage: { input: 10, output: 5 } }] };

interface Stage {
  readonly home: string;
  readonly directory: string;
  readonly server: ModelServer;
  readonly asked: AskedPermission[];
  answer: PermissionAnswer;
  provider(): Provider;
  request(messages: readonly PromptMessage[], work?: Partial<WorkPlace>): GenerateRequest;
  /** Messages of each request that the model server got, with the system's text first. */
  bodies(): Body[];
}

interface Body {
  readonly messages: readonly { role: string; content: unknown; tool_calls?: unknown }[];
  readonly tools?: readonly { function: { name: string } }[];
}

async function stage(): Promise<Stage> {
  const [home, server] = [await cleanHome(), await startModelServer([])];
  onTestFinished(() => server.close());
  const directory = join(home, "work");
  await mkdir(join(home, ".pi/agent"), { recursive: true });
  await mkdir(directory);
  await writeFile(join(home, ".pi/agent/models.json"), JSON.stringify(modelsAt(server.url)));
  const asked: AskedPermission[] = [];
  const own: Stage = {
    home,
    directory,
    server,
    asked,
    answer: "allow",
    provider() {
      const env = cleanEnv(home, { FAKE_KEY: "no-real-key" });
      const provider = createProvider({ provider: "pi-cli", config: { command: programPath("pi") }, env });
      onTestFinished(() => provider.release?.());
      return provider;
    },
    request(messages, work) {
      const ask = async (what: AskedPermission) => {
        asked.push(what);
        return own.answer;
      };
      return {
        model: "fake/fake",
        messages,
        work: { key: "thread", directory, ownTools: true, ask, ...work },
      };
    },
    bodies: () => server.requests.map(({ body }) => JSON.parse(body) as Body),
  };
  return own;
}

function modelsAt(url: string) {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const model = { id: "fake", name: "fake", reasoning: true, input: ["text", "image"], cost };
  const models = [{ ...model, contextWindow: 4_000_000, maxTokens: 4096 }];
  return {
    providers: { fake: { baseUrl: `${url}/v1`, apiKey: "FAKE_KEY", api: "openai-completions", models } },
  };
}

const said = (events: readonly ProviderEvent[]) =>
  events.map((event) => (event.type === "text" ? event.text : "")).join("");

const sessionOf = (events: readonly ProviderEvent[]) => {
  const session = events.find(({ type }) => type === "session");
  if (session?.type !== "session") throw new Error(`no session in ${JSON.stringify(events)}`);
  return session.id;
};

const deliveryOf = (events: readonly ProviderEvent[]) => {
  const request = events.find(({ type }) => type === "request");
  return request?.type === "request" ? request.delivery : undefined;
};

const times = (body: unknown, part: string) => JSON.stringify(body).split(part).length - 1;
const roles = ({ messages }: Body) => messages.map(({ role }) => (role === "developer" ? "system" : role));

test("[PIA1] [PIA6] [PIA8] a turn, one more in the same process with other instructions, and one in another process", async () => {
  const at = await stage();
  await writeFile(join(at.directory, "AGENTS.md"), "FROM-AGENTS-MD");
  await mkdir(join(at.directory, ".pi"));
  await writeFile(join(at.directory, ".pi/SYSTEM.md"), "FROM-SYSTEM-MD");
  await writeFile(join(at.directory, ".pi/APPEND_SYSTEM.md"), "FROM-APPEND-MD");
  at.server.play(() => hello);
  const provider = at.provider();

  const first = await all(provider.generate(at.request([system("RULE-ONE"), user("Hi")])));
  const id = sessionOf(first);
  expect(first.at(-1)).toEqual({ type: "finish", reason: "stop" });
  expect(said(first)).toBe("Hello.");
  expect(first).toContainEqual({ type: "thinking", id: "1.0", text: "Hm." });
  expect(first).toContainEqual({ type: "usage", input: 10, output: 5 });
  expect(deliveryOf(first)).toMatchObject({ way: "system_prompt", session: "new" });

  const session = { id, told: 2, instructions: "" };
  const soFar = [user("Hi"), assistant("Hello.")];
  const second = await all(
    provider.generate(at.request([system("RULE-TWO"), ...soFar, user("And?")], { session })),
  );
  expect(deliveryOf(second)?.session).toBe("kept");
  expect(sessionOf(second)).toBe(id);

  await provider.release?.();
  const more = [...soFar, user("And?"), assistant("Hello."), user("Again?")];
  const third = await all(
    at.provider().generate(at.request([system("RULE-THREE"), ...more], { session: { ...session, told: 4 } })),
  );
  expect(deliveryOf(third)?.session).toBe("resumed");
  expect(sessionOf(third)).toBe(id);

  const bodies = at.bodies();
  expect(bodies.map((body) => times(body, "RULE-"))).toEqual([1, 1, 1]);
  expect(bodies.map((body) => JSON.stringify(body).match(/RULE-\w+/)?.[0])).toEqual([
    "RULE-ONE",
    "RULE-TWO",
    "RULE-THREE",
  ]);
  expect(bodies.map((body) => times(body, "FROM-"))).toEqual([0, 0, 0]);
  expect(roles(bodies[2] as Body)).toEqual(["system", "user", "assistant", "user", "assistant", "user"]);
});

test("[PIA2] [PIA3] [PIA11] own tools are asked for, and told with output and diffs", async () => {
  const at = await stage();
  await writeFile(join(at.directory, "a.txt"), "one\ntwo\n");
  const edit = { path: "a.txt", edits: [{ oldText: "two", newText: "three" }] };
  at.server.play([
    { steps: [{ tool_call: { id: "c0", name: "read", arguments: '{"path":"a.txt"}' } }] },
    { steps: [{ tool_call: { id: "c1", name: "edit", arguments: JSON.stringify(edit) } }] },
    { steps: [{ tool_call: { id: "c2", name: "bash", arguments: '{"command":"echo hi; exit 3"}' } }] },
    hello,
  ]);
  const events = await all(at.provider().generate(at.request([user("Do it")])));
  expect(events.at(-1)).toEqual({ type: "finish", reason: "stop" });
  expect(at.asked.map(({ id, name }) => [id, name])).toEqual([
    ["c1", "edit"],
    ["c2", "bash"],
  ]);
  const results = events.filter((event) => event.type === "tool_result");
  expect(results.map(({ id, failed }) => [id, failed])).toEqual([
    ["c0", false],
    ["c1", false],
    ["c2", true],
  ]);
  expect(results[1]?.diffs).toEqual([{ path: "a.txt", oldText: "one\ntwo\n", newText: "one\nthree\n" }]);
  expect(results[2]?.output).toContain("hi");
  expect(events).toContainEqual({ type: "tool_output", id: "c2", text: "hi\n" });
  expect(await readFile(join(at.directory, "a.txt"), "utf8")).toBe("one\nthree\n");
});

test("[PIA11] what is not allowed is not done", async () => {
  const at = await stage();
  at.answer = "deny";
  at.server.play([
    { steps: [{ tool_call: { id: "c1", name: "write", arguments: '{"path":"b","content":"x"}' } }] },
    hello,
  ]);
  const events = await all(at.provider().generate(at.request([user("Do it")])));
  expect(events).toContainEqual(expect.objectContaining({ type: "tool_result", id: "c1", failed: true }));
  expect(said(events)).toBe("Hello.");
  expect(await readdir(at.directory)).toEqual([]);
});

const shout = {
  name: "shout",
  description: "Says it loudly.",
  parameters: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
};
const bash = { name: "bash", description: "Heddle's.", parameters: { type: "object", properties: {} } };

test("[PIA9] a tool of Heddle's is called over the bridge, with the token of that turn", async () => {
  const at = await stage();
  const { bridge, calls } = await startBridge();
  const provider = at.provider();
  const call = (name: string) => [
    { steps: [{ tool_call: { id: `call-${name}`, name, arguments: '{"word":"hi"}' } }] },
    hello,
  ];
  at.server.play([...call("shout"), ...call("heddle_bash")]);
  const tools = [shout, bash];
  const first = await all(provider.generate({ ...at.request([user("Shout")], { bridge }), tools }));
  expect(first).toContainEqual(
    expect.objectContaining({
      type: "tool_call",
      id: "call-shout",
      name: "shout",
      arguments: '{"word":"hi"}',
    }),
  );
  expect(first).toContainEqual(
    expect.objectContaining({ type: "tool_result", output: "HI!", failed: false }),
  );

  const work = {
    bridge: { ...bridge, token: "second" },
    session: { id: sessionOf(first), told: 2, instructions: "" },
  };
  const messages = [user("Shout"), assistant("Hello."), user("Now bash")];
  const second = await all(provider.generate({ ...at.request(messages, work), tools }));
  expect(deliveryOf(second)?.session).toBe("kept");
  expect(second).toContainEqual(expect.objectContaining({ type: "tool_call", name: "bash" }));
  expect(second).toContainEqual(expect.objectContaining({ type: "tool_result", failed: true }));
  expect(calls).toEqual([
    { token: "Bearer first", name: "shout" },
    { token: "Bearer second", name: "bash" },
  ]);
  expect(at.asked).toEqual([]);
  expect(at.bodies()[0]?.tools?.map((tool) => tool.function.name)).toEqual([
    "read",
    "bash",
    "edit",
    "write",
    "shout",
    "heddle_bash",
  ]);
});

test("[PIA10] with its own tools off the model is offered Heddle's only, and can't call another", async () => {
  const at = await stage();
  const { bridge } = await startBridge();
  at.server.play([
    { steps: [{ tool_call: { id: "c1", name: "write", arguments: '{"path":"b","content":"x"}' } }] },
    hello,
  ]);
  const request = at.request([user("Try")], { bridge, ownTools: false });
  const events = await all(at.provider().generate({ ...request, tools: [shout, bash] }));
  expect(at.bodies()[0]?.tools?.map((tool) => tool.function.name)).toEqual(["shout", "bash"]);
  expect(events).toContainEqual(expect.objectContaining({ type: "tool_result", id: "c1", failed: true }));
  expect(await readdir(at.directory)).toEqual([]);

  const none = await stage();
  none.server.play(() => hello);
  await all(none.provider().generate(none.request([user("Try")], { ownTools: false })));
  expect(none.bodies()[0]?.tools ?? []).toEqual([]);
});

test("[PIA30] a cancelled turn leaves nothing, and the next is told what was said", async () => {
  const at = await stage();
  at.server.play([
    { steps: [{ tool_call: { id: "c1", name: "bash", arguments: '{"command":"echo $$; sleep 600"}' } }] },
    hello,
  ]);
  const provider = at.provider();
  const stop = new AbortController();
  let shell = 0;
  const events: ProviderEvent[] = [];
  for await (const event of provider.generate(at.request([user("Wait")]), { signal: stop.signal })) {
    events.push(event);
    if (event.type !== "tool_output") continue;
    shell = Number(event.text);
    stop.abort();
  }
  expect(events.at(-1)).toEqual({ type: "aborted" });
  expect(shell).toBeGreaterThan(0);
  await expect.poll(() => isRunning(shell), { timeout: 1_000 }).toBe(false);

  const after = await all(
    provider.generate(at.request([user("Wait"), assistant("[cancelled]"), user("On")])),
  );
  expect(said(after)).toBe("Hello.");
  const last = at.bodies().at(-1) as Body;
  expect(roles(last)).toEqual(["system", "user"]);
  expect(times(last, "conversation_so_far")).toBe(2);
});

test("[PIA22] [PIA5] killed in mid-turn it fails with a reason; its first session is not there, and replayed", async () => {
  const at = await stage();
  at.server.play([{ steps: [{ text: "Hel" }, { hang: true }] }, hello]);
  const provider = at.provider();
  const events: ProviderEvent[] = [];
  for await (const event of provider.generate(at.request([system("RULE-ONE"), user("Hi")]))) {
    events.push(event);
    if (event.type === "text") process.kill(await pidIn(at.home), "SIGKILL");
  }
  expect(events.at(-1)).toMatchObject({ type: "failed", code: "program.exited" });
  const lost = { id: "0199d1c5-0000-7000-8000-000000000000", told: 2, instructions: "" };
  const messages = [system("RULE-ONE"), user("Hi"), assistant("Hel"), user("Go on")];
  const after = await all(provider.generate(at.request(messages, { session: lost })));
  expect(said(after)).toBe("Hello.");
  const last = at.bodies().at(-1) as Body;
  expect(roles(last)).toEqual(["system", "user"]);
  expect(times(last, "RULE-ONE")).toBe(1);
  expect(times(last, "Go on")).toBe(1);
});

test("[PIA7] texts of any size and content arrive", async () => {
  const at = await stage();
  at.server.play(() => hello);
  const instructions = `-x ${"i".repeat(1024 * 1024)} END-OF-INSTRUCTIONS`;
  const message = `--help \0 /model @file ${"m".repeat(1024 * 1024)} \ud800 "END-OF-MESSAGE"`;
  const events = await all(at.provider().generate(at.request([system(instructions), user(message)])));
  expect(said(events)).toBe("Hello.");
  const [body] = at.bodies();
  expect(times(body, instructions)).toBe(1);
  expect(times(body, "END-OF-MESSAGE")).toBe(1);
  expect(times(body, "--help \\u0000 /model @file mmm")).toBe(1);

  for (const slashed of ["/model", "/skill:x", "/quit now"]) {
    const more = await all(at.provider().generate(at.request([user(slashed)])));
    expect(said(more)).toBe("Hello.");
    expect(times(at.bodies().at(-1)?.messages.slice(1), slashed)).toBe(1);
  }
});

test("[PIA12] images arrive", async () => {
  const at = await stage();
  at.server.play(() => hello);
  const data =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const image = { type: "image" as const, data, mimeType: "image/png" };
  const content = [{ type: "text" as const, text: "Look:" }, image];
  const events = await all(at.provider().generate(at.request([{ role: "user", content }])));
  expect(said(events)).toBe("Hello.");
  expect(times(at.bodies()[0], data)).toBe(1);
});

test("[PIA14] a long answer comes as fast as it is written, without its beginning being repeated", async () => {
  const at = await stage();
  const pieces = Array.from({ length: 5_000 }, (_, index) => `word ${index} `);
  at.server.play(() => ({ steps: [{ text: pieces }] }));
  const provider = at.provider();
  const before = performance.now();
  const events = await all(provider.generate(at.request([user("Long")])));
  expect(said(events)).toBe(pieces.join(""));
  // Each piece with all before it would be 270 MB, of which 8 are read in a second.
  expect(performance.now() - before).toBeLessThan(25_000);
});

test("[PIA26] what the model server refuses is told in its words, without the key", async () => {
  const at = await stage();
  at.server.play(() => ({
    steps: [{ status: 400, body: { error: { message: "no-real-key is not welcome", type: "x" } } }],
  }));
  const events = await all(at.provider().generate(at.request([user("Hi")])));
  expect(events.at(-1)).toMatchObject({ type: "failed", code: "program.failed" });
  expect(JSON.stringify(events.at(-1))).toContain("is not welcome");
  expect(JSON.stringify(events)).not.toContain("no-real-key");
});

test("[PIA21] without a key it says how to sign in", async () => {
  const at = await stage();
  await writeFile(join(at.home, ".pi/agent/models.json"), "{}");
  const request = at.request([user("Hi")]);
  const events = await all(at.provider().generate({ ...request, model: "default" }));
  expect(events.at(-1)).toMatchObject({ type: "failed", code: "program.signed_out", retryable: false });
});

test("[PIA31] turns leave no file and no process behind", async () => {
  const at = await stage();
  at.server.play(() => hello);
  const before = await scratches();
  for (let turn = 0; turn < 3; turn += 1) {
    const provider = at.provider();
    await all(provider.generate(at.request([user("Hi")])));
    expect(await scratches()).toEqual(before);
    await provider.release?.();
  }
  await expect(pidIn(at.home)).rejects.toThrow("no process");
});

/** One that is dead and was not collected yet does not run. */
async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !/\) [ZX]/.test(stat);
}

async function scratches(): Promise<string[]> {
  const { tmpdir } = await import("node:os");
  return (await readdir(tmpdir())).filter((name) => name.startsWith("heddle-pi-") || name === "jiti");
}

/** The process whose home this is. */
async function pidIn(home: string): Promise<number> {
  for (const pid of await readdir("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const environ = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    if (environ.split("\0").includes(`HOME=${home}`)) return Number(pid);
  }
  throw new Error(`no process lives in ${home}`);
}

/** The tools of Heddle, as one answer each. */
async function startBridge() {
  const calls: { token: string | undefined; name: string }[] = [];
  const server = createServer(async (request, response) => {
    const { id, params } = JSON.parse(await text(request));
    calls.push({ token: request.headers.authorization, name: params.name });
    const isError = params.name !== "shout";
    const result = {
      content: [{ type: "text", text: `${String(params.arguments.word).toUpperCase()}!` }],
      isError,
    };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const bridge: Bridge = { url, token: "first", command: "", args: [], env: {} };
  return { bridge, calls };
}
