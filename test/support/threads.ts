import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import type { AppOptions } from "../../src/app/index.js";
import type { Message, Params, Result, Thread } from "../../src/protocol/index.js";
import { envelopeOf, line } from "../atsf/support.js";
import { startGateway, type TestGateway } from "./gateway.js";
import { type StoreKind, temporaryDirectory } from "./stores.js";
import type { Wire } from "./wire.js";

export { textMessage } from "../atsf/message.js";
export { envelopeOf, line };

type Start = Omit<Params<"thread/start">, "workspace_id">;
type Update = Omit<Params<"thread/update">, "thread_id">;
type NewMessage = Params<"message/append">["message"];

/** One gateway for a suite, and a workspace of its own for each test. */
export interface ThreadStage {
  readonly kind: StoreKind;
  gateway(): TestGateway;
  /** A workspace bound to a new project directory. */
  scene(): Promise<ThreadScene>;
  /** The same in a project that other programs have kept threads in, and that the gateway has looked at. */
  used(): Promise<ThreadScene>;
  /** A workspace bound to a directory that is there, on this or another gateway. */
  sceneAt(root: string, gateway?: TestGateway): Promise<ThreadScene>;
  restart(): Promise<void>;
}

export function threadStage(kind: StoreKind, options: Partial<AppOptions> = {}): ThreadStage {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(kind, options);
  });
  afterAll(() => gateway?.stop());
  return {
    kind,
    gateway: () => gateway,
    scene: () => ThreadScene.at(gateway, projectDirectory()),
    used: async () => {
      const root = projectDirectory();
      mkdirSync(join(root, ".agent", "threads"), { recursive: true });
      const scene = await ThreadScene.at(gateway, root);
      await scene.tree();
      return scene;
    },
    sceneAt: (root, other = gateway) => ThreadScene.at(other, root),
    restart: async () => {
      gateway = await gateway.restart();
    },
  };
}

/** By its real path, as the gateway tells it. */
export function projectDirectory(): string {
  return realpathSync(temporaryDirectory());
}

/** A project's threads, over the wire and on disk. */
export class ThreadScene {
  constructor(
    readonly wire: Wire,
    readonly workspace_id: string,
    readonly root: string,
  ) {}

  static async at(gateway: TestGateway, root_path: string): Promise<ThreadScene> {
    const wire = await gateway.wire();
    const { workspace } = await wire.result("workspace/create", { root_path });
    return new ThreadScene(wire, workspace.id, root_path);
  }

  async start(params: Start = {}): Promise<Thread> {
    return (await this.wire.result("thread/start", { workspace_id: this.workspace_id, ...params })).thread;
  }

  async get(thread_id: string): Promise<Thread> {
    return (await this.wire.result("thread/get", { workspace_id: this.workspace_id, thread_id })).thread;
  }

  async update(thread_id: string, changes: Update): Promise<Thread> {
    const { workspace_id } = this;
    return (await this.wire.result("thread/update", { workspace_id, thread_id, ...changes })).thread;
  }

  async append(thread_id: string, message: string | NewMessage): Promise<Message> {
    const whole = typeof message === "string" ? { role: "user" as const, content: message } : message;
    const { workspace_id } = this;
    return (await this.wire.result("message/append", { workspace_id, thread_id, message: whole })).message;
  }

  async folder(name: string, parent_folder_id?: string): Promise<string> {
    const params = { workspace_id: this.workspace_id, name, parent_folder_id };
    return (await this.wire.result("thread/folder/create", params)).folder.id;
  }

  tree(): Promise<Result<"thread/tree">> {
    return this.wire.result("thread/tree", { workspace_id: this.workspace_id });
  }

  async list(): Promise<Thread[]> {
    return (await this.wire.result("thread/list", { workspace_id: this.workspace_id, limit: 500 })).data;
  }

  page(
    thread_id: string,
    params: Partial<Params<"thread/messages">> = {},
  ): Promise<Result<"thread/messages">> {
    return this.wire.result("thread/messages", { workspace_id: this.workspace_id, thread_id, ...params });
  }

  /** Every message, oldest first. */
  async messages(thread_id: string): Promise<Message[]> {
    const all: Message[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.page(thread_id, { order: "asc", limit: 500, cursor });
      all.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    return all;
  }

  async search(
    query: string,
    params: Partial<Params<"thread/search">> = {},
  ): Promise<Result<"thread/search">> {
    return this.wire.result("thread/search", { workspace_id: this.workspace_id, query, ...params });
  }

  /** The ids of the messages a query finds. */
  async found(query: string, params: Partial<Params<"thread/search">> = {}): Promise<string[]> {
    return (await this.search(query, params)).data.map(({ message_id }) => message_id);
  }

  /** Names of the directories in `.agent/threads`, hidden ones included. */
  directories(): string[] {
    const dir = join(this.root, ".agent", "threads");
    return existsSync(dir) ? readdirSync(dir).sort() : [];
  }

  path(thread_id: string, ...rest: string[]): string {
    return join(this.root, ".agent", "threads", thread_id, ...rest);
  }

  text(thread_id: string, name = "thread.json"): string {
    return readFileSync(this.path(thread_id, name), "utf8");
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever stands there
  envelope(thread_id: string): any {
    return JSON.parse(this.text(thread_id));
  }

  lines(thread_id: string): unknown[] {
    return this.text(thread_id, "messages.jsonl")
      .split("\n")
      .slice(0, -1)
      .map((each) => JSON.parse(each));
  }

  /** Writes a thread's files as another program would. */
  foreign(thread_id: string, files: ForeignFiles = {}): void {
    mkdirSync(this.path(thread_id), { recursive: true });
    const { envelope = {}, log, more = {} } = files;
    const text = typeof envelope === "string" ? envelope : JSON.stringify(envelopeOf(thread_id, envelope));
    if (log !== undefined) writeFileSync(this.path(thread_id, "messages.jsonl"), log);
    for (const [name, data] of Object.entries(more)) writeFileSync(this.path(thread_id, name), data);
    writeFileSync(this.path(thread_id, "thread.json"), text);
  }

  /** Changes `thread.json` in place, as a program does that knows nothing of Heddle. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever stands there
  edit(thread_id: string, change: (envelope: any) => void): void {
    const envelope = this.envelope(thread_id);
    change(envelope);
    writeFileSync(this.path(thread_id, "thread.json"), JSON.stringify(envelope, null, 2));
  }
}

/** What a test looks at again and again until it is so. */
export const looks = {
  found: (scene: ThreadScene, id: string): Promise<Thread | undefined> =>
    scene.get(id).catch(() => undefined),
  said: async (scene: ThreadScene, id: string): Promise<string[]> =>
    (await scene.messages(id)).map((message) => message.id),
};

export interface ForeignFiles {
  readonly envelope?: object | string;
  readonly log?: string | Buffer;
  readonly more?: Record<string, string | Buffer>;
}

/** Other programs' changes show up within a second; a busy machine gets a few. */
export function soon<T>(look: () => T | Promise<T>) {
  return expect.poll(look, { timeout: 8_000, interval: 50 });
}

/** What is true now and must stay so: long enough for a change to be noticed. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 600));
}
