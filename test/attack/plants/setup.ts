import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { bundleChildren } from "../../support/children.js";
import { makeMigratedFile } from "../../support/migrated.js";

/** What attacks on a planted gateway need around them: no database server, which takes longer to start than they do. */
export default async function setup(project: TestProject): Promise<() => void> {
  const { chromium } = JSON.parse(readFileSync(".cache/services.json", "utf8"));
  const tmp = mkdtempSync(join(tmpdir(), "heddle-attack-"));
  project.provide("chromium", chromium.path ?? "");
  project.provide("postgres", "");
  project.provide("tmp", tmp);
  await bundleChildren(tmp);
  await makeMigratedFile(tmp);
  return () => rmSync(tmp, { recursive: true, force: true });
}
