import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { generatedFiles } from "../../scripts/generated.js";
import { jsonSchemas, methods, notifications, schemaName } from "../../src/protocol/index.js";

const FOURTEEN = [
  "thread_agents_doc_status",
  "thread_agents_doc_save_reason",
  "thread_agents_doc_payload",
  "thread_agents_doc_summary",
  "thread_agents_doc_resolved_payload",
  "thread_agents_doc_get_params",
  "thread_agents_doc_get_response",
  "thread_agents_doc_save_params",
  "thread_agents_doc_save_response",
  "thread_agents_doc_archive_params",
  "thread_agents_doc_archive_response",
  "thread_agents_doc_resolve_for_thread_params",
  "thread_agents_doc_resolve_for_thread_response",
  "thread_agents_doc_changed_notification",
];

test("[PRJ1] committed schemas and reference are what the code generates (npm run generate)", () => {
  const files = generatedFiles();
  for (const [path, text] of files) expect(readFileSync(path, "utf8"), path).toBe(text);
  const committed = readdirSync("schemas").map((name) => `schemas/${name}`);
  expect(committed.filter((path) => !files.has(path))).toEqual([]);
  for (const name of FOURTEEN) expect(existsSync(`schemas/${name}.json`), name).toBe(true);
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
