import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { playByAgent } from "../support/agents.js";
import { delegates } from "../support/delegation.js";
import { between } from "../support/page/between.js";
import { pageBrowser } from "../support/page/browser.js";
import { calls } from "../support/runs.js";
import { pathOf, said, soon, threadStage } from "./thread-scenes.js";
import { go, wireOf } from "./thread-wire.js";

const REFUSED = { code: -32603, message: "The log can't be read.", data: { kind: "internal" } };
const LOST = /WebSocket|ERR_/;

describe.skipIf(inject("chromium") === "")("a thread when something goes wrong [browser]", () => {
  const stage = threadStage();
  const browser = pageBrowser();

  async function written(count: number, title = "Written") {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title });
    for (let n = 0; n < count; n++) {
      const role = n % 2 === 0 ? "user" : "agent";
      await scene.append(id, { id: `m${n}`, role, content: `Message number ${n}` });
    }
    return { scene, id, path: pathOf(scene, id), home: `/w/${scene.workspace_id}` };
  }

  /** A thread whose only run failed without a word: only who knows its runs shows that. */
  async function failed() {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Fails" });
    playByAgent(scene.model, {
      claude: [{ steps: [{ status: 400, body: { error: { message: "no such model" } } }] }],
    });
    await scene.ask(id, "Try this.");
    return pathOf(scene, id);
  }

  const message = (page: Page, n: number) => said(page).getByText(`Message number ${n}`, { exact: true });

  test("[PTH11] a delegation that failed says why, and what was asked can be read whole", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Hands on" });
    playByAgent(scene.model, {
      claude: [delegates({ agentId: "codex", content: "Do the hard part\n\nAnd the rest of it." }), "Alas."],
      codex: [{ steps: [{ status: 400, body: { error: { message: "no such model" } } }] }],
    });
    await scene.answered(id, "Go");
    const failure = (await scene.runs()).find(({ status }) => status === "failed");
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    const branch = page.getByRole("region", { name: "Asked Codex" });
    await branch.getByText(failure?.error?.message as string).waitFor();
    expect(await branch.getByText("And the rest of it.").count()).toBe(0);
    await branch.getByRole("button", { name: "asked: Do the hard part" }).click();
    await branch.getByText("And the rest of it.").waitFor();
    await branch.getByRole("button", { name: "Why" }).click();
    await branch.getByText(failure?.error?.message as string).waitFor({ state: "detached" });
  });

  test("[PTH11] a delegation that could not be asked shows what was given and what was wrong with it", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Asks wrongly" });
    playByAgent(scene.model, { claude: [calls("agents_message", { agent: "codex" }), "Alas."] });
    await scene.answered(id, "Go");
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    const branch = page.getByRole("region", { name: "Asked another agent" });
    await branch.getByText(/agentId/).waitFor();
    expect(await branch.innerText()).not.toContain("No agent");
    await branch.getByRole("button", { name: "could not be asked" }).click();
    await branch.getByText("agent: codex").waitFor();
  });

  test("[PTH60] messages that are refused are asked for once, and again when somebody says so", async () => {
    const { home, path, id } = await written(3);
    const page = await browser.open(stage.gateway(), home);
    const gateway = await between(page);
    await page.getByRole("navigation", { name: "Threads" }).waitFor();
    gateway.refuse("thread/messages", REFUSED);
    const times = () => gateway.sent("thread/messages").filter(({ thread_id }) => thread_id === id).length;
    await go(page, path);
    const again = page.getByRole("alert").getByRole("button", { name: "Try again" });
    await again.click();
    await soon(async () => times()).toBe(2);
    await again.waitFor();
    gateway.refuse("thread/messages", undefined);
    await again.click();
    await message(page, 2).waitFor();
    expect(times()).toBe(3);
  });

  test("[PTH61] a message that is told while a page is read stays, whatever the page has", async () => {
    const { scene, home, path, id } = await written(3);
    const page = await browser.open(stage.gateway(), home);
    const wire = await wireOf(page);
    await page.getByRole("navigation", { name: "Threads" }).waitFor();
    wire.late("thread/messages");
    await go(page, path);
    await soon(async () => wire.held()).toBe(1);
    await scene.append(id, "Told before the page came");
    await soon(async () => wire.told.filter((name) => name === "message/appended").length).toBe(1);
    wire.letGo();
    await message(page, 2).waitFor();
    await said(page).getByText("Told before the page came").waitFor();
    wire.late("thread/messages");
    await go(page, `${path}/message/gone`);
    await soon(async () => wire.held()).toBe(1);
    await scene.append(id, "Told while one was looked for");
    await said(page).getByText("Told while one was looked for").waitFor();
    wire.letGo();
    await page.getByText("That message is not in this thread.").waitFor();
    expect(await said(page).getByText("Told while one was looked for").count()).toBe(1);
  });

  test("[PTH62] words in place of a message stay while it is scrolled away, in another thread and after a reload", async () => {
    const { scene, path } = await written(80);
    const other = await scene.start({ agent_id: "claude", title: "Another" });
    const page = await browser.open(stage.gateway(), path);
    await message(page, 79).waitFor();
    await said(page).locator('[data-item="m78"]').focus();
    await page.keyboard.press("r");
    const field = page.getByRole("textbox", { name: "Edit the message" });
    await field.fill("Other words");
    const box = page.locator(".scroll");
    for (let step = 0; step < 40 && !(await message(page, 10).isVisible()); step++) {
      await box.evaluate((element) => element.scrollBy(0, -500));
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    }
    await message(page, 10).waitFor();
    expect(await message(page, 60).count()).toBe(0);
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.type(", typed from afar");
    await soon(() => field.inputValue()).toBe("Other words, typed from afar");
    await message(page, 79).waitFor();
    await go(page, pathOf(scene, other.id));
    await said(page).getByText("Nothing has been said here yet").waitFor();
    await go(page, path);
    await soon(() => field.inputValue()).toBe("Other words, typed from afar");
    await page.reload();
    await soon(() => field.inputValue()).toBe("Other words, typed from afar");
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(false);
    await page.getByRole("button", { name: "Keep it" }).click();
    await message(page, 78).waitFor();
    await page.reload();
    await message(page, 78).waitFor();
    expect(await field.count()).toBe(0);
  });

  test("[PTH63] resending that fails and is tried again goes to the same fork, under the same key", async () => {
    const { scene, path, id } = await written(3);
    const page = await browser.open(stage.gateway(), path);
    const gateway = await between(page);
    await message(page, 2).waitFor();
    gateway.refuse("run/start", REFUSED);
    playByAgent(scene.model, { claude: ["Here it is."] });
    await said(page).locator('[data-item="m2"]').focus();
    await page.keyboard.press("r");
    const field = page.getByRole("textbox", { name: "Edit the message" });
    await field.fill("Asked otherwise");
    const times = async () => gateway.sent("run/start").length;
    for (const attempt of [1, 2]) {
      await page.getByRole("button", { name: "Resend", exact: true }).click();
      await soon(times).toBe(attempt);
      await page.locator(".btn:not([aria-disabled=true])", { hasText: "Resend" }).waitFor();
    }
    gateway.refuse("run/start", undefined);
    await page.getByRole("button", { name: "Resend", exact: true }).click();
    await said(page).getByText("Here it is.").waitFor();
    expect(page.url()).not.toContain(id);
    expect(gateway.sent("thread/fork")).toHaveLength(1);
    const sent = gateway.sent("run/start");
    expect(
      new Set(sent.map(({ thread_id, idempotency_key }) => `${thread_id} ${idempotency_key}`)).size,
    ).toBe(1);
  });

  test("[PTH64] an address that can't be read opens the page at its start", async () => {
    const page = await browser.open(stage.gateway(), "/");
    await page.goto(`${stage.gateway().url}/w/%E0%A4%A/thread/%`);
    await page.getByRole("navigation", { name: "Threads" }).waitFor();
  });

  test("[PTH65] where the gateway no longer has what was missed it is read anew, and who reads further up stays there", async () => {
    const { scene, path, id } = await written(110);
    const page = await browser.open(stage.gateway(), path, { tolerates: LOST });
    const wire = await wireOf(page);
    await message(page, 109).waitFor();
    const box = page.locator(".scroll");
    for (let step = 0; step < 60 && !(await message(page, 20).isVisible()); step++) {
      await box.evaluate((element) => element.scrollBy(0, -500));
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
    }
    await message(page, 20).waitFor();
    await page
      .locator('[data-item="m20"]')
      .evaluate((element) => element.scrollIntoView({ block: "center" }));
    const top = () =>
      page.locator('[data-item="m20"]').evaluate((element) => element.getBoundingClientRect().top);
    const before = await top();
    wire.cut();
    await scene.append(id, "Written meanwhile");
    wire.mendForgetful();
    await page.getByRole("button", { name: "1 new" }).waitFor();
    expect(Math.abs((await top()) - before)).toBeLessThan(2);
    await page.getByRole("button", { name: "1 new" }).click();
    await said(page).getByText("Written meanwhile").waitFor();
  });

  test("[PTH65] runs that were known are known when what was missed is read anew", async () => {
    const path = await failed();
    const page = await browser.open(stage.gateway(), path, { tolerates: LOST });
    const wire = await wireOf(page);
    const card = said(page).locator(".fail");
    await card.waitFor();
    wire.late("run/list");
    wire.cut();
    wire.mendForgetful();
    await soon(async () => wire.held()).toBeGreaterThan(1);
    await card.waitFor();
    wire.letGo();
    await page.getByRole("button", { name: "Try again" }).waitFor();
    await card.waitFor();
  });

  test("[PTH66] runs whose list got lost with the connection are asked for again with the next one", async () => {
    const path = await failed();
    const page = await browser.open(stage.gateway(), path.replace(/\/thread.*/, ""), { tolerates: LOST });
    const wire = await wireOf(page);
    await page.getByRole("navigation", { name: "Threads" }).waitFor();
    wire.breakAt(({ method, params }) => method === "run/list" && params.thread_id !== undefined);
    await go(page, path);
    await said(page).locator(".fail").waitFor();
  });

  test("[PTH66] words are heard although asking for them was lost with the connection", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Lost" });
    playByAgent(scene.model, {
      claude: [{ steps: [{ text: "Half of" }, { gate: "rest" }, { text: " it." }] }],
    });
    const page = await browser.open(stage.gateway(), `/w/${scene.workspace_id}`, { tolerates: LOST });
    const wire = await wireOf(page);
    await page.getByRole("navigation", { name: "Threads" }).waitFor();
    wire.breakAt(({ method, params }) => method === "subscribe" && params.thread_id === id);
    await go(page, pathOf(scene, id));
    const { run } = await scene.startRun(id, "go");
    await said(page).getByText("Half of").waitFor();
    stage.model().open("rest");
    await scene.ended(run.id);
    await said(page).getByText("Half of it.").waitFor();
  });
});
