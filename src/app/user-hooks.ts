import { dirname } from "node:path";
import { canonicalJson } from "../base/index.js";
import { type HookPackage, type HookRuntime, openUserPackage } from "../hooks/index.js";
import { hookEnv } from "./child-env.js";
import type { FoundConfig } from "./config-file.js";
import type { Withheld } from "./withheld.js";

interface Opened {
  /** Everything it was opened with. */
  readonly key: string;
  readonly made: HookPackage;
}

/** A change that was made ready: nothing of it counts until it is made, and it is made or dropped whole. */
export interface PreparedHooks {
  /** Throws when the packages do not fit together; then nothing has changed. */
  make(): void;
  /** Closes what was opened for it. */
  drop(): Promise<void>;
}

/** The hook packages that the user's configuration names, among those that are installed. */
export class UserHooks {
  readonly #hooks: HookRuntime;
  readonly #env: NodeJS.ProcessEnv;
  readonly #withheld: Withheld;
  readonly #report: (error: unknown) => void;
  #installed: readonly Opened[] = [];

  constructor(given: {
    hooks: HookRuntime;
    env: NodeJS.ProcessEnv;
    withheld: Withheld;
    report: (error: unknown) => void;
  }) {
    this.#hooks = given.hooks;
    this.#env = given.env;
    this.#withheld = given.withheld;
    this.#report = given.report;
  }

  /** Opens what is not installed yet. One that can't be opened refuses the whole configuration: it may be a limit. */
  async prepare({ config, file }: FoundConfig): Promise<PreparedHooks> {
    const options = { env: hookEnv(this.#env, this.#withheld.names(config)), cwd: dirname(file ?? ".") };
    const next: Opened[] = [];
    const fresh: Opened[] = [];
    const drop = async () => {
      for (const { made } of fresh) await made.close?.().catch(this.#report);
    };
    try {
      for (const entry of config?.hooks ?? []) {
        const key = canonicalJson({ entry, ...options } as never);
        const known = this.#installed.find((one) => one.key === key && !next.includes(one));
        const one = known ?? { key, made: await openUserPackage(entry, options) };
        if (!known) fresh.push(one);
        next.push(one);
      }
    } catch (error) {
      await drop();
      throw error;
    }
    return { drop, make: () => this.#exchange(next, fresh) };
  }

  #exchange(next: readonly Opened[], fresh: readonly Opened[]): void {
    const out = this.#installed.filter((one) => !next.includes(one)).map(({ made }) => made.id);
    if (out.length === 0 && fresh.length === 0) return;
    const closed = this.#hooks.exchange({ out, put: fresh.map(({ made }) => made) });
    this.#installed = next;
    // Nobody waits until phases under way have ended with the old ones.
    closed.catch(this.#report);
  }
}

/** The configuration's hooks, when a gateway starts, and when they are to see less of the environment than before, or more. */
export async function installUserHooks(hooks: UserHooks, found: FoundConfig): Promise<void> {
  const prepared = await hooks.prepare(found);
  try {
    prepared.make();
  } catch (error) {
    await prepared.drop();
    throw error;
  }
}
