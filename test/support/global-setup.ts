import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { bundleChildren } from "./children.js";
import { makeMigrated, makeMigratedFile } from "./migrated.js";

declare module "vitest" {
  export interface ProvidedContext {
    /** Address of a PostgreSQL server where databases can be made; empty when there is none. */
    postgres: string;
    /** Path of a Chromium; empty when there is none. */
    chromium: string;
    /** Everything temporary of this run stands below it and goes with it. */
    tmp: string;
  }
}

interface Services {
  postgres: { bin?: string };
  chromium: { path?: string };
}

export default async function setup(project: TestProject): Promise<() => void> {
  const services: Services = JSON.parse(readFileSync(".cache/services.json", "utf8"));
  project.provide("chromium", services.chromium.path ?? "");
  const tmp = mkdtempSync(join(tmpdir(), "heddle-test-"));
  project.provide("tmp", tmp);
  await bundleChildren(tmp);
  await makeMigratedFile(tmp);
  const clean = () => rmSync(tmp, { recursive: true, force: true });
  if (!services.postgres.bin) {
    project.provide("postgres", "");
    return clean;
  }
  const server = spawn(process.execPath, ["scripts/postgres.mjs", services.postgres.bin], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const url = await new Promise<string>((resolve, reject) => {
    server.stdout.once("data", (data) => resolve(String(data).trim()));
    server.once("exit", (code) => reject(new Error(`PostgreSQL did not start (${code})`)));
  });
  await makeMigrated(url);
  project.provide("postgres", url);
  return () => {
    server.stdin.end();
    clean();
  };
}
