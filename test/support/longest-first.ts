import { existsSync, readFileSync } from "node:fs";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Those that take half a minute and more: begun last, one of them would be what everybody waits for in the end. */
const LONGEST = [
  "test/page/screens.test.ts",
  "test/page/thread-speed.test.ts",
  "test/attack/plants.test.ts",
  "test/crash/quick.test.ts",
  "test/crash/trouble.test.ts",
  "test/crash/plants.test.ts",
];

for (const file of LONGEST) if (!existsSync(file)) throw new Error(`${file} is listed, but not there`);

/** What a file imports that starts processes. */
const STARTS = /child_process|\/(?:cli|process|repository|mortal-gateway|programs)\.js"/;
/** What a file imports that makes its worker large: a gateway within it. */
const GATEWAY = /\/gateway\.js"|app\/index\.js"/;

/**
 * A process is started by a copy of the one that starts it, page tables and all: 6 ms for each 100 MB. So those that start many
 * come while the workers are small.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // Projects one after the other: a worker is used again only for files of the same.
    const projects = [...new Set(sorted.map(({ project }) => project.name))].sort();
    return projects.flatMap((name) =>
      sorted
        .filter(({ project }) => project.name === name)
        .map((file) => ({ file, rank: rankOf(file) }))
        .sort((a, b) => a.rank - b.rank)
        .map(({ file }) => file),
    );
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  if (LONGEST.some((file) => moduleId.endsWith(`/${file}`))) return 0;
  const text = readFileSync(moduleId, "utf8");
  if (!STARTS.test(text)) return 3;
  return GATEWAY.test(text) ? 2 : 1;
}
