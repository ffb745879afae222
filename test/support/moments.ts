import { cpSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { startApp } from "../../src/app/index.js";
import type { ModelServer } from "./model-server/server.js";
import { RunScene } from "./runs.js";
import { temporaryDirectory } from "./stores.js";
import { projectDirectory } from "./threads.js";
import { tracingTools } from "./tracing-tools.js";
import { Wire } from "./wire.js";

/** Everything that outlives a gateway: its data, the project, what its tools have done. */
export class World {
  readonly parts = { data: temporaryDirectory(), root: projectDirectory(), traces: temporaryDirectory() };
  readonly #moments: string[] = [];
  #last = "";

  get moments(): readonly string[] {
    return this.#moments;
  }

  /** Keeps every state from now on; answers what ends that. */
  keepMoments(): () => void {
    let going = true;
    const keep = () => {
      this.#keepIfThere();
      if (going) setImmediate(keep);
    };
    keep();
    return () => {
      going = false;
    };
  }

  /**
   * Copies all of it when something is another than before. The gateway is in this process: what it commits and appends
   * can't move meanwhile. Other files may; then the next moment is as good.
   */
  #keepIfThere(): void {
    try {
      this.#keep();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }

  #keep(): void {
    const now = JSON.stringify(Object.values(this.parts).map(stampsIn));
    if (now === this.#last) return;
    const moment = temporaryDirectory();
    for (const [name, path] of Object.entries(this.parts))
      cpSync(path, join(moment, name), { recursive: true, preserveTimestamps: true });
    this.#last = now;
    this.#moments.push(moment);
  }

  /** Makes it, or some of it, what it was then. */
  bringBack(moment: string, parts = Object.keys(this.parts)): void {
    for (const [name, path] of Object.entries(this.parts).filter(([name]) => parts.includes(name))) {
      rmSync(path, { recursive: true });
      cpSync(join(moment, name), path, { recursive: true, preserveTimestamps: true });
    }
  }

  /** A gateway over it, in this process. */
  async live(model: ModelServer): Promise<{ scene: RunScene; stop(): Promise<void> }> {
    const { data, root, traces } = this.parts;
    const app = await startApp({ dataDir: data, logLevel: "silent", tools: tracingTools(traces) });
    const { url, token } = await app.listen({ host: "127.0.0.1", port: 0 });
    const wire = await Wire.open(url, token);
    const { workspace } = await wire.result("workspace/create", { root_path: root });
    const stop = () => {
      wire.close();
      return app.stop();
    };
    return { scene: new RunScene(wire, workspace.id, root, model), stop };
  }
}

function stampsIn(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith("-shm"))
    .map(({ parentPath, name }) => {
      const { size, mtimeMs } = statSync(join(parentPath, name));
      return `${parentPath}/${name} ${size} ${mtimeMs}`;
    });
}
