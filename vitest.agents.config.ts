import { defineConfig } from "vitest/config";

/** `npm run test:agents`: the real programs, which the ordinary suite does not install. */
export default defineConfig({
  test: {
    include: ["test/real-programs/**/*.test.ts"],
    env: { HEDDLE_DETECT: "off" },
    globalSetup: ["test/support/global-setup.ts"],
    pool: "forks",
    maxWorkers: 1,
    expect: { poll: { timeout: 30_000 } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
