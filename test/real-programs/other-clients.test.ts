import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { runStage } from "../support/runs.js";
import { cleanEnv, cleanHome, programPath } from "./support.js";

const stage = runStage();

test("[CCE1] pi with Heddle as its model completes a turn, which is a run of a thread", async () => {
  const scene = await stage.scene();
  scene.plays("Answered by Heddle's agent.");
  const home = await cleanHome();
  const { url, token } = stage.gateway();
  mkdirSync(join(home, ".pi/agent"), { recursive: true });
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const model = { id: "openai-compatible", name: "Heddle", reasoning: false, input: ["text"], cost };
  const models = [{ ...model, contextWindow: 200_000, maxTokens: 4096 }];
  const heddle = { baseUrl: `${url}/v1`, apiKey: "HEDDLE_TOKEN", api: "openai-completions", models };
  writeFileSync(join(home, ".pi/agent/models.json"), JSON.stringify({ providers: { heddle } }));
  const args = ["--mode", "json", "--provider", "heddle", "--model", "openai-compatible", "-p", "WORD-PI"];
  const running = promisify(execFile)(programPath("pi"), args, {
    cwd: home,
    env: cleanEnv(home, { HEDDLE_TOKEN: token, PI_OFFLINE: "1" }),
    timeout: 100_000,
    maxBuffer: 64 * 1024 * 1024,
  });
  running.child.stdin?.end();
  const { stdout } = await running;
  expect(stdout).toContain("Answered by Heddle's agent.");
  const { data } = await scene.wire.result("workspace/list", { limit: 50 });
  const home_id = data.find(({ name }) => name === "Home")?.id ?? "";
  const runs = await scene.wire.result("run/list", { workspace_id: home_id, limit: 10 });
  expect(runs.data).toMatchObject([{ status: "completed", agent_id: "openai-compatible" }]);
  expect(await scene.received(0)).toContain("WORD-PI");
});
