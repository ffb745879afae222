import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";

/** The real program, which `npm run test:agents` has installed. */
export function programPath(name: string): string {
  const path = resolve(".cache/agents", name, "node_modules/.bin", name);
  if (!existsSync(path)) throw new Error(`${name} is not installed: run \`npm run test:agents -- ${name}\`.`);
  return path;
}

/** A home with nothing in it, gone after the test. */
export async function cleanHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "heddle-home-"));
  onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  return home;
}

/** All that a program sees: nothing of the machine but where programs are. */
export function cleanEnv(home: string, more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: home,
    TMPDIR: tmpdir(),
    LANG: "C.UTF-8",
    NO_PROXY: "127.0.0.1,localhost",
    ...more,
  };
}
