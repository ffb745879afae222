import { afterAll, vi } from "vitest";

// Files of tests share a process one after the other: what one of them set must not meet the next.
const before = { ...process.env };
const directory = process.cwd();

afterAll(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  process.chdir(directory);
});
