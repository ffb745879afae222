import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buildCommand, CliHome, COMMAND, ended } from "../support/cli.js";
import { CuttableWay, configureData, ModelHome } from "../support/cli-model.js";
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

  describe("how it ends", () => {
    test("[CLI154] a run that fails ends with 1 and says what to do", async () => {
      home.model.play([{ repeat: true, steps: [{ status: 401, body: { error: { message: "bad key" } } }] }]);
      const { code, stdout, stderr } = await home.run(["send", "hi"]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(/^heddle: .*Check the API key, and that it may use this model\.\n$/);
      const told = await home.run(["send", "hi", "--json"]);
      expect(told.code).toBe(1);
      const { run } = JSON.parse(told.stdout);
      expect(run).toMatchObject({ status: "failed", error: { code: "provider.unauthorized" } });
      expect(JSON.parse(told.stderr).error).toMatchObject({
        kind: "run.failed",
        code: "provider.unauthorized",
        run_id: run.id,
        thread_id: run.thread_id,
        message: run.error.message,
      });
    });

    test("[CLI154] what came before a failure is printed", async () => {
      home.model.play([{ repeat: true, steps: [{ text: "half of" }, { cut: true }] }]);
      const { code, stdout, stderr } = await home.run(["send", "hi"]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "half of\n" });
      expect(stderr).toContain("heddle: ");
    });

    test("[CLI154] a run that someone else cancels ends with 1", async () => {
      home.model.play([{ steps: [{ text: "so far" }, { hang: true }] }]);
      const sending = home.begin("send", "hi");
      await sending.said("so far");
      const { data } = await home.json("runs", "--status", "running");
      await home.ok("runs", "cancel", data[0].id);
      expect(await sending.ended).toMatchObject({
        code: 1,
        stdout: "so far\n",
        stderr: "heddle: Someone else cancelled the run.\n",
      });
    });

    test("[CLI155] Ctrl-C cancels the run, prints what came and ends with 130", async () => {
      home.model.play([{ steps: [{ text: "so far" }, { hang: true }] }]);
      const sending = home.begin("send", "hi");
      await sending.said("so far");
      sending.child.kill("SIGINT");
      expect(await sending.ended).toMatchObject({ code: 130, stdout: "so far\n", stderr: "" });
      expect(await (await home.model.request(0)).closed).toMatchObject({ byClient: true });
      const { data } = await home.json("runs");
      expect(data).toMatchObject([{ status: "cancelled" }]);
      const { data: said } = await home.json("threads", "messages", data[0].thread_id);
      expect(said.at(-1)).toMatchObject({
        stopReason: "cancelled",
        content: [{ type: "text", text: "so far" }],
      });
    });

    test("[CLI155] SIGTERM does the same with 143, and --json tells it", async () => {
      home.model.play([{ steps: [{ text: "so far" }, { hang: true }] }]);
      const sending = home.begin("send", "hi", "--json");
      await home.model.request(0);
      sending.child.kill("SIGTERM");
      const { code, stdout, stderr } = await sending.ended;
      expect({ code, stderr }).toEqual({ code: 143, stderr: "" });
      expect(JSON.parse(stdout).run).toMatchObject({ status: "cancelled" });
    });

    test("[CLI155] a second Ctrl-C leaves at once", async () => {
      home.model.play([{ steps: [{ text: "so far" }, { hang: true }] }]);
      const gateway = await stopped(home);
      const sending = home.begin("send", "hi");
      await sending.said("so far");
      gateway.process.kill("SIGSTOP");
      sending.child.kill("SIGINT");
      const still = await Promise.race([
        sending.ended.then(() => false),
        new Promise((resolve) => setTimeout(() => resolve(true), 500)),
      ]);
      expect(still).toBe(true);
      sending.child.kill("SIGINT");
      expect((await sending.ended).code).toBe(130);
      gateway.process.kill("SIGCONT");
    });

    test("[CLI156] a reader that has seen enough cancels the run, without a word", async () => {
      const many = Array.from({ length: 400 }, (_, index) => [
        { text: `line ${index}\n` },
        { delay_ms: 20 },
      ]).flat();
      home.model.play([{ steps: [{ text: "line\n" }, ...many] }]);
      const script = `"$0" "$1" send hi | head -n 1; echo "\${PIPESTATUS[0]}"`;
      const child = spawn("bash", ["-c", script, process.execPath, COMMAND], {
        env: home.env,
        cwd: home.cwd,
      });
      expect(await ended(child)).toMatchObject({ stdout: "line\n0\n", stderr: "" });
      expect(await (await home.model.request(0)).closed).toMatchObject({ byClient: true });
      expect((await home.json("runs")).data).toMatchObject([{ status: "cancelled" }]);
    });
  });

  describe("on a terminal", () => {
    test("[CLI158] control characters are shown, not obeyed; a last line tells where to go on", async () => {
      home.model.play([{ steps: [{ text: `a${ESC}]0;title\u0007b\tc\nd` }, usage] }]);
      const { code, stdout } = await home.onTerminal(["send", "hi"], { env: { NO_COLOR: "1" } });
      expect(code).toBe(0);
      const { data } = await home.json("threads");
      expect(stdout).toBe(
        `a^[]0;title^Gb\tc\r\nd\r\nthread ${data[0].id} · run 1 · qwen3 · 12 tokens in, 3 out\r\n`,
      );
    });

    test("[CLI158] --thinking shows what the model thinks, dimmed; without it nothing", async () => {
      home.model.play([{ repeat: true, steps: [{ thinking: `so${ESC}[2J` }, { text: "yes" }] }]);
      const shown = await home.onTerminal(["send", "--agent", "anthropic", "--thinking", "hi"]);
      expect(shown.stdout).toContain(`${ESC}[2mso^[[2J${ESC}[22m\r\nyes\r\n`);
      const plain = await home.onTerminal(["send", "--agent", "anthropic", "hi"]);
      expect(plain.stdout).not.toContain("so^[");
      const piped = await home.run(["send", "--agent", "anthropic", "--thinking", "hi"]);
      expect(piped).toMatchObject({ stdout: "yes\n", stderr: "" });
    });

    test("[CLI155] Ctrl-C on the keyboard cancels", async () => {
      home.model.play([{ steps: [{ text: "so far" }, { hang: true }] }]);
      const { code, stdout } = await home.onTerminal(["send", "hi"], {
        env: { NO_COLOR: "1" },
        answers: [["so far", "\u0003"]],
      });
      expect(code).toBe(130);
      expect(stdout).toContain("Cancelling; Ctrl-C again leaves at once.");
      expect(stdout).toContain("run 1 cancelled");
    });
  });

  describe("a lost connection", () => {
    let way: CuttableWay;
    let through: string[];
    beforeEach(async () => {
      const { port, token } = await stopped(home);
      way = await CuttableWay.to(port);
      through = ["--url", way.url, "--token", token];
    });
    afterEach(() => way.close());

    test("[CLI157] the rest of an answer that goes on comes when it is back, and nothing twice", async () => {
      home.model.play([
        {
          steps: [
            { text: "one " },
            { delay_ms: 300 },
            { text: "two " },
            { delay_ms: 2_000 },
            { text: "three" },
          ],
        },
      ]);
      const sending = home.begin("send", "count", ...through);
      await sending.said("one ");
      way.cut();
      await sending.said("was lost", "stderr");
      await new Promise((resolve) => setTimeout(resolve, 500));
      way.mend();
      await sending.said("two ");
      expect(await sending.ended).toMatchObject({ code: 0, stdout: "one two three\n" });
    });

    test("[CLI157] the rest of an answer that ended meanwhile comes from the thread's log", async () => {
      home.model.play([{ steps: [{ text: "one " }, { delay_ms: 300 }, { text: "two three" }] }]);
      const sending = home.begin("send", "count", ...through);
      await sending.said("one ");
      way.cut();
      await expect.poll(async () => (await home.json("runs")).data[0].status).toBe("completed");
      way.mend();
      expect(await sending.ended).toMatchObject({ code: 0, stdout: "one two three\n" });
    });

    test("[CLI157] a gateway that does not come back is a failure that says where to look", async () => {
      home.model.play([{ steps: [{ text: "one " }, { hang: true }] }]);
      const sending = home.begin("send", "count", "--json", ...through);
      await home.model.request(0);
      await new Promise((resolve) => setTimeout(resolve, 300));
      way.cut();
      const { code, stderr } = await sending.ended;
      expect(code).toBe(1);
      const { error } = JSON.parse(stderr);
      expect(error).toMatchObject({ kind: "run.unseen" });
      expect(error.message).toContain(`heddle threads messages ${error.thread_id}`);
    });
  });

  test("[CLI154] a gateway that stops interrupts the run: what came is printed, the exit code is 1", async () => {
    home.model.play([{ steps: [{ text: "so far" }, { hang: true }] }]);
    const gateway = await stopped(home);
    const sending = home.begin("send", "hi");
    await sending.said("so far");
    await gateway.stop("SIGTERM");
    const { code, stdout, stderr } = await sending.ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: "so far\n" });
    expect(stderr).toMatch(/heddle send --thread thr_\w+ …\n$/);
  });

  test("[CLI157] a gateway that is killed and started anew: nothing twice, and how it ended", async () => {
    home.model.play([{ steps: [{ text: "so far" }, { hang: true }] }]);
    const gateway = await stopped(home);
    const sending = home.begin("send", "hi");
    await sending.said("so far");
    // What came is journaled every quarter of a second; only then is it known to the next gateway.
    await new Promise((resolve) => setTimeout(resolve, 700));
    await gateway.stop("SIGKILL");
    await home.serveAgents("--port", String(gateway.port));
    const { code, stdout } = await sending.ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: "so far\n" });
    expect((await home.json("runs")).data).toMatchObject([{ status: "interrupted" }]);
  });

  test("[CLI159] a private gateway keeps what came when it is cancelled", async () => {
    await (await stopped(home)).stop();
    configureData(home, [agentAt(home.model.url)]);
    home.model.forget();
    home.model.play([{ steps: [{ text: "so far" }, { hang: true }] }]);
    const sending = home.begin("send", "hi");
    await sending.said("so far");
    sending.child.kill("SIGINT");
    expect(await sending.ended).toMatchObject({ code: 130, stdout: "so far\n", stderr: "" });
    const { data } = await home.json("runs");
    expect(data).toMatchObject([{ status: "cancelled" }]);
    const { data: said } = await home.json("threads", "messages", data[0].thread_id);
    expect(said).toMatchObject([{ role: "user" }, { role: "agent", stopReason: "cancelled" }]);
    expect((await home.json("replay", data[0].id)).replay).toMatchObject({ verified: true });
  });
});

function call(id: string, name: string, args: string) {
  return { tool_call: { id, name, arguments: args } };
}

/** A gateway of its own for a test that stops it, in place of the one that runs. */
async function stopped(home: ModelHome) {
  const address = JSON.parse(readFileSync(join(home.data, "gateway.json"), "utf8"));
  process.kill(address.pid, "SIGTERM");
  await expect.poll(() => existsSync(join(home.data, "gateway.json"))).toBe(false);
  return home.serveAgents();
}
