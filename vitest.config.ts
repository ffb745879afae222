import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.js";

const shared = {
  // What runs on the machine must not decide which agents there are.
  env: { HEDDLE_DETECT: "off" },
  pool: "forks" as const,
  // What a file of tests needs is loaded once for each worker and not for each file, which took a fifth of the time.
  isolate: false,
  setupFiles: ["test/support/leave-no-trace.ts"],
  // A machine that is busy with other tests is slow, and not wrong.
  expect: { poll: { timeout: 20_000 } },
  testTimeout: 60_000,
  hookTimeout: 60_000,
  slowTestThreshold: 5_000,
};

export default defineConfig({
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    // Sources are read once for both projects, for other versions of Node and for the next run.
    experimental: { fsModuleCache: true, fsModuleCachePath: ".cache/modules" },
    // Most of them wait more than they compute.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...shared,
          name: "heddle",
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          // Those of `real-programs` need hundreds of megabytes: `npm run test:agents`.
          exclude: ["node_modules/**", "test/real-programs/**", "test/page/**"],
          // Where nobody watches, a process that was late once is asked once more; by hand every failure shows.
          retry: process.env.CI ? 1 : 0,
        },
      },
      {
        test: {
          ...shared,
          name: "page",
          include: ["test/page/**/*.test.ts"],
          // A browser on a machine that does something else at the same time can be late for everything: it may try again.
          retry: 2,
        },
      },
    ],
  },
});
