import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { sqliteDriver } from "../../src/base/index.js";
import type { MethodName } from "../../src/protocol/index.js";
import { COMMAND } from "../support/cli.js";
import { bearer, http, post, upgrade } from "../support/http.js";
import type { ServerTurn } from "../support/model-server/script.js";
import { type ModelServer, startModelServer } from "../support/model-server/server.js";
import { endOf } from "../support/mortal-gateway.js";
import { HeddleProcess, type Ready } from "../support/process.js";
import { agentAt, apis, calls, RunScene, says } from "../support/runs.js";
import { temporaryDirectory } from "../support/stores.js";
import { projectDirectory } from "../support/threads.js";
import { Wire } from "../support/wire.js";

/** A secret that stands nowhere else, and looks like no word. */
const mark = (name: string) => `${name}-Zq7x9Kt2${Math.random().toString(36).slice(2, 12)}`;

/** What must not get out. Each is known to the gateway in another way. */
export const marks = {
  token: mark("token"),
  environment: mark("sk-env"),
  unrelated: mark("ghp"),
  filled: mark("sk-filled"),
  written: mark("sk-written"),
  header: mark("header"),
  anthropic: mark("sk-ant"),
  google: mark("AIza"),
  address: mark("userpw"),
  mcp: mark("mcp"),
  mcpHeader: mark("mcphead"),
  external: mark("external"),
  program: mark("program"),
  broken: mark("sk-broken"),
};

/** What somebody writes belongs into a thread and to a model, but into no log and no dump. */
export const words = {
  message: mark("message"),
  document: mark("document"),
  argument: mark("argument"),
  answer: mark("answer"),
};

/** What the gateway, and every command, is started with. */
const ENVIRONMENT = {
  HEDDLE_LOG: "trace",
  HEDDLE_DETECT: "off",
  ATK_LOGIN: marks.filled,
  OPENAI_API_KEY: marks.environment,
  ANTHROPIC_API_KEY: marks.environment,
  GITHUB_TOKEN: marks.unrelated,
  NPM_TOKEN: marks.unrelated,
};

const [chat, responses, messages, gemini] = apis;

/** A gateway of its own with every kind of secret, in which everything that can fail does. */
export class SecretsScene {
  readonly dir = temporaryDirectory();
  readonly data = join(this.dir, "data");
  readonly reports = join(this.dir, "reports");
  readonly root = projectDirectory();
  readonly told: string[] = [];
  readonly #runs: string[] = [];
  #threads: string[] = [];

  private constructor(
    readonly model: ModelServer,
    readonly echo: Server,
  ) {}

  process!: HeddleProcess;
  ready!: Ready;
  wire!: Wire;
  workspace_id = "";

  static async make(): Promise<SecretsScene> {
    // Repeats whatever it was sent, as a careless server does.
    const echo = createServer((request, response) => {
      request.resume().on("end", () => {
        // What can't be right the next time either is not tried again.
        response.writeHead(400, { "content-type": "application/json" });
        response.end(
          JSON.stringify({ error: { message: `bad: ${JSON.stringify(request.headers)} ${request.url}` } }),
        );
      });
    });
    await new Promise<void>((resolve) => echo.listen(0, "127.0.0.1", resolve));
    const scene = new SecretsScene(await startModelServer(), echo);
    for (const dir of [scene.data, scene.reports]) mkdirSync(dir);
    await scene.#start();
    return scene;
  }

  #config(): object {
    const { url } = this.model;
    const { port } = this.echo.address() as AddressInfo;
    const echo = `http://user:${marks.address}@127.0.0.1:${port}`;
    const agent = (agentId: string, api: (typeof apis)[number], config: object) => {
      const made = agentAt(url, api);
      const retry = { retries: 0, backoffMs: 1, longestWaitMs: 1 };
      const whole = { ...made.chat.config, headers: { "x-team": marks.header }, retry, ...config };
      return { ...made, agentId, toolApprovals: { allow: ["*"] }, chat: { ...made.chat, config: whole } };
    };
    const program = `process.stderr.write("I can't: " + process.env.PROGRAM_KEY + "\\n"); process.exit(3);`;
    return {
      agents: [
        agent("filled", chat, { apiKey: "$".concat("{ATK_LOGIN}") }),
        agent("written", responses, { apiKey: marks.written }),
        agent("claude-api", messages, { apiKey: marks.anthropic }),
        agent("gemini-api", gemini, { apiKey: marks.google }),
        agent("echoing", chat, { apiKey: marks.written, baseURL: `http://127.0.0.1:${port}` }),
        {
          agentId: "program",
          description: "Ends at once.",
          chat: {
            provider: "acp",
            config: { command: process.execPath, args: ["-e", program], env: { PROGRAM_KEY: marks.program } },
          },
        },
        {
          agentId: "remote",
          type: "external",
          description: "Elsewhere.",
          external: { inputUrl: `${echo}/in/${marks.external}`, headers: { "x-key": marks.external } },
        },
      ],
      mcpServers: {
        dies: {
          command: process.execPath,
          args: ["-e", 'process.stderr.write("env: " + process.env.MCP_KEY + "\\n"); process.exit(1)'],
          env: { MCP_KEY: marks.mcp },
        },
        refuses: {
          url: `${echo}/mcp?key=${marks.mcpHeader}`,
          headers: { authorization: `Bearer ${marks.mcpHeader}` },
        },
      },
      hooks: [
        {
          id: "talks",
          contributes: ["prompt_section"],
          command: ["sh", "-c", "env; env >&2; exit 3"],
          subscriptions: [{ hook_id: "talks", phase: "turn.pre_prompt_compile" }],
        },
      ],
    };
  }

  async #start(): Promise<void> {
    writeFileSync(join(this.data, "heddle.config.json"), JSON.stringify(this.#config()));
    const crash = join(this.dir, "crash.mjs");
    writeFileSync(
      crash,
      `process.on("SIGUSR2", () => setImmediate(() => { throw new Error("an accident"); }));`,
    );
    const node = [
      "--report-uncaught-exception",
      "--report-on-fatalerror",
      `--report-directory=${this.reports}`,
    ];
    const serve = ["serve", "--json", "--port", "0", "--data", this.data, "--token", marks.token];
    this.process = new HeddleProcess([...node, COMMAND, ...serve], ENVIRONMENT, `--import=${crash}`);
    this.ready = await this.process.ready();
    this.wire = await Wire.open(this.ready.url, this.ready.token);
    const { workspace } = await this.wire.result("workspace/create", { root_path: this.root });
    this.workspace_id = workspace.id;
  }

  /** Has everything go wrong that can. */
  async provoke(): Promise<void> {
    await this.#badRequests();
    await this.#badProviders();
    await this.#talk();
    await this.#badConfiguration();
    await this.#ask();
    await this.#badStore();
  }

  async #badRequests(): Promise<void> {
    const { url } = this.ready;
    const door = { url, token: marks.token };
    this.told.push((await post(door, `{"method":"ping","x":"${words.message}`)).text);
    this.told.push(
      (
        await post(door, {
          jsonrpc: "2.0",
          id: 1,
          method: "thread/agents_doc/save",
          params: { content: words.document },
        })
      ).text,
    );
    this.told.push(
      (
        await http(`${url}/metrics?token=${marks.token}`, {
          headers: { authorization: `Bearer ${marks.unrelated}` },
        })
      ).text,
    );
    await upgrade(`${url}/rpc?token=${marks.token}`, { ...bearer(door), origin: "https://evil.example" });
    for (const path of [
      "/",
      "/w/x",
      "/healthz",
      "/readyz",
      "/schemas/",
      "/metrics",
      "/v1/models",
      "/nothing",
    ])
      this.told.push((await http(url + path, { headers: bearer(door) })).text);
  }

  async #run(agent_id: string, content: string, ...turns: ServerTurn[]): Promise<void> {
    this.model.play(turns);
    const { thread } = await this.wire.result("thread/start", { workspace_id: this.workspace_id, agent_id });
    this.#threads.push(thread.id);
    const { run } = await this.wire.result("run/start", {
      workspace_id: this.workspace_id,
      thread_id: thread.id,
      content,
    });
    this.#runs.push(run.id);
    await endOf(new RunScene(this.wire, this.workspace_id, this.root, this.model), run.id);
  }

  async #badProviders(): Promise<void> {
    const keys = {
      filled: marks.filled,
      written: marks.written,
      "claude-api": marks.anthropic,
      "gemini-api": marks.google,
    };
    for (const [agent_id, key] of Object.entries(keys)) {
      const message = `Incorrect API key provided: ${key}; headers x-team: ${marks.header}.`;
      await this.#run(agent_id, "401", {
        steps: [{ status: 401, body: { error: { type: "auth", message, code: key } } }],
      });
      await this.#run(agent_id, "500", { steps: [{ status: 500, body: `<html>${message}</html>` }] });
      await this.#run(agent_id, "stream", {
        steps: [{ text: "Well, " }, { error: { type: "overloaded", message } }],
      });
      await this.#run(agent_id, "raw", { steps: [{ raw: `data: {"broken ${message}\n\n` }, { end: true }] });
    }
    for (const agent_id of ["echoing", "program", "remote"]) await this.#run(agent_id, "hello");
  }

  /** What is said in confidence, and a command that shows its environment. */
  async #talk(): Promise<void> {
    const { workspace_id } = this;
    await this.wire.result("thread/agents_doc/save", { workspace_id, content: words.document });
    const command = `env; echo ${words.argument} | tr a-z A-Z; cat /nowhere/${words.argument}`;
    await this.#run("filled", words.message, calls("bash", { command }), says(words.answer));
    await this.wire.call("tool/call", {
      workspace_id,
      name: "files_read",
      arguments: { path: words.argument },
    });
    await this.wire.call("tool/call", {
      workspace_id,
      name: words.argument,
      arguments: { x: words.argument },
    });
    await this.wire.call("thread/search", { workspace_id, query: words.message });
  }

  /** An edit with a key in it that can't be used. */
  async #badConfiguration(): Promise<void> {
    const file = join(this.data, "heddle.config.json");
    const before = readFileSync(file, "utf8");
    writeFileSync(
      file,
      `{"agents": [{"agentId": "x", "chat": {"provider": "openai", "config": {"apiKey": "${marks.broken}" "oops": ${marks.broken}`,
    );
    const looks = async () => (await this.wire.result("agent/list", {})).problem;
    for (let at = 0; at < 100 && (await looks()) === undefined; at++)
      await new Promise((r) => setTimeout(r, 50));
    this.told.push(String(await looks()));
    writeFileSync(file, before);
  }

  /** Everything that can be asked, of everything there is. */
  async #ask(): Promise<void> {
    const { workspace_id } = this;
    const ask = async (method: MethodName, params: object) => {
      const { result, error } = await this.wire.call(method, params);
      this.told.push(JSON.stringify({ method, result, error }));
      if (result?.archive_base64)
        this.told.push(gunzipSync(Buffer.from(result.archive_base64, "base64")).toString());
      return result;
    };
    const listed = await ask("agent/list", { workspace_id, include_hidden: true });
    for (const { agent_id } of listed.data) await ask("agent/get", { workspace_id, agent_id });
    for (const method of [
      "tool/list",
      "workspace/get",
      "thread/tree",
      "thread/list",
      "run/list",
      "prompt/status",
    ] as const)
      await ask(method, { workspace_id });
    await ask("hook/list", {});
    for (const run_id of this.#runs)
      for (const method of ["run/get", "run/context", "run/manifest", "run/journal", "run/replay"] as const)
        await ask(method, { run_id });
    for (const thread_id of this.#threads) {
      for (const method of ["thread/get", "thread/messages", "thread/export"] as const)
        await ask(method, { thread_id });
      await ask("run/preview", { workspace_id, thread_id, content: "hello" });
    }
    this.told.push((await http(`${this.ready.url}/metrics`, { headers: bearer(this.ready) })).text);
    for (const args of [["doctor"], ["agents", "--json"], ["runs", "--json"]]) await this.#command(...args);
    this.told.push(...this.wire.received.map((message) => JSON.stringify(message)));
  }

  /** What commands print of it. */
  async #command(...args: string[]): Promise<void> {
    const command = new HeddleProcess([...args, "--data", this.data], ENVIRONMENT);
    await command.exited;
    this.told.push(command.stdout + command.stderr);
  }

  /** A write that fails in a way nobody foresaw, with its values at hand. */
  async #badStore(): Promise<void> {
    const handle = sqliteDriver().open(join(this.data, "heddle.db"));
    handle.exec(
      "create trigger none before update on thread_agents_doc begin select raise(abort, 'no'); end",
    );
    handle.close();
    const { workspace_id } = this;
    const { error } = await this.wire.call("thread/agents_doc/save", {
      workspace_id,
      content: `${words.document} 2`,
    });
    this.told.push(JSON.stringify(error));
  }

  /** An accident that nobody caught. Answers what it left behind. */
  async crash(): Promise<string> {
    this.wire.close();
    const before = this.process.stderr.length;
    this.process.signal("SIGUSR2");
    const { code } = await this.process.exited;
    if (code === 0) throw new Error("it did not crash");
    const files = readdirSync(this.reports).map((name) => readFileSync(join(this.reports, name), "utf8"));
    if (files.length === 0) throw new Error(`no report was written: ${this.process.stderr.slice(before)}`);
    return [this.process.stderr.slice(before), ...files].join("\n");
  }

  /** Every file below a directory, as it stands there. */
  files(dir: string, leavesOut: readonly string[] = []): [path: string, bytes: Buffer][] {
    return readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !leavesOut.includes(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, readFileSync(path)]);
  }

  async remove(): Promise<void> {
    await this.process.end();
    await this.model.close();
    this.echo.close();
  }
}
