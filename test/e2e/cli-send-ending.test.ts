import { spawn } from "node:child_process";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { buildCommand, COMMAND, ended, type ServedGateway } from "../support/cli.js";
import { CuttableWay, configureData, ModelHome } from "../support/cli-model.js";
import { agentAt, apis } from "../support/runs.js";

const ESC = "\u001b";
const usage = { usage: { input: 12, output: 3 } };

let home: ModelHome;
let gateway: ServedGateway;
beforeAll(buildCommand);
beforeEach(async () => {
  home = await ModelHome.open((url) => [agentAt(url, apis[0]), agentAt(url, apis[2])]);
  gateway = await home.serveAgents();
});
afterEach(() => home.remove());

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

  test("[CLI151] a pipe that was not read is told of", async () => {
    home.model.play([{ repeat: true, steps: [{ text: "ok" }] }]);
    const piped = (...words: string[]) =>
      `echo more | '${process.execPath}' '${COMMAND}' send ${words.join(" ")}`;
    const shown = async (line: string) => {
      const mac = process.platform === "darwin";
      const args = mac ? ["-q", "/dev/null", "sh", "-c", line] : ["-qec", line, "/dev/null"];
      return (await ended(spawn("script", args, { env: { ...home.env, NO_COLOR: "1" }, cwd: home.cwd })))
        .stdout;
    };
    expect(await shown(piped("hi"))).toMatch(/^Standard input was not read: - stands for it\.\r\nok\r\n/);
    expect(await shown(piped("hi", "-"))).toMatch(/^ok\r\n/);
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
    const { port, token } = gateway;
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
    const sending = home.begin("send", "count", ...through);
    await sending.said("one ");
    way.cut();
    const { code, stdout, stderr } = await sending.ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: "one \n" });
    const { data } = await home.json("runs");
    expect(stderr).toContain(`heddle threads messages ${data[0].thread_id}`);
  });
});

test("[CLI154] a gateway that stops interrupts the run: what came is printed, the exit code is 1", async () => {
  home.model.play([{ steps: [{ text: "so far" }, { hang: true }] }]);
  const sending = home.begin("send", "hi");
  await sending.said("so far");
  await gateway.stop("SIGTERM");
  const { code, stdout, stderr } = await sending.ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: "so far\n" });
  expect(stderr).toMatch(/heddle send --thread thr_\w+ …\n$/);
});

test("[CLI157] a gateway that is killed and started anew: nothing twice, and how it ended", async () => {
  home.model.play([{ steps: [{ text: "so far" }, { hang: true }] }]);
  const sending = home.begin("send", "hi");
  await sending.said("so far");
  // Only what was journaled is known to the next gateway.
  await expect
    .poll(async () => (await journal()).includes("effect.progress"), { timeout: 10_000 })
    .toBe(true);
  await gateway.stop("SIGKILL");
  await home.serveAgents("--port", String(gateway.port));
  const { code, stdout } = await sending.ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: "so far\n" });
  expect((await home.json("runs")).data).toMatchObject([{ status: "interrupted" }]);
});

test("[CLI159] a private gateway keeps what came when it is cancelled", async () => {
  await gateway.stop();
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

/** The types of the events of the latest run. */
async function journal(): Promise<string[]> {
  const { data } = await home.json("runs", "--limit", "1");
  const response = await fetch(`${gateway.url}/rpc`, {
    method: "POST",
    headers: { Authorization: `Bearer ${gateway.token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "run/journal", params: { run_id: data[0].id } }),
  });
  const { result } = (await response.json()) as { result: { data: { type: string }[] } };
  return result.data.map(({ type }) => type);
}
