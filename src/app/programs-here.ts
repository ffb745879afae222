import { setMaxListeners } from "node:events";
import { statSync } from "node:fs";
import { parse } from "node:path";
import type { ProgramStart, ProgramsHere } from "../agents/index.js";
import { hookEnv } from "./child-env.js";
import { programEnv } from "./program-env.js";
import { askVersion } from "./program-version.js";
import { isSignedIn } from "./sign-in.js";
import { whereIs } from "./where-is.js";
import type { Withheld } from "./withheld.js";

/** A gateway that is there for one command only need not start programs to know their versions. */
const FIRST_ASK_MS = 500;
const MOST_KNOWN = 256;
/** What a program is found by that was told of no path. */
const USUAL_PATH = "/usr/local/bin:/usr/bin:/bin";

interface MachineGiven {
  readonly env: NodeJS.ProcessEnv;
  readonly withheld: Withheld;
  /** False: only whether a command is there is looked at. */
  readonly curious: boolean;
}

/** The programs of this machine, looked at when somebody wants to know. A program that stays the same is asked once. */
export class MachinePrograms implements ProgramsHere {
  /** Told when versions were found that nobody knew before. */
  changed: () => void = () => {};
  readonly #given: MachineGiven;
  /** By path and stamp; undefined: it has been asked, and has not answered. */
  readonly #versions = new Map<string, string | undefined>();
  readonly #wanted = new Map<string, string>();
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #asking: Promise<void> | undefined;

  constructor(given: MachineGiven) {
    this.#given = given;
    setMaxListeners(0, this.#stop.signal);
  }

  isThere(start: ProgramStart): boolean {
    // Without process groups there are other rules for what can be executed, too.
    return process.platform === "win32" || this.#pathOf(start) !== undefined;
  }

  isSignedIn(start: ProgramStart): boolean | undefined {
    const { env, withheld, curious } = this.#given;
    if (!curious || start.known === undefined) return undefined;
    return isSignedIn(start.known, programEnv(start, env, withheld.names()));
  }

  /** Asks in the background: who lists agents later has it. */
  versionOf(start: ProgramStart): string | undefined {
    if (!this.#given.curious || !isItself(start)) return undefined;
    const path = this.#pathOf(start);
    const key = path === undefined ? undefined : stampedPath(path);
    if (path === undefined || key === undefined) return undefined;
    if (!this.#versions.has(key)) this.#want(key, path);
    return this.#versions.get(key);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    await this.#asking;
  }

  #pathOf({ command, env }: ProgramStart): string | undefined {
    return whereIs(command, env.PATH ?? this.#given.env.PATH ?? USUAL_PATH);
  }

  #want(key: string, path: string): void {
    this.#wanted.set(key, path);
    if (this.#stop.signal.aborted || this.#asking) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#asking = this.#askAll().finally(() => {
        this.#asking = undefined;
      });
    }, FIRST_ASK_MS).unref();
  }

  /** One after the other: each of them keeps a processor busy for a while. */
  async #askAll(): Promise<void> {
    const { signal } = this.#stop;
    let isNew = false;
    for (const [key, path] of this.#wanted) {
      const { env, withheld } = this.#given;
      const version = await askVersion({ path, env: hookEnv(env, withheld.names()), stop: signal });
      if (signal.aborted) return;
      this.#wanted.delete(key);
      this.#remember(key, version);
      isNew ||= version !== undefined;
    }
    if (isNew) this.changed();
  }

  #remember(key: string, version: string | undefined): void {
    const [oldest] = this.#versions.keys();
    if (this.#versions.size >= MOST_KNOWN && oldest !== undefined) this.#versions.delete(oldest);
    this.#versions.set(key, version);
  }
}

/** The version of a program behind another, as in `node agent.js`, would be the other's. */
function isItself({ provider, known, command, args }: ProgramStart): boolean {
  if (known === undefined) return false;
  return parse(command).name === known || (args.length === 0 && provider !== "acp");
}

function stampedPath(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && `${path} ${stats.mtimeMs} ${stats.size}`;
}
