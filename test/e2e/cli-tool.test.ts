import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buildCommand } from "../support/cli.js";
import { ModelHome } from "../support/cli-model.js";
import { agentAt, apis, calls, says } from "../support/runs.js";

let home: ModelHome;
beforeAll(buildCommand);
beforeEach(async () => {
  home = await ModelHome.open();
  mkdirSync(home.data, { recursive: true });
  const agents = [
    agentAt(home.model.url, apis[0], {
      agentId: "crafty",
      toolExposure: "skills",
      toolApprovals: { allow: ["bash"] },
      toolDenylist: ["notes_delete"],
    }),
  ];
  writeFileSync(join(home.data, "heddle.config.json"), JSON.stringify({ agents }));
});
afterEach(() => home.remove());

const threadId = async () => (await home.json("threads", "start", "--agent", "crafty")).thread.id as string;

describe("tool, the list", () => {
  test("[TCM1] every tool with its plugin and what it does; as JSON whole", async () => {
    const text = await home.ok("tool");
    expect(text).toMatch(/^NAME +PLUGIN +WHAT IT DOES\n/);
    expect(text).toMatch(/^notes_create +notes +Makes a note\.$/m);
    const { data } = await home.json("tool");
    expect(data.find(({ name }: { name: string }) => name === "notes_create")).toMatchObject({
      plugin: "notes",
      offered: true,
      parameters: { type: "object" },
    });
  });

  test("[TCM1] in a thread, what its agent is offered, and why not the rest", async () => {
    const text = await home.ok("tool", "--thread", await threadId());
    expect(text).toMatch(/^NAME +PLUGIN +STATE +WHAT IT DOES, OR WHY NOT\n/);
    expect(text).toMatch(/^bash +bash +offered +Runs a shell command/m);
    expect(text).toMatch(/^notes_create +notes +– +used as a skill/m);
    expect(text).toMatch(/^notes_delete +notes +– +in the agent's toolDenylist \(notes_delete\)$/m);
  });
});

describe("tool NAME --help", () => {
  test("[TCM2] what it does, its options from its schema, and whether the thread's agent may use it", async () => {
    const text = await home.ok("tool", "notes_update", "--help");
    expect(text).toMatch(/^Usage: heddle tool notes_update --note <text> \[--title <text>\]/);
    expect(text).toContain("Changes a note.");
    expect(text).toMatch(/^ {2}--note <text> +its id or exact title \(required\)$/m);
    expect(text).toMatch(/^ {2}--expected-version <number> +the version you have read/m);
    expect(text).toMatch(/^ {2}--tags <text> +.*may be repeated/m);
    expect(await home.ok("tool", "notes_delete", "-h", "--thread", await threadId())).toContain(
      "not offered: in the agent's toolDenylist",
    );
    expect(await home.ok("tool", "--help")).toContain("Usage: heddle tool [options] [name] [options...]");
  });
});

describe("tool NAME", () => {
  test("[TCM3] it is called with its options, and its output is printed as it is", async () => {
    const made = await home.ok(
      "tool",
      "notes_create",
      "--title",
      "One",
      "--content",
      "a\nb",
      "--tags",
      "x",
      "--tags",
      "y",
    );
    expect(JSON.parse(made)).toMatchObject({ title: "One", tags: ["x", "y"] });
    const read = await home.json("tool", "notes_read", "--note=One");
    expect(read).toMatchObject({ status: "completed", duration_ms: expect.any(Number) });
    expect(JSON.parse(read.output)).toMatchObject({ content: "a\nb" });
    expect(await home.ok("tool", "notes_read", "--note", "One")).toBe(read.output);
  });

  test("[TCM3] what a tool did not do ends with 1, its words on standard error", async () => {
    const { code, stdout, stderr } = await home.run(["tool", "notes_read", "--note", "none"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/none/);
    const json = await home.run(["tool", "notes_read", "--note", "none", "--json"]);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: "failed" });
  });

  test("[TCM4] arguments come as JSON too, from standard input as well; options come on top", async () => {
    const input = '{"title": "Piped", "content": "it\'s"}';
    const { code, stdout } = await home.run(
      ["tool", "notes_create", "--arguments", "-", "--content", "over"],
      { input },
    );
    expect(code).toBe(0);
    const { id } = JSON.parse(stdout);
    const read = await home.ok("tool", "notes_read", "--arguments", JSON.stringify({ note: id }));
    expect(JSON.parse(read)).toMatchObject({ title: "Piped", content: "over" });
    for (const wrong of ["{", "[]", "null", '"x"', ""]) {
      const { code: refused, stderr } = await home.run(["tool", "notes_list", "--arguments", wrong]);
      expect(refused, wrong).toBe(2);
      expect(stderr).toContain("--arguments must be a JSON object");
    }
  });

  test("[TCM5] a tool or an option that is not there is named, with the nearest", async () => {
    const tool = await home.run(["tool", "notes_crate"]);
    expect(tool.code).toBe(1);
    expect(tool.stderr).toContain("There is no tool notes_crate. The nearest is notes_create.");
    const json = await home.run(["tool", "notes_crate", "--json"]);
    expect(JSON.parse(json.stderr).error).toMatchObject({ kind: "tool.unknown", name: "notes_crate" });
    const option = await home.run(["tool", "notes_create", "--titel", "x"]);
    expect(option.code).toBe(2);
    expect(option.stderr).toBe(
      "heddle: notes_create has no option --titel. Did you mean --title?\n`heddle tool notes_create --help` shows how it is used.\n",
    );
  });

  test("[TCM13] an option that has to be there and is not is wrong usage, and the help of that tool is named", async () => {
    const { code, stdout, stderr } = await home.run(["tool", "notes_create", "--content", "x"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toBe(
      "heddle: notes_create needs --title.\n`heddle tool notes_create --help` shows how it is used.\n",
    );
    const given = ["tool", "notes_create", "--arguments", '{"title": "Given"}'];
    expect(JSON.parse(await home.ok(...given))).toMatchObject({ title: "Given" });
  });

  test("[TCM6] in a thread it is called within its agent's scope", async () => {
    const thread = await threadId();
    await home.ok("tool", "notes_create", "--title", "Kept");
    const { code, stderr } = await home.run(["tool", "notes_delete", "--note", "Kept", "--thread", thread]);
    expect(code).toBe(1);
    expect(stderr).toContain("toolDenylist");
    expect(await home.ok("tool", "notes_read", "--note", "Kept", "--thread", thread)).toContain("Kept");
    expect((await home.run(["tool", "notes_list", "--thread", "thr_none"])).code).toBe(1);
  });

  test("[TCM7] the environment names the gateway and the thread; flags that name another leave the thread behind", async () => {
    const thread = await threadId();
    const { url, token } = await home.serve();
    const env = { HEDDLE_URL: url, HEDDLE_TOKEN: token, HEDDLE_THREAD: thread };
    expect((await home.run(["tool"], { env })).stdout).toContain("toolDenylist");
    expect((await home.run(["tool", "notes_delete", "--note", "x"], { env })).stderr).toContain(
      "toolDenylist",
    );
    expect((await home.run(["tool", "--data", home.data], { env })).stdout).not.toContain("toolDenylist");
    expect((await home.run(["tool", "--url", url], { env })).stdout).not.toContain("toolDenylist");
    expect((await home.run(["tool"], { env: { HEDDLE_THREAD: thread } })).stdout).not.toContain(
      "toolDenylist",
    );
  });
});

describe("what an agent runs", () => {
  test("[SKL10] a private gateway opens a port on loopback when a command needs it, and it is gone with it", async () => {
    const thread = await threadId();
    home.model.play([
      calls("bash", {
        command: 'heddle tool notes_create --title "From $HEDDLE_THREAD" && echo "at $HEDDLE_URL"',
      }),
      says("done"),
    ]);
    expect(await home.ok("send", "--thread", thread, "make it")).toContain("done");
    expect(await home.ok("tool", "notes_list")).toContain(`From ${thread}`);
    const told = (await home.model.request(1)).body;
    const url = /at (http:\/\/127\.0\.0\.1:\d+)/.exec(told)?.[1] as string;
    await expect(fetch(url)).rejects.toThrow();
    expect(existsSync(join(home.data, "gateway.json"))).toBe(false);
  });

  test("[SKL10] over stdio there is no port, so no skills, and a command can't reach the gateway", async () => {
    const thread = await threadId();
    home.model.play([
      calls("bash", { command: 'echo "url=[$HEDDLE_URL] token=[$HEDDLE_TOKEN]"' }),
      says("done"),
    ]);
    const ask = (id: number, method: string, params: object) =>
      `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
    const child = home.spawn(["serve", "--stdio"]);
    let heard = "";
    const over = new Promise<void>((resolve) =>
      child.stdout?.on("data", (chunk) => {
        heard += chunk;
        if (heard.includes('"status":"completed"')) resolve();
      }),
    );
    child.stdin?.write(ask(1, "run/preview", { thread_id: thread, content: "x" }));
    child.stdin?.write(ask(2, "run/start", { thread_id: thread, content: "do it" }));
    await over;
    const preview = heard.split("\n").find((line) => line.includes('"id":1,')) ?? "";
    expect(preview).toContain('"messages"');
    expect(preview).not.toContain("CLI skills");
    expect((await home.model.request(1)).body).toContain("url=[] token=[]");
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.stdin?.end();
    await ended;
  });
});
