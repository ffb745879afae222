import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { pageBrowser, shot } from "../support/page/browser.js";
import { textsOf, threadPath } from "../support/page/inspector.js";
import { agentAt, apis, calls, type RunScene, runStage, says } from "../support/runs.js";
import { sqliteStore, temporaryDirectory } from "../support/stores.js";

/** A hook with more to say than it has room for, when it is asked to. */
const LONG = `
  const run = ({ input }) => input.includes("LONG")
    ? { contributions: [{ kind: "prompt_section", section_id: "long", title: "From a hook", content: "a line of it\\n".repeat(60) }] }
    : undefined;
  const subscription = { hook_id: "long.hook", phase: "turn.pre_prompt_compile", execution: "blocking", budget: 200, run };
  export default { id: "long", contributes: ["prompt_section"], subscriptions: [subscription] };`;

function config(url: string) {
  const module = join(temporaryDirectory(), "long.mjs");
  writeFileSync(module, LONG);
  return {
    agents: [agentAt(url, apis[0], { systemPrompt: "You are calm.", toolDenylist: ["*_delete"] })],
    plugins: {},
    hooks: [{ module }],
  };
}

const DOC = Array.from({ length: 30 }, (_, at) => `- Rule ${at} holds.`).join("\n");

describe.skipIf(inject("chromium") === "")("the context at full width [browser]", () => {
  const stage = runStage(sqliteStore, { config });
  const browser = pageBrowser();

  /** Three runs, the last of them after AGENTS.md was changed. */
  async function played(scene: RunScene) {
    const folder_id = await scene.folder("Backend");
    await scene.saveDoc(DOC, folder_id);
    const { id } = await scene.start({ folder_id, title: "Webhooks" });
    scene.plays(calls("system_time"), says("Late."), says("Two."), says("Three."));
    const first = await scene.answered(id, "One?");
    const second = await scene.answered(id, "Two?");
    await scene.saveDoc(
      `${DOC.replace("Rule 7 holds", "Rule 7 always holds")}\n- Rule 30 is new.`,
      folder_id,
    );
    const third = await scene.answered(id, "Three?");
    return { id, first, second, third };
  }

  test("[PIN30] shift I and the button show it and leave it, Escape leaves, and the address says what is shown", async () => {
    const scene = await stage.scene();
    const { id, first, third } = await played(scene);
    const page = await browser.open(stage.gateway(), threadPath(scene, id));
    await page.getByRole("list", { name: "Sections, in the order sent" }).waitFor();
    await page.getByRole("tab", { name: "Context" }).press("Shift+I");
    await page.getByRole("heading", { name: "Context of run 3, step 1", level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe(threadPath(scene, id, "/context"));
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Full width" }).click();
    await page.getByRole("button", { name: "Leave full width" }).click();
    await page.getByRole("tab", { name: "Context" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Context of run 3, step 1" }).waitFor();
    await page.getByRole("button", { name: "Exact text" }).click();
    expect(new URL(page.url()).search).toBe("?full=1&show=text");
    await page.goto(
      stage.gateway().url + threadPath(scene, id, `/context/${first.id}/1?full=1&compare=${third.id}`),
    );
    await page.getByRole("heading", { name: "Context of run 1, step 1" }).waitFor();
    await page.getByText("Against run 3").first().waitFor();
    await page.getByRole("button", { name: "Step 1 of 2, choose another" }).press("Enter");
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Context of run 1, step 1" }).waitFor();
    expect(new URL(page.url()).pathname).toBe(threadPath(scene, id, `/context/${first.id}/1`));
  });

  test("[PIN31] each section says whether it is the same, and both bars stand on one scale", async () => {
    const scene = await stage.scene();
    const { id, second, third } = await played(scene);
    const page = await browser.open(
      stage.gateway(),
      threadPath(scene, id, `/context/${third.id}?full=1&compare=${second.id}`),
    );
    const changes = page.locator(".tb .chg");
    await expect.poll(() => changes.count()).toBeGreaterThan(3);
    const [was, is] = [await scene.manifest(second.id), await scene.manifest(third.id)];
    const rows = await page
      .locator(".tb")
      .evaluateAll((all) =>
        all.map((row) => [row.getAttribute("data-section"), row.querySelector(".chg")?.textContent]),
      );
    const tokens = (manifest: typeof is) =>
      manifest.sections.find(({ id: section }) => section === "agents_md")?.tokens_estimate ?? 0;
    const more = is.history.tokens_estimate - was.history.tokens_estimate;
    expect(rows).toEqual([
      ["base", "same bytes"],
      ["agents_md", `+${tokens(is) - tokens(was)} v1 to v2`],
      ["tools", "same bytes"],
      ["message_context", "same bytes"],
      ["+definitions", "same bytes"],
      ["+history", `+${more} 2 messages`],
    ]);
    const width = (at: number) =>
      page
        .locator(".bars .stack")
        .nth(at)
        .evaluate((bar) => bar.getBoundingClientRect().width);
    expect((await width(1)) / (await width(0))).toBeCloseTo(
      was.window.tokens_estimate / is.window.tokens_estimate,
      2,
    );
    await page.getByText("the cache restarts at AGENTS.md").waitFor();
    await page.getByText("2 sections changed").waitFor();
    await page.getByText("5 events, same bytes").waitFor();
    await shot(page, "inspector-full");
  });

  test("[PIN32] the selected section shows its words against the compared run's", async () => {
    const scene = await stage.scene();
    const { id, third } = await played(scene);
    const page = await browser.open(stage.gateway(), threadPath(scene, id, `/context/${third.id}?full=1`));
    await page.getByRole("heading", { name: "AGENTS.md", level: 2 }).waitFor();
    await page.getByText("18 lines unchanged").waitFor();
    expect(await textsOf(page, ".text .diff .a mark")).toEqual(["2", "always "]);
    expect(await textsOf(page, ".text .diff .a > span:last-child")).toContain("- Rule 30 is new.");
    await page.getByText("18 lines unchanged").click();
    const lines = await textsOf(page, ".text .diff-rows > div:not(.d) > span:last-child");
    const { messages } = await scene.context(third.id);
    expect(lines.join("\n")).toBe(messages.find(({ section_id }) => section_id === "agents_md")?.content);
    await page.getByRole("button", { name: "Available tools", exact: true }).click();
    await page.getByRole("heading", { name: "Available tools", level: 2 }).waitFor();
    const tools = async () => (await textsOf(page, ".text .diff-rows > div > span:last-child")).join("\n");
    await expect.poll(tools).toBe(messages.find(({ section_id }) => section_id === "tools")?.content);
    await page.getByRole("button", { name: "History", exact: true }).click();
    await expect.poll(() => page.locator(".text .diff .a").count()).toBe(2);
  });

  test("[PIN33] another run can be compared with, and none", async () => {
    const scene = await stage.scene();
    const { id, first, third } = await played(scene);
    const page = await browser.open(stage.gateway(), threadPath(scene, id, `/context/${third.id}?full=1`));
    await page.getByRole("button", { name: "Compared with run 2, choose another" }).click();
    await page.getByRole("menuitemradio", { name: /^Run 1/ }).click();
    await page.locator(".tb .chg", { hasText: "4 messages" }).waitFor();
    expect(new URL(page.url()).searchParams.get("compare")).toBe(first.id);
    await page.getByRole("switch", { name: "Compare with another run" }).click();
    await expect.poll(() => page.locator(".tb .chg").count()).toBe(0);
    expect(new URL(page.url()).searchParams.get("compare")).toBe("none");
    expect(await page.locator(".text .diff .a").count()).toBe(0);
    await page.getByRole("switch", { name: "Compare with another run" }).press("Space");
    await page.getByText("Against run 2").first().waitFor();
  });

  test("[PIN34] what was cut is shown where it was when asked for, of a document and of any other section", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    const doc = Array.from({ length: 900 }, (_, at) => `Rule ${at} of many.`).join("\n");
    await scene.saveDoc(doc);
    scene.plays("Yes.");
    const run = await scene.answered(id, "LONG, please.");
    const { messages } = await scene.context(run.id);
    const told = String(messages.find(({ section_id }) => section_id === "agents_md")?.content);
    const missing = Number(/\[… (\d+) characters cut\]/.exec(told)?.[1]);
    const page = await browser.open(stage.gateway(), threadPath(scene, id, `/context/${run.id}?full=1`));
    await page.getByRole("button", { name: "Show", exact: true }).click();
    const cut = page.locator(".cut-words");
    await expect.poll(() => cut.textContent()).toBe(doc.slice(1 - missing));
    expect(await cut.evaluate((box) => getComputedStyle(box).borderTopStyle)).toBe("dashed");
    await shot(page, "inspector-cut-text");
    const isBetween = () =>
      page.locator(".diff").evaluate((text) => {
        const lines = [...text.querySelectorAll(".diff-rows > div")];
        const at = lines.findIndex((line) => /characters cut\]/.test(line.textContent ?? ""));
        const box = text.querySelector(".cutmark") as Element;
        const follows = (one?: Element, two?: Element) =>
          Boolean(one && two && one.compareDocumentPosition(two) & Node.DOCUMENT_POSITION_FOLLOWING);
        return follows(lines[at], box) && follows(box, lines[at + 1]);
      });
    // The end of what is around a document comes after the cut.
    expect(await isBetween()).toBe(true);
    const row = page.locator("[data-section=long]");
    await row.getByRole("button", { name: "Show what was cut" }).click();
    await expect.poll(() => cut.textContent()).toMatch(/^(a line of it\n)+$/);
    await page.goto(`${stage.gateway().url}${threadPath(scene, id, `/context/${run.id}?full=1&show=text`)}`);
    await page.getByRole("button", { name: "Show", exact: true }).first().click();
    await expect.poll(() => cut.textContent()).toBe(doc.slice(1 - missing));
    await page.goto(`${stage.gateway().url}${threadPath(scene, id, `/context/${run.id}`)}`);
    await page.getByRole("button", { name: "From a hook" }).click();
    await page.locator(".sec-detail").getByRole("button", { name: "Show", exact: true }).click();
    await page.locator(".sec-detail .cut-words").getByText("a line of it").waitFor();
    await shot(page, "inspector-cut-pane");
  });
});
