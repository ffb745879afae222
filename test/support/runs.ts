import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect } from "vitest";
import type { AppOptions } from "../../src/app/index.js";
import type { Params, Result, Run } from "../../src/protocol/index.js";
import { startGateway, type TestGateway } from "./gateway.js";
import type { ServerTurn } from "./model-server/script.js";
import { type ModelServer, startModelServer } from "./model-server/server.js";
import { type StoreKind, sqliteStore, temporaryDirectory } from "./stores.js";
import { projectDirectory, ThreadScene } from "./threads.js";
import type { Wire } from "./wire.js";

export const KEY = "test-key-0123456789";

/** The four APIs, each with the agent of the same name; the first is who answers when nobody is chosen. */
export const apis = [
  { id: "openai-compatible", protocol: "chat", model: "qwen3" },
  { id: "openai", protocol: "responses", model: "gpt-5" },
  { id: "anthropic", protocol: "messages", model: "claude-sonnet-4-5" },
  { id: "google", protocol: "gemini", model: "gemini-3-pro" },
] as const;
export type Api = (typeof apis)[number];

/** What a suite about something else does without: prompts and lists of tools stay short. One that names `plugins` has its own. */
export const FEW_PLUGINS = {
  artifacts: { enabled: false },
  agents: { enabled: false },
  bash: { enabled: false },
};

/** Waits short enough for tests, long enough never to be met by accident. */
export const patience = {
  timeouts: { connectMs: 20_000, firstTokenMs: 20_000, silenceMs: 20_000 },
  retry: { retries: 2, backoffMs: 1, longestWaitMs: 50 },
};

/** An agent of a configuration that asks the scripted server. */
export function agentAt(
  url: string,
  api: Api = apis[0],
  more: { chat?: object; [key: string]: unknown } = {},
) {
  const { chat, ...rest } = more;
  return {
    agentId: api.id,
    displayName: `Agent ${api.id}`,
    description: "Answers what it was told to.",
    chat: {
      provider: api.id,
      model: api.model,
      config: { baseURL: `${url}/v1`, apiKey: KEY, ...patience },
      ...chat,
    },
    ...rest,
  };
}

export interface RunStageGiven {
  /** The configuration; `url` is that of the model server. Default: an agent for each of the four APIs. */
  readonly config?: (url: string) => object;
  readonly options?: Partial<AppOptions>;
  /** The suite changes records on purpose: they are not proven in the end. */
  readonly tampers?: boolean;
}

/** One gateway and one scripted model server for a suite, and a workspace of its own for each test. */
export interface RunStage {
  readonly kind: StoreKind;
  gateway(): TestGateway;
  model(): ModelServer;
  /** The configuration file; what is written there counts after a restart. */
  configFile(): string;
  /** A workspace bound to a new project directory. */
  scene(): Promise<RunScene>;
  restart(): Promise<void>;
  /** The same workspace after a restart. */
  again(scene: RunScene): Promise<RunScene>;
}

export function runStage(kind: StoreKind = sqliteStore, given: RunStageGiven = {}): RunStage {
  let gateway: TestGateway;
  let model: ModelServer;
  let configFile: string;
  beforeAll(async () => {
    model = await startModelServer();
    configFile = join(temporaryDirectory(), "heddle.config.json");
    const config = given.config ?? ((url) => ({ agents: apis.map((api) => agentAt(url, api)) }));
    writeFileSync(configFile, JSON.stringify({ plugins: FEW_PLUGINS, ...config(model.url) }));
    gateway = await startGateway(kind, { configFile, ...given.options });
  });
  beforeEach(() => {
    model.play([]);
    model.forget();
    model.shut();
  });
  afterAll(async () => {
    try {
      if (gateway && !given.tampers) await proveEverything(gateway);
    } finally {
      await gateway?.stop();
      await model?.close();
    }
  }, 60_000);
  return {
    kind,
    gateway: () => gateway,
    model: () => model,
    configFile: () => configFile,
    scene: () => RunScene.over(gateway, model, projectDirectory()),
    restart: async () => {
      gateway = await gateway.restart();
    },
    again: ({ root }) => RunScene.over(gateway, model, root),
  };
}

/** Runs a suite once for each of the four APIs. */
export function forEachApi(name: string, suite: (api: Api) => void): void {
  for (const api of apis) describe(`${name} [${api.id}]`, () => suite(api));
}

type Start = Omit<Params<"run/start">, "thread_id" | "workspace_id" | "content">;
type Content = Params<"run/start">["content"];

const ENDED = new Set(["completed", "failed", "cancelled", "interrupted"]);

/** A workspace whose threads are answered by the scripted model. */
export class RunScene extends ThreadScene {
  constructor(
    wire: Wire,
    workspace_id: string,
    root: string,
    readonly model: ModelServer,
  ) {
    super(wire, workspace_id, root);
  }

  static async over(gateway: TestGateway, model: ModelServer, root_path: string): Promise<RunScene> {
    const { wire, workspace_id, root } = await ThreadScene.at(gateway, root_path);
    return new RunScene(wire, workspace_id, root, model);
  }

  /** What the model answers from now on, one turn a request. */
  plays(...turns: readonly (string | ServerTurn)[]): void {
    this.model.play(turns.map((turn) => (typeof turn === "string" ? says(turn) : turn)));
  }

  async startRun(thread_id: string, content: Content, more: Start = {}): Promise<Result<"run/start">> {
    const { workspace_id } = this;
    return this.wire.result("run/start", { workspace_id, thread_id, content, ...more });
  }

  /** Asks and waits for the end, whatever it is. */
  async ask(thread_id: string, content: Content, more: Start = {}): Promise<Run> {
    return this.ended((await this.startRun(thread_id, content, more)).run.id);
  }

  /** Asks and expects an answer. */
  async answered(thread_id: string, content: Content, more: Start = {}): Promise<Run> {
    const run = await this.ask(thread_id, content, more);
    expect(run.error).toBeUndefined();
    expect(run.status).toBe("completed");
    return run;
  }

  async getRun(run_id: string): Promise<Run> {
    return (await this.wire.result("run/get", { run_id })).run;
  }

  async runs(thread_id?: string): Promise<Run[]> {
    const { workspace_id } = this;
    const params = { workspace_id, limit: 500, order: "created" as const, ...(thread_id && { thread_id }) };
    return (await this.wire.result("run/list", params)).data;
  }

  /** Waits for a run's end, by what clients are told. */
  ended(run_id: string): Promise<Run> {
    return this.changed(run_id, ({ status }) => ENDED.has(status));
  }

  /** Waits until a run is told of in a way that is looked for. */
  changed(run_id: string, isSo: (run: Run) => boolean, withinMs = 40_000): Promise<Run> {
    const look = () =>
      this.wire
        .notifications("run/changed")
        .map(({ params }) => params.run)
        .findLast((run) => run.id === run_id && isSo(run));
    return waitOn(this.wire, look, `run ${run_id}`, withinMs);
  }

  async manifest(run_id: string, step?: number): Promise<Result<"run/manifest">["manifest"]> {
    return (await this.wire.result("run/manifest", { run_id, step })).manifest;
  }

  context(run_id: string, step?: number): Promise<Result<"run/context">> {
    return this.wire.result("run/context", { run_id, step });
  }

  async journal(run_id: string): Promise<Result<"run/journal">["data"]> {
    return (await this.wire.result("run/journal", { run_id, limit: 500 })).data;
  }

  preview(thread_id: string, params: Partial<Params<"run/preview">> = {}): Promise<Result<"run/preview">> {
    const { workspace_id } = this;
    return this.wire.result("run/preview", { workspace_id, thread_id, ...params });
  }

  async fork(thread_id: string, params: Partial<Params<"thread/fork">> = {}) {
    const { workspace_id } = this;
    return (await this.wire.result("thread/fork", { workspace_id, thread_id, ...params })).thread;
  }

  async blob(params: Params<"blob/put">): Promise<string> {
    return (await this.wire.result("blob/put", params)).ref;
  }

  async saveDoc(content: string, folder_id?: string) {
    const { workspace_id } = this;
    return (await this.wire.result("thread/agents_doc/save", { workspace_id, content, folder_id })).doc;
  }

  /** A file of the project, with the directories it stands in. */
  write(path: string, content: string | object): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  }

  /** The body of the request with this number, from 0, as the server got it. */
  async received(index: number): Promise<string> {
    return (await this.model.request(index)).body;
  }
}

/** A turn of one text. */
export const says = (text: string | string[]): ServerTurn => ({ steps: [{ text }] });

/** A turn that calls a tool. */
export const calls = (name: string, given: object | string = {}, id = "call_1"): ServerTurn => ({
  steps: [{ tool_call: { id, name, arguments: typeof given === "string" ? given : JSON.stringify(given) } }],
});

/** Every run of a workspace is proven by its record. */
export async function verifyAll(scene: RunScene): Promise<void> {
  for (const { id, status } of await scene.runs()) {
    if (!ENDED.has(status)) continue;
    const replayed = await scene.wire.result("run/replay", { run_id: id });
    expect(replayed).toMatchObject({ verified: true, integrity: "ok", fold: "ok", compile: "ok" });
  }
}

/** Every run that has ended, in whichever workspace a suite made it, is proven by its record. */
async function proveEverything(gateway: TestGateway): Promise<void> {
  const wire = await gateway.wire();
  const { data: workspaces } = await wire.result("workspace/list", { limit: 500 });
  for (const { id: workspace_id } of workspaces) {
    const { data } = await wire.result("run/list", { workspace_id, limit: 500, status: [...ENDED] as never });
    for (const { id: run_id } of data) {
      const replayed = await wire.result("run/replay", { run_id });
      expect(replayed, run_id).toMatchObject({ verified: true, integrity: "ok", fold: "ok", compile: "ok" });
    }
  }
  wire.close();
}

/** Looks again with every message that comes, until something is found. */
export function waitOn<T>(
  wire: Wire,
  look: () => T | undefined,
  what: string,
  withinMs = 20_000,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => end(() => reject(new Error(`waited in vain for ${what}`))), withinMs);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      wire.socket.off("message", watch);
      settle();
    };
    const watch = () => {
      const found = look();
      if (found !== undefined) end(() => resolve(found));
    };
    wire.socket.on("message", watch);
    watch();
  });
}
