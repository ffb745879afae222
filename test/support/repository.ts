import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import type { Params, Thread, TrustState } from "../../src/protocol/index.js";
import { freshRepository, type Repository } from "../atsf/repository.js";
import { startGateway, type TestGateway } from "./gateway.js";
import type { StoreKind } from "./stores.js";
import type { Wire } from "./wire.js";

export { freshRepository, ownGit, repositoryAt, script } from "../atsf/repository.js";

type Start = Omit<Params<"thread/start">, "workspace_id">;

/** A workspace bound to a git repository of its own, or to a directory below that repository's root. */
export class Workshop {
  private constructor(
    readonly wire: Wire,
    readonly repository: Repository,
    readonly workspace_id: string,
    /** The project's directory. */
    readonly root: string,
  ) {}

  static async open(
    gateway: Pick<TestGateway, "wire">,
    repository: Repository = freshRepository(),
    below = ".",
  ): Promise<Workshop> {
    const wire = await gateway.wire();
    const root = join(repository.dir, below);
    const { workspace } = await wire.result("workspace/create", { root_path: root });
    await wire.result("subscribe", { workspace_id: workspace.id });
    return new Workshop(wire, repository, workspace.id, root);
  }

  /** The same workspace on another gateway, or on one that was started anew. */
  async on(gateway: Pick<TestGateway, "wire">): Promise<Workshop> {
    const wire = await gateway.wire();
    await wire.result("subscribe", { workspace_id: this.workspace_id });
    return new Workshop(wire, this.repository, this.workspace_id, this.root);
  }

  async start(params: Start = { use_worktree: true }): Promise<Thread> {
    return (await this.wire.result("thread/start", { workspace_id: this.workspace_id, ...params })).thread;
  }

  async startInWorktree(): Promise<{ thread: Thread; id: string; path: string; branch: string }> {
    const thread = await this.start();
    return { thread, id: thread.id, ...(thread.worktree as { path: string; branch: string }) };
  }

  async get(thread_id: string): Promise<Thread> {
    return (await this.wire.result("thread/get", { thread_id, workspace_id: this.workspace_id })).thread;
  }

  async ids(): Promise<string[]> {
    const { data } = await this.wire.result("thread/list", { workspace_id: this.workspace_id });
    return data.map(({ id }) => id);
  }

  async say(thread_id: string, content: string): Promise<void> {
    const message = { role: "user", content } as const;
    await this.wire.result("message/append", { thread_id, workspace_id: this.workspace_id, message });
  }

  /** What was said in a thread, oldest first. */
  async texts(thread_id: string): Promise<unknown[]> {
    const params = { thread_id, workspace_id: this.workspace_id, order: "asc" } as const;
    const { data } = await this.wire.result("thread/messages", params);
    return data.map(({ content }) => content[0]?.text);
  }

  reindex() {
    return this.wire.result("workspace/reindex", { workspace_id: this.workspace_id });
  }

  /** Writes the main checkout's configuration; text as it is. */
  configure(config: object | string): void {
    mkdirSync(join(this.root, ".agent"), { recursive: true });
    const text = typeof config === "string" ? config : JSON.stringify({ specVersion: "1.1", ...config });
    writeFileSync(join(this.root, ".agent/config.json"), text);
  }

  /** What the user is shown of the project's hooks. */
  async hooks(): Promise<TrustState | undefined> {
    const { trust } = await this.wire.result("workspace/get", { workspace_id: this.workspace_id });
    return trust?.[0];
  }

  async trust(content_sha256?: string): Promise<void> {
    const hash = content_sha256 ?? (await this.hooks())?.content_sha256 ?? "";
    await this.wire.result("workspace/trust", {
      workspace_id: this.workspace_id,
      kind: "worktree_hooks",
      content_sha256: hash,
    });
  }

  /** Writes hooks that the user trusts. */
  async trusted(worktreeHooks: object): Promise<void> {
    this.configure({ worktreeHooks });
    await this.trust();
  }

  /** The thread once its set-up has ended. */
  async setUp(thread_id: string): Promise<Thread> {
    return vi.waitFor(async () => {
      const thread = await this.get(thread_id);
      if (thread.setup?.status === "running") throw new Error("the set-up still runs");
      return thread;
    }, WAIT);
  }

  /** What git and the data directory hold of worktrees: to be the same before and after a refusal. */
  traces(dataDir: string) {
    const worktrees = join(dataDir, "worktrees");
    return {
      listed: this.repository.git("worktree", "list", "--porcelain"),
      refs: this.repository.git("for-each-ref"),
      made: existsSync(worktrees)
        ? readdirSync(worktrees, { recursive: true }).filter((name) => String(name).includes("thread-"))
        : [],
      status: this.repository.git("status", "--porcelain", "--untracked-files=all"),
    };
  }
}

export const WAIT = { timeout: 20_000, interval: 50 };

/** A thread's directory below the directory it is kept in. */
export const threadDir = (root: string, thread_id: string, ...rest: string[]) =>
  join(root, ".agent/threads", thread_id, ...rest);

export function envelopeIn(root: string, thread_id: string) {
  return JSON.parse(readFileSync(threadDir(root, thread_id, "thread.json"), "utf8"));
}

export const sha256Of = (data: string | Buffer) => createHash("sha256").update(data).digest("hex");

/** Starts a gateway over the same data directory whose store knows nothing any more. */
export async function withoutStore(gateway: TestGateway, kind: StoreKind): Promise<TestGateway> {
  const { place } = gateway;
  await gateway.app.stop();
  for (const end of ["", "-wal", "-shm"]) rmSync(join(place.dataDir, `heddle.db${end}`), { force: true });
  const fresh = await kind.fresh();
  const remove = async () => {
    await fresh.remove();
    await place.remove();
  };
  return startGateway({
    name: kind.name,
    fresh: async () => ({ store: fresh.store, dataDir: place.dataDir, remove }),
  });
}
