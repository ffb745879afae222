import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Bench } from "../harness.js";

const COMMAND = fileURLToPath(new URL("../../dist/bin/heddle.js", import.meta.url));
const STOP_WITHIN_MS = 10_000;

/** A Node process of its own, ended with the entry that started it. */
export class Child {
  readonly process: ChildProcess;

  /** `env` is all of the environment it sees; without it, this process's own. */
  constructor(bench: Bench, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    this.process = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "ignore"] });
    bench.onEnd(() => this.stop());
  }

  get pid(): number {
    if (this.process.pid === undefined) throw new Error("the process did not start");
    return this.process.pid;
  }

  /** The first line it prints. */
  async firstLine(): Promise<string> {
    const { stdout } = this.process;
    if (!stdout) throw new Error("the process has no output");
    const lines = createInterface(stdout);
    const ended = once(this.process, "exit").then(([code]) => {
      throw new Error(`${this.process.spawnargs.join(" ")} ended with ${code} and said nothing`);
    });
    const [line] = await Promise.race([once(lines, "line"), ended]);
    return String(line);
  }

  async exited(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, "exit");
  }

  async stop(): Promise<void> {
    const last = setTimeout(() => this.process.kill("SIGKILL"), STOP_WITHIN_MS);
    this.process.kill("SIGTERM");
    await this.exited();
    clearTimeout(last);
  }
}

export interface GatewayProcess {
  readonly child: Child;
  readonly url: string;
  readonly token: string;
}

/** The built command as a person would start it. Resolves when it says that it is ready. */
export async function startGateway(
  bench: Bench,
  dataDir: string,
  env?: NodeJS.ProcessEnv,
  more: readonly string[] = [],
): Promise<GatewayProcess> {
  const options = ["serve", "--json", "--port", "0", "--no-open", "--data", dataDir, ...more];
  const child = new Child(bench, [COMMAND, ...options], env);
  const { url, token } = JSON.parse(await child.firstLine());
  return { child, url, token };
}

/** A bare `ws` server, without anything of Heddle's: the least a message can cost. */
export async function startBareServer(bench: Bench): Promise<string> {
  const script = fileURLToPath(new URL("bare-server.mjs", import.meta.url));
  const child = new Child(bench, [script]);
  return `http://127.0.0.1:${await child.firstLine()}`;
}
