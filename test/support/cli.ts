import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { takeLock } from "../../src/base/index.js";
import { temporaryDirectory } from "./stores.js";

/** The built command; HEDDLE_TEST_COMMAND names another build of it. */
export const COMMAND = resolve(process.env.HEDDLE_TEST_COMMAND ?? "dist/bin/heddle.js");
/** Runs a command on a terminal of its own; it comes with every Linux and macOS. */
const RECORDER = "script";

let built: Promise<void> | undefined;

/** Builds the command if its sources changed: looked at once by each worker, however many suites want it. */
export function buildCommand(): Promise<void> {
  built ??= build();
  return built;
}

/** Several workers may want it at once: one does it, the others wait. */
async function build(): Promise<void> {
  if (process.env.HEDDLE_TEST_COMMAND !== undefined) return;
  let lock = takeLock(resolve(".cache/build.lock"));
  while (!lock) {
    await delay(50);
    lock = takeLock(resolve(".cache/build.lock"));
  }
  const { status, stderr } = spawnSync(process.execPath, ["scripts/ensure.mjs", "build"], {
    encoding: "utf8",
  });
  lock.release();
  if (status !== 0) throw new Error(`the build failed: ${stderr}`);
}

export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Buffer;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
}

export interface ServedGateway {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly port: number;
  readonly process: ChildProcess;
  /** Ends it by a signal and waits. */
  stop(signal?: NodeJS.Signals): Promise<Ended>;
}

/** A person's home: a data directory, a place to work in, and nothing of the machine the tests run on. */
export class CliHome {
  readonly dir = realpathSync(temporaryDirectory());
  readonly cwd = join(this.dir, "work");
  readonly data = join(this.dir, "data", "heddle");
  readonly #gateways: ServedGateway[] = [];

  constructor() {
    mkdirSync(this.cwd);
    mkdirSync(join(this.dir, "tmp"));
  }

  get env(): Record<string, string> {
    const { PATH = "" } = process.env;
    return {
      PATH,
      HOME: this.dir,
      XDG_DATA_HOME: join(this.dir, "data"),
      TMPDIR: join(this.dir, "tmp"),
      TZ: "UTC",
      HEDDLE_DETECT: "off",
    };
  }

  /** Starts the command without waiting for it. */
  spawn(args: readonly string[], { env, cwd = this.cwd }: RunOptions = {}): ChildProcess {
    return spawn(process.execPath, [COMMAND, ...args], { env: { ...this.env, ...env }, cwd });
  }

  async run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const child = this.spawn(args, options);
    child.stdin?.on("error", () => {});
    child.stdin?.end(options.input ?? "");
    return ended(child);
  }

  /** Runs a command that must succeed. Answers what it printed. */
  async ok(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(args);
    if (code !== 0) throw new Error(`heddle ${args.join(" ")} ended with ${code}: ${stderr}`);
    return stdout;
  }

  /** The same with `--json`, read. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came
  async json(...args: string[]): Promise<any> {
    return JSON.parse(await this.ok(...args, "--json"));
  }

  /** Runs a command on a terminal of its own. What it shows on either stream comes mixed, as a person sees it. */
  async onTerminal(
    args: readonly string[],
    options: RunOptions & { answers?: [string, string][] } = {},
  ): Promise<Ended> {
    const words = [process.execPath, COMMAND, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
    const line = `stty cols 120; exec ${words.join(" ")}`;
    const mac = process.platform === "darwin";
    const child = spawn(RECORDER, mac ? ["-q", "/dev/null", "sh", "-c", line] : ["-qec", line, "/dev/null"], {
      env: { ...this.env, TERM: "xterm-256color", ...options.env },
      cwd: options.cwd ?? this.cwd,
    });
    const answers = [...(options.answers ?? [])];
    let shown = "";
    child.stdout?.on("data", (chunk) => {
      shown += chunk;
      const next = answers[0];
      if (!next || !shown.includes(next[0])) return;
      answers.shift();
      child.stdin?.write(next[1]);
    });
    return ended(child);
  }

  /** Starts a gateway on a free port and waits until it accepts requests. */
  async serve(...args: string[]): Promise<ServedGateway> {
    const child = this.spawn(["serve", "--port", "0", "--no-open", "--json", ...args]);
    const ending = ended(child);
    const ready = new Promise<string>((resolve) =>
      child.stdout?.once("data", (chunk) => resolve(String(chunk))),
    );
    const line = await Promise.race([ready, ending.then(({ stderr }) => Promise.reject(new Error(stderr)))]);
    const gateway: ServedGateway = {
      ...JSON.parse(line),
      process: child,
      stop(signal = "SIGTERM") {
        child.kill(signal);
        return ending;
      },
    };
    this.#gateways.push(gateway);
    return gateway;
  }

  /** A program that stands for an editor: a shell script that gets the file as `$1`. */
  editor(script: string): string {
    const file = join(this.dir, `editor-${Math.random().toString(36).slice(2)}`);
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
    return file;
  }

  /** Writes files below the place of work. */
  write(files: Readonly<Record<string, string | Buffer>>): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.cwd, path)), { recursive: true });
      writeFileSync(join(this.cwd, path), text);
    }
  }

  async remove(): Promise<void> {
    for (const gateway of this.#gateways) await gateway.stop("SIGKILL");
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export function ended(child: ChildProcess): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}
