import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { RawJournal } from "../support/journal.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { shownRows, textsOf, threadPath } from "../support/page/inspector.js";
import { type Doer, doer, doing } from "../support/programs.js";
import { agentAt, apis, runStage, says } from "../support/runs.js";
import { sqliteStore, temporaryDirectory } from "../support/stores.js";

/** A hook that fails when the message says so: closed for `HARD`, left out for `SOFT`. */
function hooks() {
  const file = join(temporaryDirectory(), "moody.mjs");
  const hook = (name: string, policy: string, priority: number) => `{
    hook_id: "moody.${name}", phase: "turn.pre_prompt_compile", failure_policy: "${policy}", priority: ${priority},
    run: ({ input }) => {
      if (input.includes("${name.toUpperCase()}")) throw new Error("moody");
      return { contributions: [{ kind: "prompt_section", section_id: "${name}", title: "Mood ${name}", content: "Calm." }] };
    } }`;
  writeFileSync(
    file,
    `export default { id: "moody", contributes: ["prompt_section"],
       subscriptions: [${hook("hard", "fail_closed", 15)}, ${hook("soft", "best_effort", 16)}] };`,
  );
  return [{ module: file }];
}

const program: Doer = doer();
const config = (url: string) => ({
  agents: [agentAt(url, apis[0], { systemPrompt: "You are calm." }), program.agent("doer")],
  hooks: hooks(),
});

describe.skipIf(inject("chromium") === "")("what the inspector proves [browser]", () => {
  const stage = runStage(sqliteStore, { config, tampers: true });
  const browser = pageBrowser();

  test("[PIN9] a failed hook shows what was reached, what failed, and what was not reached", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays("Yes.");
    await scene.answered(id, "Hello?");
    const run = await scene.ask(id, "HARD");
    expect(run).toMatchObject({ status: "failed", steps: 0, error: { code: "hook.failed" } });
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    await page.getByText("Nothing sent").waitFor();
    const list = page.getByRole("list", { name: "Sections, in their order" });
    await list.getByText("failed").waitFor();
    const rows = await list.getByRole("listitem").allTextContents();
    expect(rows[0]).toMatch(/^Base prompt\d+Agent openai-compatible, systemPrompt$/);
    expect(rows[1]).toBe("AGENTS.mdreachedpioneer.thread_agents_doc_prompt");
    expect(rows[2]).toBe("Mood hardfailedmoody.hard, fail closed");
    expect(rows[3]).toMatch(/^Mood softnot reachedand \d sections after it$/);
    expect(rows).toHaveLength(4);
    await page.getByRole("tabpanel").getByText("hook.failed").waitFor();
    await page.getByText("Replay verified").waitFor();
    await shot(page, "inspector-failed-hook");
  });

  test("[PIN11] a hook that was left out is named, and the run goes on without it", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays("Yes.");
    const ref = await scene.blob({ text: "Be a poet." });
    await scene.answered(id, "SOFT", { config: { prompt_refs: [ref], prompt_pack: "other" } });
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    await page.getByRole("list", { name: "What hooks reported" }).getByText("moody.soft").waitFor();
    expect((await shownRows(page)).map(({ id: row }) => row)).not.toContain("soft");
    expect((await shownRows(page))[0]?.source).toContain("ref of the run, sha256:");
    await page.getByText("prompt pack other not used: refs of the run came first").waitFor();
  });

  test("[PIN10] a program: how it was told, in what session, and what it adds", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "doer" });
    await scene.answered(id, doing({ say: "one" }));
    const run = await scene.answered(id, doing({ say: "two" }));
    const { delivery } = await scene.manifest(run.id);
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    const box = page.getByRole("region", { name: /^Handed over to/ });
    await box.getByText("earlier in this session").waitFor();
    await box.getByText("the session that goes on").waitFor();
    for (const added of delivery?.adds ?? []) expect(await box.textContent()).toContain(added);
    expect(await box.textContent()).toContain("Heddle does not see this.");
    await page.locator(".total").getByText("tokens told").waitFor();
    await page.getByRole("button", { name: "Request", exact: true }).click();
    await page.getByText("Sent, byte for byte").waitFor();
    const { request } = await scene.context(run.id);
    const asSent = page.getByRole("button", { name: "As sent", exact: true });
    if (await asSent.isVisible()) await asSent.click();
    expect((await textsOf(page, ".body-words")).join("")).toBe(request.body);
    await shot(page, "inspector-program");
  });

  test("[PIN22] recorded to the byte while it runs, verified when it has ended", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays({ steps: [{ text: "Wait" }, { gate: "pin22" }, { text: " no more." }] });
    const { run } = await scene.startRun(id, "Hello?");
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    await page.getByText("Recorded to the byte. Replay is checked when the run ends.").waitFor();
    await page.getByRole("button", { name: "Exact text" }).waitFor();
    scene.model.open("pin22");
    await scene.ended(run.id);
    await page.getByText(/Replay verified\. \d+ events, 1 step, same bytes\./).waitFor();
  });

  test("[PIN23] a record that was tampered with says where, with the first difference", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays("One.", "Two.");
    await scene.answered(id, "One?");
    const run = await scene.answered(id, "Two?");
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    await page.getByText("Replay verified").waitFor();
    const journal = new RawJournal(stage, { workspace_id: scene.workspace_id, thread_id: id });
    const { seq, body } = (await journal.events())[7] ?? { seq: 0, body: "" };
    await journal.change(seq, { body: body.replace('"at":1', '"at":2') });
    await page.getByRole("button", { name: "Check the replay again" }).click();
    await page.getByText("Differs at event 3 of 5.").waitFor();
    const { first_difference } = await scene.wire.result("run/replay", { run_id: run.id });
    await page.getByText(first_difference?.message ?? "").waitFor();
    await shot(page, "inspector-differs");
    await journal.change(seq, { body });
    await page.getByRole("button", { name: "Check the replay again" }).click();
    await page.getByText("Replay verified").waitFor();
  });

  test("[PIN23] the first difference of a state is shown as a difference", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays("One.");
    const run = await scene.answered(id, "One?");
    const result = {
      verified: false,
      integrity: "ok",
      fold: "ok",
      compile: "failed",
      events: 40,
      steps: 2,
      first_difference: {
        check: "compile",
        where: "step 2",
        message: "step 2 gives another prefix than was recorded.",
        diff: '===\n--- recorded\n+++ replayed\n@@ -22,3 +22,3 @@\n   "tools": 12,\n-  "chars": 3616\n+  "chars": 3598\n }\n',
      },
    };
    const page = await browser.open(stage.gateway());
    await page.routeWebSocket(/\/rpc/, (socket) => {
      const server = socket.connectToServer();
      const asked = new Set<unknown>();
      socket.onMessage((message) => {
        const { id: request, method } = JSON.parse(String(message));
        if (method === "run/replay") asked.add(request);
        server.send(message);
      });
      server.onMessage((message) => {
        const answer = JSON.parse(String(message));
        socket.send(asked.has(answer.id) ? JSON.stringify({ ...answer, result }) : message);
      });
    });
    await page.goto(stage.gateway().url + threadPath(scene, id, `/context/${run.id}`));
    await page.getByText("Differs at step 2.").waitFor();
    const lines = page.getByRole("region", { name: "First difference" }).locator(".diff-rows > div");
    expect(await lines.allTextContents()).toEqual([
      '22  "tools": 12,',
      '23−removed  "chars": 3616',
      '23+added  "chars": 3598',
      "24}",
    ]);
    await shot(page, "inspector-first-difference");
  });

  test("[PIN24] the preview is what is then sent, with what stands in the composer", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays("One.", "Two.");
    await scene.answered(id, "One?");
    const path = threadPath(scene, id, "/context?preview=1&full=1&show=request");
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    await page.evaluate(
      ([key, value]) => localStorage.setItem(key as string, value as string),
      [`heddle.draft.${id}`, JSON.stringify({ text: "And “two”?", images: [], at: 1 })],
    );
    await page.goto(stage.gateway().url + path);
    await page.getByText("Would be sent", { exact: true }).waitFor();
    await page.getByRole("button", { name: "As sent", exact: true }).click();
    const shown = (await textsOf(page, ".body-words")).join("");
    expect(scene.model.requests).toHaveLength(1);
    await scene.answered(id, "And “two”?");
    expect(shown).toBe(await scene.received(1));
    await page.goto(stage.gateway().url + threadPath(scene, id, "/context?preview=1"));
    await page.getByRole("heading", { name: "Would be sent now" }).waitFor();
    await page.getByText("With what stands in the composer. Nothing is sent.").waitFor();
    expect(await page.locator(".would").evaluate((el) => getComputedStyle(el).borderTopStyle)).toBe("dashed");
    await shot(page, "inspector-preview");
    expect(scene.model.requests).toHaveLength(2);
    await page.getByRole("button", { name: "Leave the preview" }).click();
    await page.getByRole("button", { name: "Run 2, choose another" }).waitFor();
  });

  test("[PIN25] a preview that is refused says why, and one that changes is shown anew", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    const page = await browser.open(stage.gateway(), threadPath(scene, id, "/context?preview=1"));
    const rows = page.locator(".would .sec[data-section]");
    await rows.first().waitFor();
    expect(await page.locator("[data-section=agents_md]").count()).toBe(0);
    await scene.saveDoc("Be brief.");
    await page.locator("[data-section=agents_md]").getByText("AGENTS.md v1").waitFor();
    await scene.wire.result("thread/update", {
      workspace_id: scene.workspace_id,
      thread_id: id,
      config: { default_prompt_pack: "nowhere" },
    });
    await page.getByRole("alert").getByText("prompt.not_synced").waitFor();
    expect(scene.model.requests).toHaveLength(0);
    scene.plays(says("x"));
  });
});
