import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // They need programs of hundreds of megabytes: `npm run test:agents`.
    exclude: ["node_modules/**", "test/real-programs/**"],
    // What runs on the machine must not decide which agents there are.
    env: { HEDDLE_DETECT: "off" },
    globalSetup: ["test/support/global-setup.ts"],
    pool: "forks",
    // Most of them wait more than they compute: two cores take three.
    maxWorkers: 3,
    // A machine that is busy with other tests is slow, and not wrong.
    expect: { poll: { timeout: 20_000 } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    slowTestThreshold: 5_000,
  },
});
