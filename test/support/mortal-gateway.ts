import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { rolldown } from "rolldown";
import { expect, vi } from "vitest";
import type { Run } from "../../src/protocol/index.js";
import type { ServerTurn } from "./model-server/script.js";
import { type ModelServer, startModelServer } from "./model-server/server.js";
import { type Exit, HeddleProcess } from "./process.js";
import { agentAt, RunScene, says } from "./runs.js";
import { type StoreKind, type StorePlace, sqliteStore, temporaryDirectory } from "./stores.js";
import { projectDirectory } from "./threads.js";
import { type TracingTool, traceOf } from "./tracing-tools.js";
import { Wire } from "./wire.js";

/** A gateway in a process of its own that can be killed, over data and a model server that outlive it. */
export class MortalGateway {
  readonly root = projectDirectory();
  readonly scratch = temporaryDirectory();
  #process: HeddleProcess | undefined;
  #wires: Wire[] = [];

  private constructor(
    readonly place: StorePlace,
    readonly model: ModelServer,
    readonly served: boolean,
  ) {}

  /** With `served` it is the built command, without tools of its own. */
  static async make(kind: StoreKind = sqliteStore, served = false): Promise<MortalGateway> {
    const gateway = new MortalGateway(await kind.fresh(), await startModelServer(), served);
    const module = join(gateway.scratch, "hold.mjs");
    writeFileSync(module, waitingHook(gateway.holding("prompt")));
    const config = { agents: [agentAt(gateway.model.url)], hooks: [{ module }] };
    writeFileSync(join(gateway.place.dataDir, "heddle.config.json"), JSON.stringify(config));
    return gateway;
  }

  /** Starts, or starts again, and answers the workspace as it is then. */
  async start(): Promise<RunScene> {
    await (await this.#spawn()).ready();
    return this.scene();
  }

  /** Is killed after a time, however far it has come. */
  async startAndKill(afterMs: number): Promise<void> {
    await this.#spawn();
    await sleep(afterMs);
    await this.kill();
  }

  async #spawn(): Promise<HeddleProcess> {
    const { dataDir, store } = this.place;
    const env = { NODE_PATH: resolve("node_modules"), HEDDLE_LOG: process.env.HEDDLE_LOG ?? "silent" };
    const serve = ["serve", "--json", "--port", "0", "--data", dataDir, "--store", store];
    this.#process = this.served
      ? new HeddleProcess(serve, env)
      : new HeddleProcess([dataDir, store, this.scratch], env, await program());
    return this.#process;
  }

  /** Another connection, in the same workspace. */
  async scene(): Promise<RunScene> {
    const { url, token } = await this.#running.ready();
    const wire = await Wire.open(url, token);
    this.#wires.push(wire);
    const { workspace } = await wire.result("workspace/create", { root_path: this.root });
    return new RunScene(wire, workspace.id, this.root, this.model);
  }

  /** Ends it as a power switch would end a program: it learns nothing of it. */
  async kill(): Promise<void> {
    for (const wire of this.#wires.splice(0)) wire.close();
    await this.#running.end();
  }

  /** Asks it to stop in good order. Answers how it ended. */
  stop(): Promise<Exit> {
    this.#running.signal("SIGTERM");
    return this.#running.exited;
  }

  /** As long as this file is there, a tool does not end; prompts of messages with one of its lines are not compiled. */
  holding(name: Held): string {
    return join(this.scratch, `${name}.hold`);
  }

  hold(name: Held, ...lines: string[]): void {
    writeFileSync(this.holding(name), lines.join("\n"));
  }

  release(name: Held): void {
    rmSync(this.holding(name));
  }

  /** What a tool has done so far. */
  trace(name: TracingTool): string[] {
    return traceOf(this.scratch, name);
  }

  plays(...turns: readonly (string | ServerTurn)[]): void {
    this.model.play(turns.map((turn) => (typeof turn === "string" ? says(turn) : turn)));
  }

  async remove(): Promise<void> {
    await this.kill();
    await this.model.close();
    await this.place.remove();
  }

  get #running(): HeddleProcess {
    if (!this.#process) throw new Error("it was never started");
    return this.#process;
  }
}

type Held = TracingTool | "prompt" | "model" | "first";

/** Tries again until nothing is missing; `expect.poll` works only within a test. */
export function reached<T>(look: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(look, { timeout: 20_000, interval: 20 });
}

/** Waits for a run's end by asking: it may have ended before anyone listened. */
export function endOf(scene: RunScene, run_id: string): Promise<Run> {
  return reached(async () => {
    const run = await scene.getRun(run_id);
    expect(run.ended_at, `${run.status} run`).toBeDefined();
    return run;
  });
}

function waitingHook(file: string): string {
  return `
    import { existsSync, readFileSync } from "node:fs";
    import { setTimeout as sleep } from "node:timers/promises";
    const lines = () => existsSync(${JSON.stringify(file)}) ? readFileSync(${JSON.stringify(file)}, "utf8").split("\\n") : [];
    export default {
      id: "test.hold",
      contributes: [],
      subscriptions: [{
        hook_id: "test.hold",
        phase: "turn.pre_prompt_compile",
        async run({ input }) {
          while (lines().some((line) => line !== "" && input.includes(line))) await sleep(5);
        },
      }],
    };
  `;
}

let built: Promise<string> | undefined;

/** The program of `children/gateway.ts` as plain files: it starts several times faster than through a loader. */
function program(): Promise<string> {
  built ??= build();
  return built;
}

async function build(): Promise<string> {
  const dir = temporaryDirectory();
  // Where the gateway looks for its version.
  copyFileSync("package.json", join(dir, "package.json"));
  mkdirSync(join(dir, "dist", "bin"), { recursive: true });
  const bundle = await rolldown({
    input: { gateway: resolve("test/e2e/children/gateway.ts") },
    platform: "node",
    external: ["libsql", "pg-native"],
    resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
    logLevel: "silent",
  });
  const out = join(dir, "dist", "bin");
  await bundle.write({ dir: out, format: "esm", entryFileNames: "[name].mjs" });
  await bundle.close();
  // The command beside it, which programs are told of.
  writeFileSync(join(out, "heddle.js"), "");
  return join(out, "gateway.mjs");
}
