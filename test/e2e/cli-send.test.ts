import { spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buildCommand, CliHome, COMMAND, ended } from "../support/cli.js";
import { configureData, ModelHome } from "../support/cli-model.js";
import { agentAt, apis } from "../support/runs.js";

const ESC = "\u001b";

beforeAll(buildCommand);

describe("without a gateway", () => {
  let home: CliHome;
  beforeEach(() => {
    home = new CliHome();
  });
  afterEach(() => home.remove());

  test("[CLI159] the demo agent answers on a machine with no key", async () => {
    const { code, stdout, stderr } = await home.run(["send", "hello"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^Hello! I am the demo agent of Heddle, and need no key\. .*\n$/);
  });

  test("[CLI159] what was said is there for the next command", async () => {
    const { run, thread, message } = await home.json("send", "hello");
    expect(run).toMatchObject({ number: 1, status: "completed", agent_id: "demo", thread_id: thread.id });
    expect(thread).toMatchObject({ title: "hello", message_count: 2, status: "idle" });
    expect(message).toMatchObject({ role: "agent", run_id: run.id, id: run.agent_message_id });
    const { data } = await home.json("threads", "messages", thread.id);
    expect(data.map(({ role }: { role: string }) => role)).toEqual(["user", "agent"]);
    expect(data[1]).toEqual(message);
    expect((await home.json("runs")).data).toEqual([run]);
    expect(existsSync(join(home.data, "command.json"))).toBe(false);
  });

  test("[CLI159] a configuration in the data directory counts", async () => {
    mkdirSync(home.data, { recursive: true });
    configureData(home, [{ agentId: "mine", displayName: "Mine", chat: { provider: "demo", model: "m" } }]);
    expect((await home.json("send", "hello")).run).toMatchObject({ agent_id: "mine", model: "m" });
  });
});

describe("with a gateway and a scripted model", () => {
  let home: ModelHome;
  beforeEach(async () => {
    home = await ModelHome.open((url) => [
      agentAt(url, apis[0]),
      agentAt(url, apis[2]),
      { agentId: "keyless", chat: { provider: "openai", model: "gpt-5" } },
    ]);
    await home.serveAgents();
  });
  afterEach(() => home.remove());

  const usage = { usage: { input: 12, output: 3 } };

  describe("the answer", () => {
    test("[CLI150] a pipe gets exactly the words and a line end", async () => {
      const text = [`wo${ESC}[31mrds `, "in\r\n", "\tpieces\u0007 🧵"];
      home.model.play([{ steps: [{ thinking: "hm" }, { text }, usage] }]);
      const { code, stdout, stderr } = await home.run(["send", "say it"]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toBe(`${text.join("")}\n`);
    });

    test("[CLI150] it comes while it is written", async () => {
      home.model.play([{ steps: [{ text: "first" }, { hang: true }] }]);
      const sending = home.begin("send", "hi");
      await sending.said("first");
      sending.child.kill("SIGINT");
      await sending.ended;
    });

    test("[CLI160] a tool call is a line on standard error; the words of both steps stand apart", async () => {
      home.write({ "a.txt": "content" });
      home.model.play([
        { steps: [{ text: "I look." }, call("c1", "files_read", '{"path":"a.txt"}')] },
        { steps: [call("c2", "files_read", '{"path":"none"}')] },
        { steps: [{ text: "Done." }] },
      ]);
      await home.ok("workspaces", "create", ".");
      const { code, stdout, stderr } = await home.run(["send", "look"]);
      expect(code).toBe(0);
      expect(stdout).toBe("I look.\n\nDone.\n");
      const lines = stderr.trimEnd().split("\n");
      expect(lines.slice(0, 2)).toEqual([
        '[tool] files_read {"path":"a.txt"}',
        '[tool] files_read {"path":"none"}',
      ]);
      expect(lines[2]).toMatch(/^\[tool\] files_read failed: /);
      expect(lines).toHaveLength(3);
      const { data } = await home.json("runs");
      expect(data[0]).toMatchObject({ steps: 3 });
    });

    test("[CLI154] --json is one object at the end", async () => {
      home.model.play([{ steps: [{ text: "yes" }, usage] }]);
      const { stdout, stderr } = await home.run(["send", "ok?", "--json"]);
      expect(stderr).toBe("");
      expect(stdout.split("\n")).toHaveLength(2);
      const { run, thread, message, ...more } = JSON.parse(stdout);
      expect(more).toEqual({});
      expect(run).toMatchObject({ status: "completed", usage: { input: 12, output: 3 }, model: "qwen3" });
      expect(thread.id).toBe(run.thread_id);
      expect(message.content).toEqual([{ type: "text", text: "yes" }]);
    });

    test("[CLI161] a busy thread lets it wait, and it is answered in its turn", async () => {
      home.model.play([
        { when: "one", steps: [{ text: "to one" }, { hang: true }] },
        { when: "two", steps: [{ text: "to two" }] },
      ]);
      const { thread } = await home.json("threads", "start");
      const first = home.begin("send", "--thread", thread.id, "one");
      await first.said("to one");
      const second = home.begin("send", "--thread", thread.id, "two");
      await second.said("waits for its turn", "stderr");
      first.child.kill("SIGINT");
      expect((await first.ended).code).toBe(130);
      expect(await second.ended).toMatchObject({ code: 0, stdout: "to two\n" });
    });
  });

  describe("the message", () => {
    const asked = async (index = 0) => {
      const { messages } = JSON.parse((await home.model.request(index)).body);
      return messages.at(-1).content;
    };

    test("[CLI151] words, standard input where - stands, set apart by empty lines", async () => {
      home.model.play([{ repeat: true, steps: [{ text: "ok" }] }]);
      await home.run(["send", "fix", "the bug"], { input: "not read" });
      expect(await asked(0)).toBe("fix the bug");
      await home.run(["send", "-"], { input: "from\na pipe\n" });
      expect(await asked(1)).toBe("from\na pipe");
      await home.run(["send"], { input: "no words" });
      expect(await asked(2)).toBe("no words");
      await home.run(["send", "Review", "this:", "-", "Be", "brief."], { input: "+ a\n- b\n" });
      expect(await asked(3)).toBe("Review this:\n\n+ a\n- b\n\nBe brief.");
    });

    test("[CLI151] standard input stays with the loop that reads it", async () => {
      home.model.play([{ repeat: true, steps: [{ text: "ok" }] }]);
      const loop = `printf 'a\\nb\\n' | while read -r word; do "$0" "$1" send "$word"; done`;
      const child = spawn("bash", ["-c", loop, process.execPath, COMMAND], { env: home.env, cwd: home.cwd });
      expect((await ended(child)).stdout).toBe("ok\nok\n");
    });

    test("[CLI151] nothing to send, input twice, what is not text: refused before anything is made", async () => {
      expect(await home.run(["send"], { input: " \n" })).toMatchObject({ code: 2, stdout: "" });
      expect((await home.run(["send", ""])).code).toBe(2);
      expect((await home.run(["send", "-", "-"], { input: "x" })).stderr).toContain("only once");
      const latin = await home.run(["send", "-", "--json"], { input: Buffer.from([0x66, 0xfc, 0x72]) });
      expect(JSON.parse(latin.stderr).error).toMatchObject({ kind: "file.not_text" });
      expect((await home.json("threads")).data).toEqual([]);
    });
  });

  describe("the thread", () => {
    beforeEach(() => home.model.play([{ repeat: true, steps: [{ text: "ok" }] }]));

    test("[CLI152] a message starts a new one, with an agent and in a folder where they are named", async () => {
      const { folder } = await home.json("folders", "create", "Backend/Payments");
      const first = await home.json("send", "one");
      expect(first.thread).toMatchObject({ agent_id: "openai-compatible", title: "one" });
      const second = await home.json(
        "send",
        "--agent",
        "anthropic",
        "--folder",
        "Backend/Payments",
        "--new",
        "two",
      );
      expect(second.thread).toMatchObject({ agent_id: "anthropic", folder_id: folder.id });
      expect(second.thread.id).not.toBe(first.thread.id);
    });

    test("[CLI152] --thread goes on in one, --continue in the latest of the workspace or the agent", async () => {
      const one = await home.json("send", "one");
      const two = await home.json("send", "--agent", "anthropic", "two");
      await laterThan(two.thread.updated_at);
      const again = await home.json("send", "--thread", one.thread.id, "three");
      expect(again.run).toMatchObject({ thread_id: one.thread.id, number: 2 });
      expect((await home.json("send", "--continue", "four")).run).toMatchObject({
        thread_id: one.thread.id,
        number: 3,
      });
      expect((await home.json("send", "--continue", "--agent", "anthropic", "five")).run).toMatchObject({
        thread_id: two.thread.id,
        number: 2,
      });
    });

    test("[CLI152] what can't be meant is wrong usage", async () => {
      for (const args of [
        ["--thread", "x", "--continue"],
        ["--thread", "x", "--new"],
        ["--new", "--continue"],
        ["--thread", "x", "--agent", "a"],
        ["--thread", "x", "--folder", "/"],
        ["--continue", "--folder", "/"],
        ["--prompt", "a", "--prompt-file", "b"],
        ["--prompt", " "],
      ]) {
        expect(await home.run(["send", ...args, "hi"]), args.join(" ")).toMatchObject({
          code: 2,
          stdout: "",
        });
      }
    });

    test("[CLI152] what is refused makes no thread", async () => {
      const refused = async (...args: string[]) => {
        const { code, stdout, stderr } = await home.run(["send", ...args, "hi", "--json"]);
        expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
        return JSON.parse(stderr).error;
      };
      expect(await refused("--agent", "nobody")).toMatchObject({
        kind: "agent.not_found",
        agent_id: "nobody",
      });
      expect(await refused("--agent", "keyless")).toMatchObject({ kind: "agent.unavailable" });
      expect(await refused("--thread", "thr_none")).toMatchObject({ kind: "thread.not_found" });
      expect(await refused("--folder", "None")).toMatchObject({ kind: "folder.unknown" });
      expect(await refused("--prompt-file", "none.md")).toMatchObject({ kind: "file.unreadable" });
      expect(await refused("--continue")).toMatchObject({ kind: "thread.none" });
      expect((await home.json("threads")).data).toEqual([]);
      const told = await home.run(["send", "--agent", "keyless", "hi"]);
      expect(told.stderr).toContain("`heddle agents` tells which can be used.");
    });

    test("[CLI153] a prompt and a model count for their message alone", async () => {
      const { thread } = await home.json("send", "one");
      home.write({ "strict.md": "Be strict.\n" });
      await home.ok("send", "--thread", thread.id, "--prompt-file", "strict.md", "--model", "large", "two");
      await home.ok("send", "--thread", thread.id, "--prompt", "Be kind.", "three");
      await home.ok("send", "--thread", thread.id, "four");
      const bodies = await Promise.all(
        [0, 1, 2, 3].map(async (at) => JSON.parse((await home.model.request(at)).body)),
      );
      expect(bodies.map(({ model }) => model)).toEqual(["qwen3", "large", "qwen3", "qwen3"]);
      const base = bodies.map(({ messages }) => messages[0].content as string);
      expect(base[1]).toMatch(/^Be strict\.\n/);
      expect(base[2]).toMatch(/^Be kind\./);
      expect(base[3]).toBe(base[0]);
    });
  });
});

function call(id: string, name: string, args: string) {
  return { tool_call: { id, name, arguments: args } };
}

/** Of two threads that change within a second nobody can say which is the latest. */
async function laterThan(unixSeconds: number): Promise<void> {
  await expect.poll(() => Math.floor(Date.now() / 1000)).toBeGreaterThan(unixSeconds);
}
