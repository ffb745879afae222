/** Set-ups under way: they end with the gateway, and so do their processes. */
export class Setups {
  readonly #running = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();
  #env: NodeJS.ProcessEnv = {};

  constructor(env: NodeJS.ProcessEnv) {
    this.env = env;
  }

  /** What commands are given; a gateway's own secrets, and where it was started from, are none of their business. */
  get env(): NodeJS.ProcessEnv {
    return this.#env;
  }

  /** For the commands that are started from now on. */
  set env(env: NodeJS.ProcessEnv) {
    this.#env = Object.fromEntries(Object.entries(env).filter(([name]) => !/^(HEDDLE|GIT)_/.test(name)));
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  add(key: string, work: Promise<void>): void {
    const mine = work.finally(() => this.#running.delete(key));
    this.#running.set(key, mine);
  }

  isUnderWay(workspace_id: string, thread_id: string): boolean {
    return this.#running.has(`${workspace_id}/${thread_id}`);
  }

  /** Resolves when a thread's worktree is ready, however that went: what is to run in it waits for this. */
  async ended(workspace_id: string, thread_id: string): Promise<void> {
    await this.#running.get(`${workspace_id}/${thread_id}`);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running.values());
  }
}
