import { describe, expect, inject, test } from "vitest";
import { pageBrowser, shot } from "../support/page/browser.js";
import { counted, shownRows, textsOf, threadPath, tokensOf } from "../support/page/inspector.js";
import { agentAt, apis, calls, runStage, says } from "../support/runs.js";
import { sqliteStore } from "../support/stores.js";

const config = (url: string) => ({
  agents: [
    agentAt(url, apis[0], { systemPrompt: "You are calm.", toolDenylist: ["*_delete"] }),
    agentAt(url, apis[0], { agentId: "bare", displayName: "Bare", toolAllowlist: [] }),
    agentAt(url, apis[0], {
      agentId: "small",
      displayName: "Small",
      systemPrompt: "Short.",
      toolAllowlist: [],
      chat: { contextWindow: 2_000, maxTokens: 200 },
    }),
  ],
  plugins: {},
});

describe.skipIf(inject("chromium") === "")("the inspector [browser]", () => {
  const stage = runStage(sqliteStore, { config });
  const browser = pageBrowser();

  test("[PIN1] [PIN2] [PIN5] sections stand in the order sent, with their sizes, sources and refused tools", async () => {
    const scene = await stage.scene();
    const folder_id = await scene.folder("Backend");
    const inner = await scene.folder("Payments", folder_id);
    await scene.saveDoc("Be brief.", folder_id);
    scene.plays("Yes.");
    const { id } = await scene.start({ folder_id: inner });
    const run = await scene.answered(id, "Are you there?");
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    await page.getByRole("list", { name: "Sections, in the order sent" }).waitFor();
    const manifest = await scene.manifest(run.id);
    const rows = await shownRows(page);
    expect(Object.fromEntries(rows.map(({ id: row, tokens }) => [row, tokens]))).toEqual(tokensOf(manifest));
    expect(rows.map(({ id: row }) => row)).toEqual([
      ...manifest.sections.map(({ id: section }) => section),
      "+definitions",
      "+history",
    ]);
    expect(rows.find(({ id: row }) => row === "agents_md")?.source).toBe("Backend/AGENTS.md v1, inherited");
    const doc = page.getByRole("link", { name: "Backend/AGENTS.md v1" }).and(page.locator(".sec a"));
    expect(await doc.getAttribute("href")).toBe(`/w/${scene.workspace_id}/agents-md/${folder_id}?version=1`);
    expect(rows[0]).toMatchObject({ title: "Base prompt", source: "Agent openai-compatible, systemPrompt" });
    const refused = manifest.tools.filter(({ offered }) => !offered);
    expect(refused.length).toBeGreaterThan(0);
    expect(rows.find(({ id: row }) => row === "tools")?.source).toContain(`${refused.length} refused`);
    await page.getByRole("button", { name: "Available tools", exact: true }).click();
    const reasons = page.locator(".refused > div");
    expect(await reasons.count()).toBe(refused.length);
    expect(await reasons.first().textContent()).toBe(`${refused[0]?.name}${refused[0]?.reason}`);
    expect(await reasons.first().textContent()).toContain("in the agent's toolDenylist (*_delete)");
    await shot(page, "inspector-refused");
  });

  test("[PIN5] a row that is opened shows its exact text", async () => {
    const scene = await stage.scene();
    await scene.saveDoc("Be <b>brief</b>.\n\n\tTabs, “quotes” and   spaces stay.");
    scene.plays("Yes.");
    const { id } = await scene.start();
    const run = await scene.answered(id, "Hello?");
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    await page
      .getByRole("button", { name: "AGENTS.md", exact: true })
      .and(page.locator("[data-row]"))
      .click();
    const text = page.getByLabel("Text of AGENTS.md");
    const { messages } = await scene.context(run.id);
    const told = messages.find(({ section_id }) => section_id === "agents_md")?.content;
    await expect.poll(() => text.textContent()).toBe(told);
    await page.getByRole("button", { name: "History", exact: true }).click();
    await page.locator(".section-said").getByText("Hello?").waitFor();
  });

  test("[PIN3] an estimate says about; what the provider counted does not", async () => {
    const scene = await stage.scene();
    scene.plays("Uncounted.", counted("Counted.", 4_321));
    const { id } = await scene.start();
    await scene.answered(id, "One?");
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    const total = page.locator(".insp .total");
    const first = await scene.manifest((await scene.runs(id))[0]?.id as string);
    await expect
      .poll(() => total.textContent())
      .toBe(`about${first.window.tokens_estimate.toLocaleString("en-US")}tokens sent`);
    await scene.answered(id, "Two?");
    await expect.poll(() => total.textContent()).toMatch(/^4,321tokens sentestimated about [\d,]+$/);
  });

  test("[PIN4] what was cut names its limit, and what was left out its window", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "bare" });
    await scene.saveDoc(Array.from({ length: 900 }, (_, at) => `Rule ${at} of many.`).join("\n"));
    scene.plays("Yes.");
    const run = await scene.answered(id, "Hello?");
    const { messages } = await scene.context(run.id);
    const told = String(messages.find(({ section_id }) => section_id === "agents_md")?.content);
    const missing = Number(/\[… (\d+) characters cut\]/.exec(told)?.[1]);
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    const row = page.locator("[data-section=agents_md]");
    await row.getByText(`${missing.toLocaleString("en-US")} characters cut, hook budget 16,000`).waitFor();
    await shot(page, "inspector-cut");
  });

  test("[PIN4] [PIN34] messages that had no room are counted, and shown when asked for", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "small" });
    const long = (name: string) => `${name} ${"lorem ipsum ".repeat(100)}`;
    scene.plays(...Array.from({ length: 6 }, (_, at) => says(long(`answer${at}`))));
    for (let at = 0; at < 6; at++) await scene.answered(id, long(`question${at}`));
    const [run] = await scene.runs(id);
    const { dropped = [] } = await scene.manifest(run?.id as string);
    expect(dropped.length).toBeGreaterThan(1);
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    const row = page.locator("[data-section='+history']");
    await row.getByText(`${dropped.length} oldest left out, context window 2,000`).waitFor();
    await page.goto(stage.gateway().url + threadPath(scene, id, `/context/${run?.id}?full=1`));
    await page.getByRole("button", { name: "History", exact: true }).click();
    await page.getByRole("button", { name: "Show", exact: true }).click();
    await page.locator(".cut-words").getByText("question0").waitFor();
    await expect.poll(() => page.locator(".cut-words .diff-rows > div").count()).toBe(dropped.length);
    await shot(page, "inspector-left-out");
  });

  test("[PIN6] any step of any run can be chosen; the address names it and Back leads back", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays(calls("system_time"), says("It is late."), says("Good night."));
    const first = await scene.answered(id, "What time is it?");
    await scene.answered(id, "Thank you.");
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    await page.getByRole("button", { name: "Run 2, choose another" }).click();
    await page.getByRole("menuitemradio", { name: /^Run 1/ }).click();
    await page.getByRole("button", { name: "Step 2 of 2, choose another" }).click();
    await page.getByRole("menuitemradio", { name: "Step 1" }).click();
    expect(new URL(page.url()).pathname).toBe(threadPath(scene, id, `/context/${first.id}/1`));
    await page.getByText("1 message", { exact: true }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Step 2 of 2, choose another" }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Run 2, choose another" }).waitFor();
    await page.goto(stage.gateway().url + threadPath(scene, id, `/context/${first.id}/1`));
    await page.getByRole("button", { name: "Step 1 of 2, choose another" }).waitFor();
    expect((await shownRows(page)).find(({ id: row }) => row === "+history")?.source).toBe("1 message");
  });

  test("[PIN7] a changed AGENTS.md is named in the difference from the run before", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays("One.", "Two.", "Three.");
    await scene.saveDoc("Be brief.");
    const first = await scene.answered(id, "One?");
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    await page.getByText("The first run of this thread").waitFor();
    await scene.saveDoc("Be brief and kind, whatever happens.");
    const second = await scene.answered(id, "Two?");
    const [was, is] = [await scene.manifest(first.id), await scene.manifest(second.id)];
    const more = is.window.tokens_estimate - was.window.tokens_estimate;
    const line = page.locator(".delta-line");
    await expect.poll(() => line.textContent()).toContain(`${more} more than run 1: AGENTS.md, history`);
    await page.getByRole("link", { name: "Compare" }).click();
    expect(new URL(page.url()).search).toBe(`?full=1&compare=${first.id}`);
  });

  test("[PIN8] [PIN54] before anything was sent there is a way to the preview, and a run that is not there says so", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    await page.getByText("Nothing has been sent yet").waitFor();
    await page.getByRole("button", { name: "Preview next" }).click();
    await page.getByRole("region", { name: "Would be sent now" }).getByText("Base prompt").waitFor();
    expect(scene.model.requests).toHaveLength(0);
    await page.goto(stage.gateway().url + threadPath(scene, id, "/context/run_01M7J1DNCH8CC8ANFF9955ZS66"));
    await page.getByRole("alert").getByText("run.not_found").waitFor();
  });

  test("[PIN20] exact text is what the wire says, message by message", async () => {
    const scene = await stage.scene();
    await scene.saveDoc("Be brief.\r\n\r\n  Indented & <tagged>.");
    const { id } = await scene.start();
    scene.plays(calls("system_time"), says("It is late.\n\n- a\n- b"), says("Good night."));
    await scene.answered(id, "What time is it?");
    const run = await scene.answered(id, "Thank\tyou.  ");
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    await page.getByRole("button", { name: "Exact text" }).click();
    await page.getByText("Every message, in the order sent").waitFor();
    const { messages } = await scene.context(run.id);
    expect(await textsOf(page, ".words:not(.call-words)")).toEqual(messages.map(({ content }) => content));
    await shot(page, "inspector-exact-text");
  });

  test("[PIN21] the request is what the server got, to the byte, and so is what is copied", async () => {
    const scene = await stage.scene();
    await scene.saveDoc("Be brief: “quotes”, é, 😀 and \\ stay.");
    const { id } = await scene.start();
    scene.plays("Yes.");
    await scene.answered(id, "Hello\u2028there?");
    const page = await browser.open(stage.gateway(), threadPath(scene, id), {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await page.getByRole("button", { name: "Request", exact: true }).click();
    await page.getByText("Sent, byte for byte").waitFor();
    const received = await scene.received(0);
    expect((await textsOf(page, ".body-words")).join("")).toBe(JSON.stringify(JSON.parse(received), null, 2));
    await page.getByRole("button", { name: "As sent", exact: true }).click();
    expect((await textsOf(page, ".body-words")).join("")).toBe(received);
    await page.getByRole("button", { name: "Copy the request as sent" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(received);
  });
});
