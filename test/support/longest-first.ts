import { existsSync } from "node:fs";
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

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    // Projects one after the other: a worker is used again only for files of the same.
    const projects = [...new Set(sorted.map(({ project }) => project.name))].sort();
    return projects.flatMap((name) => {
      const own = sorted.filter(({ project }) => project.name === name);
      return [...own.filter(isLong), ...own.filter((file) => !isLong(file))];
    });
  }
}

function isLong({ moduleId }: TestSpecification): boolean {
  return LONGEST.some((file) => moduleId.endsWith(`/${file}`));
}
