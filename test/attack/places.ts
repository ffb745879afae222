import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestGateway } from "../support/gateway.js";
import type { ModelServer } from "../support/model-server/server.js";
import { RunScene } from "../support/runs.js";
import { temporaryDirectory } from "../support/stores.js";

/** Stands in every file that must not be reached, and nowhere else. */
export const SECRET = "the-secret-outside";

/** A project beside what must not be reached. */
export class Place {
  private constructor(
    readonly scene: RunScene,
    readonly outer: string,
  ) {}

  static async make(gateway: TestGateway, model: ModelServer): Promise<Place> {
    const outer = realpathSync(temporaryDirectory());
    for (const dir of ["project/src", "outside/sub"]) mkdirSync(join(outer, dir), { recursive: true });
    writeFileSync(join(outer, "outside/a.txt"), `${SECRET}\n`);
    writeFileSync(join(outer, "outside/sub/b.json"), JSON.stringify({ name: SECRET }));
    writeFileSync(join(outer, "project/src/a.txt"), "open\n");
    const scene = await RunScene.over(gateway, model, join(outer, "project"));
    return new Place(scene, outer);
  }

  outside(...path: string[]): string {
    return join(this.outer, "outside", ...path);
  }

  /** Everything outside, by path, with its content. */
  seen(dir = this.outside()): Record<string, string> {
    const entries = readdirSync(dir, { recursive: true, withFileTypes: true });
    return Object.fromEntries(
      entries.map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [
          path,
          entry.isFile() ? readFileSync(path, "utf8") : entry.isSymbolicLink() ? "link" : "directory",
        ];
      }),
    );
  }

  /** Ways to write the path of a file outside, from the project, a thread's files, and from anywhere; the plainest first. */
  ways(): string[] {
    const file = this.outside("a.txt");
    return [
      "../outside/a.txt",
      "../../../../outside/a.txt",
      file,
      `file://${file}`,
      `/proc/self/root${file}`,
      "..%2foutside%2fa.txt",
      "src/../../outside/a.txt",
      "..\\outside\\a.txt",
      "%2e%2e/outside/a.txt",
      "..././outside/a.txt",
      "....//outside/a.txt",
      `/proc/self/cwd/../../../../../../../../${file}`,
      `/${file}`,
      `${file}/.`,
      this.outside(),
      `~/../../../../../../${file}`,
    ];
  }
}
