import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { questions } from "../bench/scale/questions.js";
import { buildCommand } from "./support/cli.js";
import { temporaryDirectory } from "./support/stores.js";

test("[SCL8] the command fills two stores, asks every question of both, and tells what each took", async () => {
  await buildCommand();
  const json = join(temporaryDirectory(), "scale.json");
  // All have this in their name; what start-up and memory become takes minutes of waiting.
  const small = ["--threads", "2000", "--few", "1000", "--rounds", "1", "--store", "sqlite", "--only", ""];
  const { status, stdout, stderr } = spawnSync(
    "node_modules/.bin/tsx",
    ["bench/scale/run.ts", ...small, "--json", json],
    { encoding: "utf8" },
  );
  expect({ status, stderr }).toMatchObject({ status: 0 });
  const { entries } = JSON.parse(readFileSync(json, "utf8"));
  const named = entries[0].rows.map(({ name }: { name: string }) => name).join("\n");
  expect(questions.length).toBeGreaterThan(10);
  for (const { name } of questions) expect(named).toContain(name);
  expect(stdout).toContain(questions[0]?.name);
}, 240_000);
