import { spawnSync } from "node:child_process";
import { mkdirSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ModelServer, startModelServer } from "../support/model-server/server.js";
import { Line } from "./line.js";
import { answerOf } from "./model.js";
import { Mortal } from "./process.js";

/** The built command; HEDDLE_TEST_COMMAND names another build of it. */
const COMMAND = resolve(process.env.HEDDLE_TEST_COMMAND ?? "dist/bin/heddle.js");
const PRELOAD = resolve("test/crash/preload.mjs");

export interface Control {
  readonly shift_ms?: number;
  readonly flush?: "ok" | "fail" | "hold";
  /** Only files whose path has this in it; empty: all. */
  readonly under?: string;
}

export interface WorldGiven {
  /** An empty directory that everything stands in. */
  readonly dir: string;
  /** The value of `--store`. */
  readonly store?: string;
  /** What a command is started through, to have a disk of its own for example. */
  readonly through?: readonly string[];
  /** Where this process finds what stands in `dir`, where the gateway's disk is another. */
  readonly seenAt?: string;
}

/** What outlives a gateway: its data, a project that is a git repository, a model, and what tools left behind. */
export class World {
  readonly dir: string;
  readonly store: string;
  /** Where this process finds the files that the gateway has. */
  readonly seen: string;
  workspace_id = "";
  gateway: Mortal | undefined;
  readonly #lines = new Set<Line>();
  #control: Required<Control> = { shift_ms: 0, flush: "ok", under: "" };

  private constructor(
    readonly given: WorldGiven,
    readonly model: ModelServer,
  ) {
    this.dir = realpathSync(given.dir);
    this.store = given.store ?? "sqlite";
    this.seen = given.seenAt ?? this.dir;
  }

  static async make(given: WorldGiven): Promise<World> {
    const world = new World(given, await startModelServer());
    for (const name of ["data", "project", "traces"]) mkdirSync(join(world.seen, name), { recursive: true });
    world.model.play((body) => answerOf(body, world.trace));
    writeFileSync(join(world.seen, "data/heddle.config.json"), JSON.stringify(configAt(world.model.url)));
    world.control({});
    world.git("init", "-q", "-b", "main");
    writeFileSync(join(world.seen, "project/README.md"), "A project.\n");
    world.git("add", ".");
    world.git("commit", "-q", "-m", "begin");
    return world;
  }

  get data(): string {
    return join(this.dir, "data");
  }

  get project(): string {
    return join(this.dir, "project");
  }

  /** Where commands of agents leave a line when they begin and when they end. */
  get trace(): string {
    return join(this.dir, "traces/bash");
  }

  /** From the gateway's path to the one under which this process finds it. */
  path(of: string): string {
    return this.seen + of.slice(this.dir.length);
  }

  /** Takes effect within a few milliseconds. */
  control(change: Control): void {
    this.#control = { ...this.#control, ...change };
    const file = join(this.seen, "control.json");
    writeFileSync(`${file}.next`, JSON.stringify(this.#control));
    renameSync(`${file}.next`, file);
  }

  spawn(): Mortal {
    const serve = ["serve", "--json", "--no-open", "--port", "0", "--data", this.data, "--store", this.store];
    this.gateway = new Mortal(this.command(...serve), this.env(), this.log);
    return this.gateway;
  }

  /** The `heddle` command with these words, where the gateway is. */
  command(...words: string[]): string[] {
    return [...(this.given.through ?? []), process.execPath, COMMAND, ...words];
  }

  /** What gateways said that nobody asked for. */
  get log(): string {
    return `${this.dir}.log`;
  }

  env(): NodeJS.ProcessEnv {
    return {
      PATH: process.env.PATH,
      HOME: join(this.dir, "nobody"),
      HEDDLE_DETECT: "off",
      HEDDLE_LOG: "warn",
      NODE_OPTIONS: `--import ${PRELOAD}`,
      HEDDLE_CRASH_CONTROL: join(this.dir, "control.json"),
      GIT_CONFIG_NOSYSTEM: "1",
      ...AUTHOR,
    };
  }

  /** Starts a gateway and waits until it accepts requests. */
  async start(): Promise<void> {
    await this.spawn().ready;
    const line = await this.line();
    const { workspace } = await line.call("workspace/create", { root_path: this.project });
    this.workspace_id = workspace.id;
    line.close();
  }

  async line(): Promise<Line> {
    if (!this.gateway) throw new Error("no gateway was started");
    const { url, token } = await this.gateway.ready;
    const line = await Line.open(url, token);
    this.#lines.add(line);
    return line;
  }

  /** Answers whether there was one to kill. */
  async kill(): Promise<boolean> {
    const { gateway } = this;
    this.gateway = undefined;
    if (!gateway) return false;
    const killed = await gateway.kill();
    // What it had sent by then counts: it is read before the lines are given up.
    await sleep(5);
    for (const line of this.#lines) line.close();
    this.#lines.clear();
    return killed;
  }

  git(...args: string[]): string {
    const { through = [] } = this.given;
    const [command, ...rest] = [...through, "git", "-C", this.project, ...args];
    const { status, stdout, stderr } = spawnSync(command as string, rest, {
      encoding: "utf8",
      env: this.env(),
    });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  async close(): Promise<void> {
    await this.kill();
    await this.model.close();
  }
}

const AUTHOR = {
  GIT_AUTHOR_NAME: "A",
  GIT_AUTHOR_EMAIL: "a@example.test",
  GIT_COMMITTER_NAME: "A",
  GIT_COMMITTER_EMAIL: "a@example.test",
};

function configAt(url: string) {
  const chat = (model: string) => ({
    provider: "openai-compatible",
    model,
    config: {
      baseURL: `${url}/v1`,
      apiKey: "test-key-0123456789",
      timeouts: { connectMs: 20_000, firstTokenMs: 20_000, silenceMs: 20_000 },
      retry: { retries: 2, backoffMs: 1, longestWaitMs: 50 },
    },
  });
  const agent = (agentId: string, toolApprovals: object) => ({
    agentId,
    displayName: agentId,
    description: `The ${agentId} agent.`,
    chat: chat(agentId),
    toolApprovals,
  });
  return {
    agents: [
      agent("doer", { allow: ["bash"] }),
      agent("asker", { ask: ["bash"] }),
      agent("helper", {}),
      agent("other", {}),
    ],
  };
}
