import { stat } from "node:fs/promises";
import { extname, isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import { asCallFailure, CallFailure, hookError } from "./errors.js";
import { ModuleThread } from "./module-thread.js";
import { acceptPackage, type HookPackage, type HookRun } from "./package.js";

const LOAD_MS = 15_000;

export interface ModuleOptions {
  /** The environment the module sees. */
  readonly env: NodeJS.ProcessEnv;
  readonly loadMs?: number;
}

/**
 * A package from a file whose default export is its definition. It runs in a thread of its own, which ends with
 * `close`; load the file again and replace the package, and nothing of the old one is left, what it imported included.
 */
export async function loadHookModule(path: string, options: ModuleOptions): Promise<HookPackage> {
  await checkFile(path);
  const module = new Module(path, options);
  try {
    return module.packageFrom(await module.load());
  } catch (error) {
    await module.close();
    throw error;
  }
}

/** Its thread, and the next one after that has crashed or had to be ended. */
class Module {
  readonly #path: string;
  readonly #options: ModuleOptions;
  #thread: ModuleThread | undefined;
  #described: string | undefined;
  #closed = false;

  constructor(path: string, options: ModuleOptions) {
    this.#path = path;
    this.#options = options;
  }

  async load(): Promise<string> {
    const thread = this.#start();
    try {
      this.#described = await thread.loaded;
      return this.#described;
    } catch (error) {
      throw moduleFailed(this.#path, asCallFailure(error).message);
    }
  }

  packageFrom(described: string): HookPackage {
    const definition = JSON.parse(described) as { subscriptions?: unknown } | null;
    if (typeof definition !== "object" || definition === null) {
      throw moduleFailed(this.#path, "its default export is no package definition");
    }
    const subscriptions = Array.isArray(definition.subscriptions)
      ? definition.subscriptions.map((one, index) => ({
          ...one,
          run: one.run === true ? this.#run(index) : undefined,
        }))
      : definition.subscriptions;
    const given: unknown = {
      ...definition,
      subscriptions,
      source: { kind: "module", path: this.#path },
      close: () => this.close(),
    };
    acceptPackage(given);
    return given as HookPackage;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread?.terminate();
  }

  #run(index: number): HookRun {
    return async (context, { signal }) => {
      const thread = await this.#alive();
      return thread.call(index, context, signal) as ReturnType<HookRun>;
    };
  }

  async #alive(): Promise<ModuleThread> {
    await this.#thread?.heard();
    if (this.#closed) throw new CallFailure("not_started", "its package was closed");
    const thread = this.#thread && !this.#thread.over ? this.#thread : this.#start();
    // The order and the limits in force are those of the description that was installed.
    if ((await thread.loaded) !== this.#described) {
      throw new CallFailure("not_started", `${this.#path} has changed since it was loaded; load it again`);
    }
    return thread;
  }

  #start(): ModuleThread {
    const { env, loadMs = LOAD_MS } = this.#options;
    this.#thread = new ModuleThread({ url: pathToFileURL(this.#path).href, env, loadMs });
    return this.#thread;
  }
}

async function checkFile(path: string): Promise<void> {
  if (!isAbsolute(path)) throw moduleFailed(path, "it must be named by its absolute path");
  const extension = extname(path);
  if (![".js", ".mjs", ".cjs"].includes(extension)) checkTypeScript(path, extension);
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw moduleFailed(path, "there is no such file");
}

/** Only a Node that strips types by itself can load TypeScript; others would fail on the first annotation. */
function checkTypeScript(path: string, extension: string): void {
  if (![".ts", ".mts", ".cts"].includes(extension)) {
    throw unsupported(
      path,
      `${extension || "a file without an ending"} is no JavaScript module; use .js or .mjs`,
    );
  }
  if (!(process.features as { typescript?: unknown }).typescript) {
    const problem = `Node ${process.versions.node} can't load TypeScript; compile it to .js, or run Heddle with Node 22.18, 24 or later`;
    throw unsupported(path, problem);
  }
}

function unsupported(path: string, problem: string) {
  return hookError(
    { kind: "hook.module_unsupported", path, problem },
    `The hook module ${path} can't be loaded: ${problem}.`,
  );
}

function moduleFailed(path: string, problem: string) {
  return hookError(
    { kind: "hook.module_failed", path, problem },
    `The hook module ${path} can't be loaded: ${problem}`,
  );
}
