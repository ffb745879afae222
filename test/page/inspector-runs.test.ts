import { describe, expect, inject, test } from "vitest";
import { playByAgent } from "../support/agents.js";
import { delegates, delegationConfig, returnedTo, runsOf } from "../support/delegation.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { counted, threadPath } from "../support/page/inspector.js";
import { runStage } from "../support/runs.js";
import { sqliteStore } from "../support/stores.js";

describe.skipIf(inject("chromium") === "")("runs in the inspector [browser]", () => {
  const stage = runStage(sqliteStore, {
    config: delegationConfig(["general", "notes", "third"], { limits: { maxDelegationDepth: 3 } }),
  });
  const browser = pageBrowser();

  test("[PIN40] runs stand newest first, and what another client starts is there at once", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    playByAgent(scene.model, {
      general: [
        counted("One.", 1_200, 34),
        { steps: [{ status: 400, body: { error: { message: "no" } } }] },
        { steps: [{ text: "Wait" }, { gate: "pin40" }, { text: "." }] },
      ],
    });
    await scene.answered(id, "One?");
    await scene.ask(id, "Two?");
    const page = await browser.open(stage.gateway(), threadPath(scene, id, "/runs"));
    const items = page.getByRole("list", { name: "Runs, newest first" }).getByRole("listitem");
    await expect.poll(() => items.count()).toBe(2);
    expect(await items.nth(1).textContent()).toMatch(/Run 1GENERAL1,200 in, 34 outgeneral, \d\d:\d\d/);
    expect(await items.nth(0).textContent()).toMatch(/^failedRun 2/);
    const other = await stage.gateway().wire();
    const { workspace_id } = scene;
    const { run } = await other.result("run/start", { workspace_id, thread_id: id, content: "Three?" });
    await expect.poll(() => items.count()).toBe(3);
    await expect.poll(() => items.nth(0).textContent()).toMatch(/^runningRun 3/);
    await shot(page, "inspector-runs");
    scene.model.open("pin40");
    await scene.ended(run.id);
    await expect.poll(() => items.nth(0).textContent()).toMatch(/^Run 3/);
    await items.nth(1).getByRole("link").click();
    await page.getByRole("button", { name: "Run 2, choose another" }).waitFor();
    expect(await page.getByRole("tab", { name: "Context" }).getAttribute("aria-selected")).toBe("true");
  });

  test("[PIN41] what was delegated stands below the run that asked, and a result says from whom", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    playByAgent(scene.model, {
      general: [delegates({ agentId: "notes", content: "note this" }), "done"],
      notes: [delegates({ agentId: "third", content: "and this" }), "noted"],
      third: ["thirded"],
    });
    await scene.answered(id, "go");
    const [child] = await runsOf(scene, "notes");
    const page = await browser.open(stage.gateway(), threadPath(scene, id, "/runs"));
    const items = page.getByRole("list", { name: "Runs, newest first" }).getByRole("listitem");
    await expect.poll(() => items.count()).toBe(3);
    const texts = await items.allTextContents();
    expect(texts[0]).toMatch(/^Run 1GENERAL/);
    expect(texts[1]).toMatch(/^Run 1NOTES.*asked by GENERAL,/);
    expect(texts[2]).toMatch(/^Run 1THIRD.*asked by NOTES,/);
    await shot(page, "inspector-delegated");
    await items.nth(1).getByRole("link").click();
    await expect
      .poll(() => new URL(page.url()).pathname)
      .toBe(threadPath(scene, child?.thread_id as string, `/context/${child?.id}`));
    await page.getByRole("list", { name: "Sections, in the order sent" }).waitFor();
    await page.getByRole("tab", { name: "Runs" }).click();
    await items.first().getByText("delegated by GENERAL").waitFor();
  });

  test("[PIN41] a result that came back later is a run that says from whom it is", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    playByAgent(scene.model, {
      general: [delegates({ agentId: "notes", content: "note this", mode: "async" }), "asked", "thanks"],
      notes: ["noted"],
    });
    await scene.answered(id, "go");
    await returnedTo(scene, id);
    const page = await browser.open(stage.gateway(), threadPath(scene, id, "/runs"));
    const items = page.getByRole("list", { name: "Runs, newest first" }).getByRole("listitem");
    await items.first().getByText("result from NOTES").waitFor();
  });

  test("[PIN42] hundreds of runs are read as they are scrolled to", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    scene.plays(...Array.from({ length: 130 }, (_, at) => `Answer ${at}.`));
    for (let at = 0; at < 130; at++) await scene.answered(id, `Question ${at}?`);
    const page = await browser.open(stage.gateway(), threadPath(scene, id, "/runs"));
    const list = page.getByRole("list", { name: "Runs, newest first" });
    await list.getByText("Run 130", { exact: true }).waitFor();
    expect(await list.getByRole("listitem").count()).toBeLessThan(60);
    const body = page.locator(".insp-body");
    const first = list.getByText("Run 1", { exact: true });
    await expect
      .poll(async () => {
        await body.evaluate((scroller) => scroller.scrollTo(0, scroller.scrollHeight));
        return first.isVisible();
      })
      .toBe(true);
    expect(await list.getByRole("listitem").count()).toBeLessThan(60);
    await first.click();
    await page.getByRole("button", { name: "Run 1, choose another" }).waitFor();
  }, 60_000);

  test("[PIN43] tokens per run are a chart with sums, and a bar chooses its run", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    scene.plays(counted("One.", 1_000, 10), counted("Two.", 3_000, 20), counted("Three.", 2_000, 30));
    for (const question of ["One?", "Two?", "Three?"]) await scene.answered(id, question);
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    await page.getByText("6,000 in, 60 out").waitFor();
    const chart = page.getByRole("group", { name: "Tokens of runs 1 to 3, from 1,010 to 3,020" });
    const bars = chart.getByRole("button");
    const current = () => chart.locator("[aria-current=true]").getAttribute("aria-label");
    expect(await current()).toBe("Run 3, 2,000 in, 30 out");
    await bars.nth(2).focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Run 2, choose another" }).waitFor();
    expect(await current()).toBe("Run 2, 3,000 in, 20 out");
    expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toContain("Run 2");
  });
});
