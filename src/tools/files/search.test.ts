import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { contextWith, directoryWith, registryOf } from "../../../test/tools/support.js";
import { searchTool } from "./search.js";

const CATASTROPHE = { pattern: "^(a+)+$", regex: true };
const registry = registryOf(searchTool(400));

test("[FIL43] a pattern that would take for ever ends with the time limit, and holds up nothing meanwhile", async () => {
  const directory = directoryWith({ "a.txt": `${"a".repeat(60)}b` });
  let turns = 0;
  const others = setInterval(() => turns++, 10);
  const began = performance.now();
  const outcome = await registry.call("files_search", CATASTROPHE, contextWith({ directory }));
  clearInterval(others);
  expect(outcome).toMatchObject({
    status: "failed",
    output:
      "The time of 0.4 seconds was up, and nothing was found until then. The search was stopped: look in a directory further down, or for something simpler.",
  });
  expect(performance.now() - began).toBeLessThan(5_000);
  expect(turns).toBeGreaterThan(5);
});

test("[FIL43] what was found until then is told", async () => {
  const directory = directoryWith({});
  for (let index = 0; index < 40; index++) writeFileSync(join(directory, `${100 + index}.txt`), "aaa\n");
  writeFileSync(join(directory, "last.txt"), `${"a".repeat(60)}b`);
  const outcome = await registry.call("files_search", CATASTROPHE, contextWith({ directory }));
  expect(outcome).toMatchObject({ status: "completed", truncated: true });
  expect(outcome.output).toContain("100.txt:1: aaa\n");
  expect(outcome.output).toContain("[The time of 0.4 seconds was up. The search was stopped:");
});

test("[FIL45] when the signal fires the search ends, its thread with it", async () => {
  const directory = directoryWith({ "a.txt": `${"a".repeat(60)}b` });
  const own = new AbortController();
  const slow = searchTool(60_000);
  const searching = Promise.resolve(slow.run(CATASTROPHE, contextWith({ directory, signal: own.signal })));
  setTimeout(() => own.abort(new Error("enough")), 200);
  const began = performance.now();
  await expect(searching).rejects.toThrow("enough");
  expect(performance.now() - began).toBeLessThan(3_000);
});
