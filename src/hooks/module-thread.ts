import { Worker } from "node:worker_threads";
import type { HookContext } from "./context.js";
import { CallFailure } from "./errors.js";
import { MODULE_SOURCE } from "./module-source.js";

/** As much as a command may write. */
const MOST_ANSWER = 1_000_000;
const MOST_MEMORY_MB = 256;
/** A thread that does not even say it has heard is stuck in a loop, which only its end can stop. */
const ABORT_HEARD_MS = 1_000;

type FromThread =
  | { loaded: string }
  | { unloadable: Words }
  | { id: number; json: string }
  | { id: number; tooLarge: number }
  | { id: number; aborted: true }
  | ({ id: number } & Words);

interface Words {
  readonly message: string;
  readonly detail: string;
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
}

export interface ThreadOptions {
  readonly url: string;
  readonly env: NodeJS.ProcessEnv;
  readonly loadMs: number;
}

/**
 * A user's module in a thread of its own: whatever it does to its globals, its event loop or its memory, it ends
 * with its thread, and so does everything it imported. A module that is imported into the gateway's own thread stays for ever.
 */
export class ModuleThread {
  /** The module's description of itself, as JSON; rejects when it can't be loaded. */
  readonly loaded: Promise<string>;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  /** Calls that were told to stop and have not said that they heard it. */
  readonly #stopping = new Set<Promise<unknown>>();
  #calls = 0;
  #over: CallFailure | undefined;

  constructor({ url, env, loadMs }: ThreadOptions) {
    this.#worker = new Worker(MODULE_SOURCE, {
      eval: true,
      workerData: { url, mostAnswer: MOST_ANSWER },
      env,
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
    });
    this.loaded = this.#loading(loadMs);
    this.#worker.on("message", (message: FromThread | null) => this.#hear(message));
    this.#worker.on("error", (error) => this.#end(`its thread ended: ${error.message}`));
    this.#worker.on("exit", () => this.#end("its thread ended"));
  }

  get over(): boolean {
    return this.#over !== undefined;
  }

  /** Calls a hook by its place in the module's list. */
  call(hook: number, context: HookContext, signal: AbortSignal): Promise<unknown> {
    if (this.#over) return Promise.reject(this.#over);
    if (signal.aborted) return Promise.reject(new CallFailure("late", "it was told to stop"));
    const id = ++this.#calls;
    let stuck: NodeJS.Timeout | undefined;
    const abort = () => {
      this.#worker.postMessage({ abort: id });
      this.#stopping.add(answered);
      stuck = setTimeout(() => this.terminate("it was stuck, and was ended"), ABORT_HEARD_MS);
    };
    signal.addEventListener("abort", abort);
    this.#worker.ref();
    const answered = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, hook, context });
    });
    return answered.finally(() => {
      clearTimeout(stuck);
      this.#stopping.delete(answered);
      signal.removeEventListener("abort", abort);
      this.#rest();
    });
  }

  /** Until it is known whether it listens or is over: a call sent to a thread that is stuck would end with it. */
  async heard(): Promise<void> {
    await Promise.allSettled(this.#stopping);
  }

  async terminate(why = "it was closed"): Promise<void> {
    this.#end(why);
    await this.#worker.terminate();
  }

  #loading(withinMs: number): Promise<string> {
    const loaded = new Promise<string>((resolve, reject) => {
      this.#waiting.set(0, { resolve: (json) => resolve(json as string), reject });
    });
    const slow = setTimeout(() => this.terminate(`not loaded within ${withinMs} ms`), withinMs);
    const settled = () => {
      clearTimeout(slow);
      this.#rest();
    };
    loaded.then(settled, settled);
    return loaded;
  }

  /** An idle module must not keep the program from ending. */
  #rest(): void {
    if (this.#waiting.size === 0) this.#worker.unref();
  }

  /** The module itself may send what it likes; that must not become an error of the gateway's. */
  #hear(message: FromThread | null): void {
    if (typeof message !== "object" || message === null) return;
    const id = "id" in message ? message.id : 0;
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (!waiting) return;
    try {
      if ("loaded" in message) waiting.resolve(message.loaded);
      else if ("json" in message) waiting.resolve(JSON.parse(message.json));
      else waiting.reject(failureIn(message));
    } catch {
      waiting.reject(new CallFailure("invalid_answer", "it sent something that is not understood"));
    }
  }

  #end(why: string): void {
    this.#over ??= new CallFailure("crashed", why);
    for (const { reject } of this.#waiting.values()) reject(this.#over);
    this.#waiting.clear();
  }
}

function failureIn(message: Exclude<FromThread, { loaded: string } | { json: string }>): CallFailure {
  if ("aborted" in message) return new CallFailure("late", "it was told to stop");
  if ("tooLarge" in message) {
    const problem = `an answer of ${message.tooLarge} characters; at most ${MOST_ANSWER} are taken`;
    return new CallFailure("too_large", problem);
  }
  const said = "unloadable" in message ? message.unloadable : message;
  return new CallFailure("threw", String(said.message), String(said.detail ?? ""));
}
