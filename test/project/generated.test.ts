import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generatedFiles } from "../../scripts/generated.js";
import { jsonSchemas, methods, notifications, schemaName } from "../../src/protocol/index.js";

test("[PRJ1] committed schemas and reference are what the code generates (npm run generate)", () => {
  const files = generatedFiles();
  for (const [path, text] of files) expect(readFileSync(path, "utf8"), path).toBe(text);
  const committed = readdirSync("schemas").map((name) => `schemas/${name}`);
  expect(committed.filter((path) => !files.has(path))).toEqual([]);
});

test("[PRJ10] the method table is complete: params, result and summary of each, and a schema by its name", () => {
  const names = new Set(jsonSchemas().keys());
  for (const [method, { params, result, summary }] of Object.entries(methods)) {
    expect(params.safeParse(undefined).success, method).toBe(false);
    expect(result, method).toBeDefined();
    expect(summary, method).toMatch(/^[A-Z].+\.$/);
    expect(names).toContain(`${schemaName(method)}_params`);
    expect(names).toContain(`${schemaName(method)}_response`);
  }
  for (const method of Object.keys(notifications))
    expect(names).toContain(`${schemaName(method)}_notification`);
});
