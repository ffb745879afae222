import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { PostgresProxy } from "../contract/support/postgres-proxy.js";
import { answerTo, playByAgent } from "../support/agents.js";
import {
  atRest,
  childOf,
  delegates,
  delegationConfig,
  returnedTo,
  saysAfter,
} from "../support/delegation.js";
import { runStage, verifyAll } from "../support/runs.js";
import { onPostgres, type StoreKind, temporaryDirectory } from "../support/stores.js";

/** Longer than a writer whose connection broke looks whether its commit took place. */
const GIVEN_UP_MS = 6_500;

onPostgres("an end whose commit was believed to have failed", (kind) => {
  let proxy: PostgresProxy;
  const behind: StoreKind = {
    name: kind.name,
    async fresh() {
      const place = await kind.fresh();
      proxy = await PostgresProxy.start(place.store);
      const remove = () => proxy.stop().then(() => place.remove());
      return { ...place, store: proxy.location, remove };
    },
  };
  const followed = join(temporaryDirectory(), "followed");
  const stage = runStage(behind, {
    config: (url) => ({
      ...delegationConfig(["waiting", "working", "notes", "other"])(url),
      hooks: [{ module: hookThatKeeps(followed) }],
    }),
  });

  test("[RUN97] is heard of once the store is back: by who waits for it, by the thread it comes back to, and by hooks", async () => {
    // Changes of one workspace wait for each other: what is lost at the same moment is of two.
    const [one, two] = [await stage.scene(), await stage.scene()];
    const { id: waiting } = await one.start({ agent_id: "waiting" });
    const { id: working } = await two.start({ agent_id: "working" });
    playByAgent(one.model, {
      waiting: [delegates({ agentId: "notes", content: "note", timeout: 600 }), "I have it."],
      working: [delegates({ agentId: "other", content: "look", mode: "async" }), "I go on.", "Thank you."],
      notes: [saysAfter("lost", "noted")],
      other: [saysAfter("lost", "looked")],
    });
    const { run } = await one.startRun(waiting, "go");
    await two.answered(working, "go");
    await childOf(one, "notes", "running");
    await childOf(two, "other", "running");
    proxy.loseAnswersBehind("run.completed", "commit", 2);
    one.model.open("lost");
    await expect.poll(() => proxy.isCut).toBe(true);
    await sleep(GIVEN_UP_MS);
    proxy.restore();
    await expect.poll(async () => (await one.getRun(run.id)).status).toBe("completed");
    expect(answerTo(one.model, "waiting")).toMatchObject({ status: "complete", response: "noted" });
    await returnedTo(two, working);
    const runs = [...(await atRest(one)), ...(await atRest(two))];
    expect(runs.map(({ status }) => status)).toEqual(Array(5).fill("completed"));
    const kept = () =>
      existsSync(followed) ? readFileSync(followed, "utf8").split("\n").filter(Boolean) : [];
    await expect.poll(() => kept().toSorted()).toEqual(runs.map(({ id }) => id).toSorted());
    for (const scene of [one, two]) await verifyAll(scene);
  });
});

/** A module that writes down after which runs it was asked. */
function hookThatKeeps(file: string): string {
  const module = `${file}.mjs`;
  writeFileSync(
    module,
    `import { appendFileSync } from "node:fs";
     const run = async ({ run_id }) => appendFileSync(${JSON.stringify(file)}, run_id + "\\n");
     export default { id: "keeps", contributes: [],
       subscriptions: [{ hook_id: "keeps.turns", phase: "turn.post_turn", run }] };`,
  );
  return module;
}
