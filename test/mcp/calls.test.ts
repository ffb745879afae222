import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ScriptedTool } from "../support/mcp-script.js";
import { McpStage, scripted } from "../support/mcp-stage.js";
import { temporaryDirectory } from "../support/stores.js";

async function one(tools: readonly ScriptedTool[], timing = {}, more = {}): Promise<McpStage> {
  const stage = new McpStage(timing);
  stage.servers.set({ one: { ...scripted({ tools, ...more }) } });
  await stage.until("one", "ready");
  return stage;
}

const answers = (name: string, answer: unknown) => ({ name, does: "answer", answer }) as ScriptedTool;
const text = (words: string) => ({ type: "text", text: words });

test("[MCP30] texts are joined; what is no text is told in words, or as JSON where there is no text", async () => {
  const uri = "file:///a.txt";
  const stage = await one([
    answers("texts", { content: [text("a"), text("b")], structuredContent: { not: "shown" } }),
    answers("image", { content: [{ type: "image", data: "AAAA".repeat(10), mimeType: "image/png" }] }),
    answers("sound", { content: [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }, text("heard")] }),
    answers("link", { content: [{ type: "resource_link", uri, name: "a", description: "An\na." }] }),
    answers("resource", {
      content: [{ type: "resource", resource: { uri, mimeType: "text/plain", text: "in it" } }],
    }),
    answers("blob", { content: [{ type: "resource", resource: { uri, blob: "AAAA" } }] }),
    answers("structured", { content: [], structuredContent: { a: [1] } }),
    answers("empty", { content: [] }),
    { name: "fails", does: "fail" },
  ]);
  const told = async (name: string) => {
    const { status, output } = await stage.call(`mcp_one_${name}`);
    return [status, output];
  };
  expect(await told("texts")).toEqual(["completed", "a\nb"]);
  expect(await told("image")).toEqual([
    "completed",
    "[an image, image/png, 30 bytes: it can't be shown here]",
  ]);
  expect(await told("sound")).toEqual([
    "completed",
    "[a sound, audio/wav, 3 bytes: it can't be shown here]\nheard",
  ]);
  expect(await told("link")).toEqual(["completed", `[a resource: a, ${uri}, An a.]`]);
  expect(await told("resource")).toEqual(["completed", `[a resource: ${uri}, text/plain]\nin it`]);
  expect(await told("blob")).toEqual(["completed", `[a resource: ${uri}, 3 bytes: it can't be shown here]`]);
  expect(await told("structured")).toEqual(["completed", '{"a":[1]}']);
  expect(await told("empty")).toEqual(["completed", "(no output)"]);
  expect(await told("fails")).toEqual(["failed", "it did not work"]);
});

test("[MCP31] an output is bounded, however large the answer; one that is too large ends the server, not the gateway", async () => {
  const stage = await one([{ name: "huge", does: "huge" }]);
  const large = await stage.call("mcp_one_huge", { bytes: 5_000_000 });
  expect(large).toMatchObject({ status: "completed", truncated: true });
  expect(Buffer.byteLength(large.output)).toBeLessThanOrEqual(65_536);
  const larger = await stage.call("mcp_one_huge", { bytes: 20_000_000 });
  expect(larger).toMatchObject({ status: "failed", output: expect.stringContaining("more than 16 MiB") });
  expect(await stage.call("mcp_one_huge", { bytes: 3 })).toMatchObject({ output: "xxx" });
});

test("[MCP32] a server that crashes in the middle of a call fails it at once, and the call is not made again", async () => {
  const trace = join(temporaryDirectory(), "trace");
  const stage = await one(
    [
      { name: "crash", does: "crash" },
      { name: "hang", does: "hang" },
    ],
    {},
    { trace },
  );
  const hanging = stage.call("mcp_one_hang");
  const began = performance.now();
  const { status, output } = await stage.call("mcp_one_crash");
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(status).toBe("failed");
  expect(output).toContain(
    "was lost in the middle of this call: it ended with exit code 7. It said: it breaks",
  );
  expect(await hanging).toMatchObject({ status: "failed", output: expect.stringContaining("in the middle") });
  await stage.until("one", "ready");
  expect(readFileSync(trace, "utf8").match(/^call /gm)).toHaveLength(2);
});

test("[MCP33] a call whose signal fires ends at once, and its server is told", async () => {
  const trace = join(temporaryDirectory(), "trace");
  const stage = await one([{ name: "hang", does: "hang" }], {}, { trace });
  const cancel = new AbortController();
  const calling = stage.call("mcp_one_hang", {}, { signal: cancel.signal });
  for (let look = 0; look < 200 && !readFileSync(trace, "utf8").includes("call"); look++) await sleep(10);
  const began = performance.now();
  cancel.abort();
  expect((await calling).output).toContain("cancelled");
  expect(performance.now() - began).toBeLessThan(2_000);
  for (let look = 0; look < 200 && !readFileSync(trace, "utf8").includes("cancelled hang"); look++)
    await sleep(10);
  expect(readFileSync(trace, "utf8")).toContain("cancelled hang");
  expect(stage.status("one")?.state).toBe("ready");
});

test("[MCP33] a call that waits for its server ends with its signal too", async () => {
  const stage = new McpStage();
  stage.servers.set({ one: scripted({ tools: [{ name: "crash", does: "crash" }, { name: "echo" }] }) });
  await stage.until("one", "ready");
  const gone = stage.call("mcp_one_crash");
  const cancel = new AbortController();
  const waiting = gone.then(() => stage.call("mcp_one_echo", {}, { signal: cancel.signal }));
  await gone;
  cancel.abort();
  expect((await waiting).status).toBe("failed");
});

test("[MCP34] a call that takes too long is given up; progress is shown and gives it more time", async () => {
  const stage = await one(
    [
      { name: "hang", does: "hang" },
      { name: "progress", does: "progress" },
    ],
    { callMs: 600 },
  );
  expect(await stage.call("mcp_one_hang")).toMatchObject({
    status: "failed",
    output: expect.stringContaining("did not answer in time"),
  });
  const shown: string[] = [];
  const progress = (words: string) => void shown.push(words);
  expect(await stage.call("mcp_one_progress", { ms: 400 }, { progress })).toMatchObject({ output: "done" });
  expect(shown).toEqual(["halfway\n", "nearly\n"]);
});

test("[MCP34] progress does not keep a call alive for ever", async () => {
  const stage = await one([{ name: "progress", does: "progress" }], { callMs: 300, longestCallMs: 400 });
  expect(await stage.call("mcp_one_progress", { ms: 290 })).toMatchObject({ status: "failed" });
});

test("[MCP36] a server that talks without end is shown for a while, a little at a time, and answers all the same", async () => {
  const stage = await one([
    { name: "talk", does: "talk" },
    { name: "progress", does: "progress" },
  ]);
  const shown: string[] = [];
  const progress = (words: string) => void shown.push(words);
  const talk = (times: number, chars: number) => stage.call("mcp_one_talk", { times, chars }, { progress });
  expect(await talk(2, 100_000)).toMatchObject({ status: "completed", output: "talked" });
  // What comes together with the answer may come too late to be shown.
  expect(new Set(shown)).toEqual(new Set([`${"x".repeat(2_048)}…\n`]));
  shown.length = 0;
  expect(await talk(300, 1_000)).toMatchObject({ status: "completed", output: "talked" });
  expect(shown).toHaveLength(66);
  expect(shown.join("").length).toBeLessThan(70_000);
  expect(shown.at(-1)).toMatch(/^x{1000}\n\(what it says .* not shown\)\n$/);
  // The next call is shown again.
  await stage.call("mcp_one_progress", { ms: 50 }, { progress });
  expect(shown.slice(-2)).toEqual(["halfway\n", "nearly\n"]);
});

test("[MCP35] an error that the server answers is a failure in its words", async () => {
  const stage = await one([{ name: "throws", does: "throw" }, answers("odd", { content: "no list" })]);
  expect(await stage.call("mcp_one_throws")).toMatchObject({
    status: "failed",
    output: expect.stringContaining("refused: no such thing as that"),
  });
  expect((await stage.call("mcp_one_odd")).status).toBe("failed");
  expect(stage.status("one")?.state).toBe("ready");
});

test("[MCP40] lines that are no messages are passed over; a server that writes little else is ended", async () => {
  const stage = new McpStage({ backoffMs: 60_000, longestBackoffMs: 60_000 });
  stage.servers.set({
    some: scripted({ tools: [{ name: "echo" }] }, "garbage=50"),
    much: scripted({ tools: [{ name: "echo" }] }, "garbage=2000"),
    noise: { command: "sh", args: ["-c", "yes garbage"] },
  });
  await stage.until("some", "ready");
  expect(await stage.call("mcp_some_echo")).toMatchObject({ status: "completed" });
  const problem = "writes lines to its standard output that are no messages of the protocol";
  expect((await stage.until("much", "failed")).problem).toBe(problem);
  expect((await stage.until("noise", "failed")).problem).toBe(problem);
});

test("[MCP41] a message without end ends its server", async () => {
  const stage = new McpStage({ backoffMs: 60_000, longestBackoffMs: 60_000 });
  stage.servers.set({ one: scripted({}, "endless-line") });
  expect((await stage.until("one", "failed")).problem).toBe("sent a message of more than 16 MiB");
});

test("[MCP42] floods of messages and of words disturb nobody else", async () => {
  const stage = new McpStage({ connectMs: 30_000, listMs: 30_000 });
  stage.servers.set({
    talks: scripted({ tools: [{ name: "echo" }] }, "flood-stdout"),
    shouts: scripted({ tools: [{ name: "echo" }] }, "flood-stderr"),
    quiet: scripted({ tools: [{ name: "echo" }] }),
  });
  await stage.until("quiet", "ready", 30_000);
  await sleep(1_500);
  const before = process.cpuUsage();
  const held = process.memoryUsage().rss;
  const began = performance.now();
  const times: number[] = [];
  for (let round = 0; round < 40; round++) {
    const at = performance.now();
    expect(await stage.call("mcp_quiet_echo")).toMatchObject({ status: "completed" });
    times.push(performance.now() - at);
    await sleep(25);
  }
  // The share of a core, and the middle of the times: what else this machine does must not count.
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000 / (performance.now() - began)).toBeLessThan(0.9);
  expect(times.sort((a, b) => a - b)[20]).toBeLessThan(2_000);
  expect(process.memoryUsage().rss - held).toBeLessThan(200_000_000);
});

test("[MCP50] what a server was given in confidence is in no status, problem or outcome of ours", async () => {
  const SECRET = "open-sesame-42";
  const stage = new McpStage({ backoffMs: 60_000, longestBackoffMs: 60_000 });
  const tools: ScriptedTool[] = [
    { name: "crash", does: "crash" },
    { name: "throws", does: "throw" },
  ];
  stage.servers.set({
    one: { ...scripted({ tools }), env: { SECRET } },
    ends: { ...scripted({}, "exit=4"), env: { SECRET } },
    away: { url: `http://127.0.0.1:9/mcp?key=${SECRET}`, headers: { authorization: `Bearer ${SECRET}` } },
    named: { url: `http://name:${SECRET}@127.0.0.1:9/mcp` },
  });
  await stage.until("one", "ready");
  const outcomes = [await stage.call("mcp_one_throws"), await stage.call("mcp_one_crash")];
  expect(outcomes[0]?.output).toContain("no such thing as [hidden]");
  for (const name of ["one", "ends", "away", "named"]) await stage.until(name, "failed");
  expect(stage.status("ends")?.problem).toBe("ended with exit code 4. It said: it can't start: [hidden]");
  expect(stage.status("named")?.problem).toContain("Give them as a header");
  expect(JSON.stringify([outcomes, stage.servers.status(), stage.told, stage.tools.list()])).not.toContain(
    SECRET,
  );
});
