import { createHash } from "node:crypto";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect } from "vitest";
import { sqliteDriver } from "../../src/base/index.js";
import type { AgentsDoc, AgentsDocRevision, Params, Result } from "../../src/protocol/index.js";
import { startGateway, type TestGateway } from "./gateway.js";
import type { StoreKind, StorePlace } from "./stores.js";
import type { Answer, Notification, Wire } from "./wire.js";

/** A gateway for the tests of one suite; each test opens a scene of its own on it. */
export interface Stage {
  gateway(): TestGateway;
  scene(): Promise<Scene>;
  /** The same data in a new gateway; scenes that were open are over. */
  restart(): Promise<void>;
}

export function stageOn(kind: StoreKind): Stage {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(kind);
  });
  afterAll(() => gateway?.stop());
  return {
    gateway: () => gateway,
    scene: () => Scene.open(gateway),
    async restart() {
      gateway = await gateway.restart();
    },
  };
}

/** One client in a workspace that nothing else uses. */
export class Scene {
  readonly gateway: TestGateway;
  readonly wire: Wire;
  readonly workspace_id: string;
  #heard = 0;

  private constructor(gateway: TestGateway, wire: Wire, workspace_id: string) {
    this.gateway = gateway;
    this.wire = wire;
    this.workspace_id = workspace_id;
  }

  static async open(gateway: TestGateway): Promise<Scene> {
    const wire = await gateway.wire();
    const { workspace } = await wire.result("workspace/create", { name: "Scene" });
    await wire.result("subscribe", { workspace_id: workspace.id });
    return new Scene(gateway, wire, workspace.id);
  }

  /** Another client in the same workspace, subscribed. */
  async other(): Promise<Scene> {
    const wire = await this.gateway.wire();
    await wire.result("subscribe", { workspace_id: this.workspace_id });
    return new Scene(this.gateway, wire, this.workspace_id);
  }

  async folder(name: string, parent_folder_id?: string): Promise<string> {
    const { workspace_id } = this;
    const params = { workspace_id, name, parent_folder_id };
    return (await this.wire.result("thread/folder/create", params)).folder.id;
  }

  async thread(folder_id?: string): Promise<string> {
    const { workspace_id } = this;
    return (await this.wire.result("thread/start", { workspace_id, folder_id })).thread.id;
  }

  async save(content: string, more: Partial<Params<"thread/agents_doc/save">> = {}): Promise<AgentsDoc> {
    const { workspace_id } = this;
    return (await this.wire.result("thread/agents_doc/save", { workspace_id, content, ...more })).doc;
  }

  archive(
    more: Partial<Params<"thread/agents_doc/archive">> = {},
  ): Promise<Result<"thread/agents_doc/archive">> {
    const { workspace_id } = this;
    return this.wire.result("thread/agents_doc/archive", { workspace_id, ...more });
  }

  get(folder_id?: string): Promise<Result<"thread/agents_doc/get">> {
    const { workspace_id } = this;
    return this.wire.result("thread/agents_doc/get", { workspace_id, folder_id });
  }

  resolve(thread_id: string): Promise<Result<"thread/agents_doc/resolve_for_thread">> {
    const { workspace_id } = this;
    return this.wire.result("thread/agents_doc/resolve_for_thread", { workspace_id, thread_id });
  }

  async revisions(folder_id?: string): Promise<AgentsDocRevision[]> {
    const { workspace_id } = this;
    return (await this.wire.result("thread/agents_doc/revisions", { workspace_id, folder_id })).data;
  }

  async restore(
    doc_id: string,
    version: number,
    more: Partial<Params<"thread/agents_doc/restore">> = {},
  ): Promise<AgentsDoc> {
    const params = { workspace_id: this.workspace_id, doc_id, version, ...more };
    return (await this.wire.result("thread/agents_doc/restore", params)).doc;
  }

  tree(): Promise<Result<"thread/tree">> {
    return this.wire.result("thread/tree", { workspace_id: this.workspace_id });
  }

  /** Notifications since the last look. */
  async news(): Promise<Notification[]> {
    const all = await this.wire.settled();
    const fresh = all.slice(this.#heard);
    this.#heard = all.length;
    // Which agents there are is told once it is known, on a busy machine in the middle of anything.
    return fresh.filter(({ method }) => method !== "agent/changed");
  }

  /** What a refused call must leave as it was: the tree, the number of its last notification, the root's history. */
  async state(): Promise<unknown> {
    return { tree: await this.tree(), revisions: await this.revisions() };
  }
}

/** Sends text by HTTP POST and answers what came back. */
export async function post(gateway: TestGateway, body: unknown): Promise<Answer & Answer[]> {
  const response = await fetch(`${gateway.url}/rpc`, {
    method: "POST",
    headers: { Authorization: `Bearer ${gateway.token}`, "Content-Type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return (await response.json()) as Answer & Answer[];
}

export function sha256(text: string): string {
  return createHash("sha256").update(Buffer.from(text, "utf8")).digest("hex");
}

const startedAt = Math.floor(Date.now() / 1000) - 60;

/** Matches unix seconds taken from the clock while these tests run. */
export const recent: number = expect.toSatisfy(
  (value: unknown) =>
    Number.isInteger(value) && Number(value) >= startedAt && Number(value) <= Date.now() / 1000 + 1,
);

/** Matches an id of a document. */
export const anyDocId: string = expect.stringMatching(/^agd_[0-9A-HJKMNP-TV-Z]{26}$/);

/** A document as it must come, whole: what is not named here must be absent. */
export function docLike(content: string, fields: Partial<AgentsDoc>): AgentsDoc {
  return {
    id: anyDocId,
    workspace_id: "",
    status: content.trim() === "" ? "draft" : "active",
    title: "AGENTS.md",
    content,
    content_sha256: sha256(content),
    version: 1,
    created_at: recent,
    updated_at: recent,
    ...fields,
  };
}

/** The store behind a gateway, looked at from outside. */
export interface Database {
  all(sql: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export async function openDatabase(place: StorePlace): Promise<Database> {
  if (place.store === "sqlite") {
    const handle = sqliteDriver().open(join(place.dataDir, "heddle.db"));
    handle.exec("pragma busy_timeout = 2000");
    return {
      all: async (sql) => handle.prepare(sql).all() as Record<string, unknown>[],
      close: async () => handle.close(),
    };
  }
  const getTypeParser = (oid: number) =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid);
  const client = new pg.Client({
    connectionString: place.store,
    types: { getTypeParser: getTypeParser as typeof pg.types.getTypeParser },
  });
  await client.connect();
  return { all: async (sql) => (await client.query(sql)).rows, close: () => client.end() };
}
