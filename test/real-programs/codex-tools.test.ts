import { existsSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  agent,
  bridge,
  bridged,
  calls,
  delivery,
  end,
  item,
  nested,
  offered,
  ofType,
  patches,
  said,
  sessionOf,
  stage,
  system,
  user,
} from "./codex-stage.js";

describe("tools of the real codex", () => {
  test("[CDX20] commands and changes ask, are carried out when allowed, and tell what they did", async () => {
    const on = await stage([
      calls("c1", "exec_command", { cmd: "sleep 1; echo made >> made.txt; cat made.txt" }),
      patches("c2", "*** Begin Patch\n*** Update File: made.txt\n@@\n-made\n+changed\n*** End Patch\n"),
      said("done"),
    ]);
    const events = await on.ask([user("do it")]);
    expect(on.asked.map(({ id, name }) => [id, name])).toEqual([
      ["c1", "exec_command"],
      ["c2", "apply_patch"],
    ]);
    expect(readFileSync(join(on.directory, "made.txt"), "utf8")).toBe("changed\n");
    const [command, change] = ofType(events, "tool_result");
    expect(command).toMatchObject({ id: "c1", output: "made\n", failed: false });
    expect(change).toMatchObject({
      id: "c2",
      failed: false,
      diffs: [{ path: join(on.directory, "made.txt"), oldText: "made\n", newText: "changed\n" }],
    });
  });

  test.each([
    "ls",
    "cat made.txt",
    "git status",
    "cd . && true",
    "apply_patch <<'E'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nE",
  ])("[CDX20] %j asks too", async (cmd) => {
    const on = await stage([calls("c1", "exec_command", { cmd }), said("done")]);
    on.answer = "deny";
    const events = await on.ask([user("do it")]);
    expect(on.asked.map(({ id }) => id)).toEqual(["c1"]);
    expect([ofType(events, "tool_result")[0]?.failed, await readdir(on.directory)]).toEqual([true, []]);
  });

  test("[CDX20] JavaScript of the model asks for each of its calls, under the id of that call", async () => {
    const patch = JSON.stringify("*** Begin Patch\n*** Add File: b.txt\n+x\n*** End Patch\n");
    const input = `await tools.exec_command({cmd: "touch a.txt"}); await tools.apply_patch(${patch})`;
    const runs = item({
      type: "custom_tool_call",
      id: "x1",
      call_id: "x1",
      namespace: "functions",
      name: "exec",
      input,
    });
    const on = await stage([runs, said("done")]);
    const events = await on.ask([user("do it")], {}, "gpt-6.1-sol");
    expect(on.asked.map(({ name }) => name)).toEqual(["exec_command", "apply_patch"]);
    expect(ofType(events, "tool_call").map(({ id }) => id)).toEqual(on.asked.map(({ id }) => id));
    expect(await readdir(on.directory)).toEqual(["a.txt", "b.txt"]);
  });

  test("[CDX26] nothing can be typed into a terminal that was allowed", async () => {
    const on = await stage([calls("c1", "exec_command", { cmd: "bash -i", tty: true }), said("done")]);
    await on.ask([user("do it")]);
    expect(JSON.stringify(on.body().input.at(-1))).toContain("TTY execution is disabled");
  });

  test("[CDX21] what is denied is not done, and the turn goes on", async () => {
    const on = await stage([
      calls("c1", "exec_command", { cmd: "touch made.txt" }),
      patches("c2", "*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch\n"),
      said("then not"),
    ]);
    on.answer = "deny";
    const events = await on.ask([user("do it")]);
    expect(ofType(events, "tool_result").map(({ id, failed }) => [id, failed])).toEqual([
      ["c1", true],
      ["c2", true],
    ]);
    expect([end(events)?.type, await readdir(on.directory)]).toEqual(["finish", []]);
  });

  test("[CDX22] always is codex's own answer for the session, and changes no file of its", async () => {
    const again = (id: string) => calls(id, "exec_command", { cmd: "touch made.txt" });
    const on = await stage([again("c1"), again("c2"), said("done")]);
    on.answer = "always";
    const config = () => readFileSync(join(on.home, ".codex/config.toml"), "utf8");
    const before = config();
    await on.ask([user("do it")]);
    expect(on.asked.map(({ id }) => id)).toEqual(["c1"]);
    expect([config(), existsSync(join(on.home, ".codex/rules"))]).toEqual([before, false]);
  });

  test("[CDX23] tools of the bridge are called by Heddle's names, without a question", async () => {
    const { mcp, bridge: given } = await bridge();
    const on = await stage([bridged("m1", "notes_add"), bridged("m2", "broken"), said("done")]);
    const events = await on.ask([user("note it")], { bridge: given, ownTools: false });
    expect(ofType(events, "tool_call").map(({ id, name }) => [id, name])).toEqual([
      ["m1", "notes_add"],
      ["m2", "broken"],
    ]);
    expect(ofType(events, "tool_result")).toMatchObject([
      { id: "m1", output: "notes_add: {}", failed: false },
      { id: "m2", output: "it did not work", failed: true },
    ]);
    expect(on.asked).toEqual([]);
    expect(mcp.seen.every(({ authorization }) => authorization === "Bearer bridge-token")).toBe(true);
    expect(ofType(events, "request")[0]?.body).not.toContain("bridge-token");
  });

  test("[CDX24] an MCP server of codex's own configuration asks through Heddle", async () => {
    const { mcp } = await bridge();
    const theirs = item({
      type: "function_call",
      id: "fc_m1",
      call_id: "m1",
      namespace: "mcp__own",
      name: "notes_add",
      arguments: "{}",
    });
    const on = await stage([theirs, said("done")], `[mcp_servers.own]\nurl="${mcp.url}"\n`);
    await on.ask([user("note it")]);
    expect(on.asked).toEqual([{ id: "m1", name: "mcp__own__notes_add", arguments: "{}" }]);
  });

  test.each([
    ["gpt-5", [], []],
    ["gpt-5.5", ["apply_patch"], []],
    [
      "gpt-6.1-sol",
      ["functions.exec", "functions.wait"],
      [
        "apply_patch",
        "list_mcp_resource_templates",
        "list_mcp_resources",
        "read_mcp_resource",
        "clock__curr_time",
      ],
    ],
  ])(
    "[CDX30] without its own tools %s is offered none that reaches anything",
    async (model, tools, inner) => {
      const { mcp } = await bridge();
      const on = await stage([said("ok")], `[mcp_servers."the.others"]\nurl="${mcp.url}"\n`);
      await on.ask([system("RULE-ONE"), user("one")], { ownTools: false }, model);
      expect(offered(on.body())).toEqual(tools);
      expect(nested(on.body())).toEqual(inner);
    },
  );

  test("[CDX31] apply_patch and commands are refused without its own tools, in resumed sessions too", async () => {
    const trying = [
      patches("c1", "*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch\n"),
      calls("c2", "exec_command", { cmd: "touch made.txt" }),
    ];
    const on = await stage([...trying, ...trying, said("then not")]);
    on.server.play([...trying, { steps: [{ text: "no" }] }, ...trying, { steps: [{ text: "no" }] }]);
    const first = await on.ask([system("R"), user("one")], { ownTools: false });
    await on.startAnew();
    const second = await on.ask([system("R"), user("one"), agent("no"), user("two")], {
      ownTools: false,
      ...sessionOf(first, 2, "R"),
    });
    expect([end(first)?.type, delivery(second)?.session, end(second)?.type]).toEqual([
      "finish",
      "resumed",
      "finish",
    ]);
    expect([await readdir(on.directory), on.asked]).toEqual([[], []]);
    const outputs = on.body().input.filter(({ type }) => type.endsWith("_output"));
    expect(outputs.map(({ output }) => String(output).slice(0, 16))).toEqual([
      "No usable execut",
      "unsupported call",
      "No usable execut",
      "unsupported call",
    ]);
  });

  test("[CDX31] JavaScript of the model reaches no tool of codex's own either", async () => {
    const patch = JSON.stringify("*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch\n");
    const tried = `try { text(await tools.apply_patch(${patch})) } catch (error) { text("refused: " + error) }`;
    const runs = item({
      type: "custom_tool_call",
      id: "x1",
      call_id: "x1",
      namespace: "functions",
      name: "exec",
      input: tried,
    });
    const on = await stage([runs, said("then not")]);
    const events = await on.ask([system("R"), user("one")], { ownTools: false }, "gpt-6.1-sol");
    expect([end(events)?.type, await readdir(on.directory), on.asked]).toEqual(["finish", [], []]);
    const output = on.body().input.find(({ type }) => type === "custom_tool_call_output");
    expect(JSON.stringify(output)).toContain("No usable execution environment");
  });
});
