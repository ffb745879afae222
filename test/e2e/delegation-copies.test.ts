import { cpSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answerTo, playByAgent } from "../support/agents.js";
import { delegates, delegationConfig } from "../support/delegation.js";
import { RunScene, runStage } from "../support/runs.js";
import { projectDirectory } from "../support/threads.js";

const stage = runStage(undefined, { config: delegationConfig(["general", "notes"]) });

test("[DEL73] the same thread in two copies of a project delegates twice, and each gets its own answer", async () => {
  const one = await stage.scene();
  const { id } = await one.start({ agent_id: "general" });
  const copy = projectDirectory();
  cpSync(join(one.root, ".agent"), join(copy, ".agent"), { recursive: true });
  const two = await RunScene.over(stage.gateway(), stage.model(), copy);
  playByAgent(one.model, {
    general: [
      delegates({ agentId: "notes", content: "task of one" }),
      "one has it",
      delegates({ agentId: "notes", content: "task of two" }),
      "two has it",
    ],
    notes: ["answer for one", "answer for two"],
  });
  await one.answered(id, "go");
  expect(answerTo(one.model, "general")).toMatchObject({ response: "answer for one" });
  await two.answered(id, "go");
  expect(answerTo(two.model, "general")).toMatchObject({ response: "answer for two" });
});
