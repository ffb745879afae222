import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { sqliteDriver } from "../../src/base/index.js";
import { defineTool } from "../../src/tools/index.js";
import { runStage, says, verifyAll } from "../support/runs.js";

/** What another program can read of the journal at this very moment, without waiting for anything. */
function typesNow(): string[] {
  const handle = sqliteDriver().open(join(stage.gateway().place.dataDir, "heddle.db"));
  try {
    const rows = handle.prepare("select body from journal_event order by seq").all() as { body: string }[];
    return rows.map(({ body }) => {
      const { type, kind } = JSON.parse(body);
      return kind ? `${type} ${kind}` : type;
    });
  } finally {
    handle.close();
  }
}

const seen: string[][] = [];
const watching = defineTool({
  name: "test_watch",
  description: "Looks at the journal.",
  parameters: z.strictObject({}),
  capabilities: ["tests.watch"],
  safeToRepeat: true,
  run() {
    seen.push(typesNow());
    return { status: "completed", output: "Seen." };
  },
});
const stage = runStage(undefined, { options: { tools: [watching] } });

test("[JRN13] what is about to be done outside is in the store before it is done: a model is asked, a tool is called", async () => {
  const scene = await stage.scene();
  scene.model.play((body) => {
    seen.push(typesNow());
    if (body.includes("Seen.")) return says("Thank you.");
    return { steps: [{ tool_call: { id: "call_1", name: "test_watch", arguments: "{}" } }] };
  });
  const thread = await scene.start();
  await scene.answered(thread.id, "Look.");
  const asked = ["run.requested", "prompt.compiled", "effect.requested llm.generate"];
  const called = [...asked, "effect.receipt", "effect.requested tool.call"];
  expect(seen).toEqual([
    asked,
    called,
    [...called, "effect.receipt", "prompt.compiled", "effect.requested llm.generate"],
  ]);
  await verifyAll(scene);
});
