import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect } from "vitest";
import { Bus, type Clock, idMaker } from "../../src/base/index.js";
import { followFolders } from "../../src/instructions/index.js";
import type { PromptsDeps } from "../../src/prompts/deps.js";
import { applyPrompt } from "../../src/prompts/packs/apply.js";
import { listPacks } from "../../src/prompts/packs/list.js";
import { promptStatus } from "../../src/prompts/packs/status.js";
import { syncPrompt } from "../../src/prompts/packs/sync.js";
import { PackTurns } from "../../src/prompts/packs/turns.js";
import { methods, type Result, type Thread } from "../../src/protocol/index.js";
import { type Note, openStore, type RunRow, runs, type Store } from "../../src/store/index.js";
import { Setups, startThread, ThreadFiles, updateThread, WordIndexer } from "../../src/threads/index.js";
import { type Call, createWorkspace, getThread } from "../../src/tree/index.js";
import { locationOf } from "../contract/support/stage.js";
import { onEachStore, type StoreKind, type StorePlace, temporaryDirectory } from "../support/stores.js";

/** A clock that stands until it is set. */
export class TestClock implements Clock {
  time = 1_800_000_000_000;

  now(): number {
    return this.time;
  }

  /** Milliseconds. */
  advance(by: number): void {
    this.time += by;
  }
}

/** The module over a store of its own, without a gateway. */
export class Bench {
  readonly clock = new TestClock();
  readonly reported: unknown[] = [];
  readonly notes: Note[] = [];
  tools: () => readonly object[] = () => [];
  deps: PromptsDeps;
  readonly #words: WordIndexer;

  private constructor(
    readonly kind: StoreKind["name"],
    readonly place: StorePlace,
    readonly store: Store,
  ) {
    const report = (error: unknown) => void this.reported.push(error);
    const { clock } = this;
    const files = new ThreadFiles({ dataDir: place.dataDir, clock });
    this.#words = new WordIndexer({ store, files, report });
    store.onCommit(({ notes }) => this.notes.push(...notes));
    this.deps = {
      store,
      clock,
      makeId: idMaker(clock),
      follower: followFolders({ clock }),
      files,
      words: this.#words,
      setups: new Setups({}),
      agents: { in: () => ({ nameOf: () => undefined, fallback: "demo" }) },
      project: { read: () => ({ files: [], warnings: [] }), refresh: async () => {} },
      live: new Bus(),
      report,
      listTools: () => this.tools(),
      packs: new PackTurns(store),
    };
  }

  static async open(kind: StoreKind): Promise<Bench> {
    const place = await kind.fresh();
    return new Bench(kind.name, place, await openStore(locationOf(kind, place)));
  }

  /** As after a start: what was only in memory is forgotten. */
  restart(): void {
    this.deps.packs.close();
    this.deps = { ...this.deps, packs: new PackTurns(this.store) };
  }

  /** A workspace bound to a directory of its own. */
  async workspace(root_path = realpathSync(temporaryDirectory())): Promise<Room> {
    const { workspace } = await createWorkspace(this.deps, { name: "room", root_path }, {});
    return new Room(this, workspace.id, root_path);
  }

  /** A workspace without a project. */
  async home(): Promise<Room> {
    const { workspace } = await createWorkspace(this.deps, { name: "home", root_path: undefined }, {});
    return new Room(this, workspace.id, this.deps.files.directoryOf({ id: workspace.id, root_path: null }));
  }

  async end(): Promise<void> {
    this.deps.packs.close();
    await this.deps.setups.close();
    await this.#words.close();
    await this.deps.files.close();
    await this.store.close();
    await this.place.remove();
  }
}

/** A workspace with its directory. */
export class Room {
  #runs = 0;

  constructor(
    readonly bench: Bench,
    readonly id: string,
    readonly root: string,
  ) {}

  /** Writes files below the directory: text as it is, anything else as JSON. */
  write(files: Record<string, unknown>): void {
    for (const [path, content] of Object.entries(files)) {
      const file = join(this.root, path);
      mkdirSync(dirname(file), { recursive: true });
      const raw = typeof content === "string" || content instanceof Uint8Array;
      writeFileSync(file, raw ? content : JSON.stringify(content));
    }
  }

  async thread(config: Record<string, unknown> = {}): Promise<Thread> {
    const params = { workspace_id: this.id, config } as Parameters<typeof startThread>[1];
    return (await startThread(this.bench.deps, params, {})).thread;
  }

  async config(thread_id: string): Promise<Thread["config"]> {
    return (await getThread(this.bench.deps, { workspace_id: this.id, thread_id })).thread.config;
  }

  async configure(thread_id: string, config: Record<string, unknown>): Promise<void> {
    const params = { workspace_id: this.id, thread_id, config } as unknown as Parameters<
      typeof updateThread
    >[1];
    await updateThread(this.bench.deps, params, {});
  }

  sync(
    params: object = {},
    call: Call = {},
    deps: PromptsDeps = this.bench.deps,
  ): Promise<Result<"prompt/sync">> {
    return syncPrompt(deps, methods["prompt/sync"].params.parse({ workspace_id: this.id, ...params }), call);
  }

  apply(params: object = {}): Promise<Result<"prompt/apply">> {
    const parsed = methods["prompt/apply"].params.parse({ workspace_id: this.id, ...params });
    return applyPrompt(this.bench.deps, parsed, {});
  }

  async status(params: object = {}): Promise<Result<"prompt/status">["data"]> {
    const parsed = methods["prompt/status"].params.parse({ workspace_id: this.id, ...params });
    return (await promptStatus(this.bench.deps, parsed)).data;
  }

  async list(params: object = {}): Promise<Result<"prompt/packs">["data"]> {
    const parsed = methods["prompt/packs"].params.parse({ workspace_id: this.id, ...params });
    return (await listPacks(this.bench.deps, parsed)).data;
  }

  /** A run as the runs module would have begun it. */
  async beginRun(thread_id: string, status = "running"): Promise<RunRow> {
    const number = ++this.#runs;
    const row: RunRow = {
      id: `run_${this.id}_${number}`,
      workspace_id: this.id,
      thread_id,
      number,
      status,
      steps: 1,
      agent_id: "demo",
      model: null,
      parent_run_id: null,
      origin: null,
      approvals: null,
      decisions: null,
      steering: null,
      error: null,
      usage: null,
      content: null,
      user_message_id: `u${number}`,
      agent_message_id: `a${number}`,
      idempotency_key: null,
      first_seq: 1,
      last_seq: null,
      created_at: 1,
      updated_at: 1,
      started_at: 1,
      ended_at: null,
    };
    await this.bench.store.write({ key: this.id }, () => runs.insertRun(row));
    return row;
  }

  async setRun(row: RunRow, status: string): Promise<void> {
    await this.bench.store.write({ key: this.id }, () => runs.updateRun({ ...row, status }));
  }

  /** Notifications of packs, in order. */
  told(): { pack: string; state: Record<string, unknown> }[] {
    return this.bench.notes
      .filter(({ workspace_id, method }) => workspace_id === this.id && method === "prompt/changed")
      .map(({ params }) => JSON.parse(params));
  }
}

/** Runs a suite on both stores, on a new one for each test. */
export function onEachBench(name: string, suite: (bench: () => Bench) => void): void {
  onEachStore(name, (kind) => {
    let bench: Bench;
    beforeEach(async () => {
      bench = await Bench.open(kind);
    });
    afterEach(() => bench?.end());
    suite(() => bench);
  });
}

export const message = (content: string, role = "system") => ({ role, content });

/** The refusal of what must be refused. */
export const failure = (promise: Promise<unknown>): Promise<Record<string, unknown>> =>
  promise.then(
    () => expect.unreachable("it was accepted"),
    (error) => ({ kind: error.kind, ...error.data }),
  );

/** Fits the wire, with nothing in it that the wire does not know. */
export function fits(method: keyof typeof methods, result: unknown): void {
  expect(methods[method].result.parse(result)).toEqual(result);
}
