import { describe, expect, inject, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tools/index.js";
import { playByAgent } from "../support/agents.js";
import { childOf, delegates } from "../support/delegation.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { calls, type RunScene } from "../support/runs.js";
import { pathOf, said, soon, threadStage } from "./thread-scenes.js";
import { go } from "./thread-wire.js";

const made: string[] = [];
const risky = defineTool({
  name: "risky_work",
  description: "Does something that somebody should know of.",
  parameters: z.strictObject({ what: z.string() }),
  capabilities: ["risky"],
  safeToRepeat: false,
  asks: true,
  run: ({ what }) => {
    made.push(what);
    return { status: "completed" as const, output: `did ${what.slice(0, 20)}` };
  },
});

const odd = defineTool({
  name: "odd_write",
  description: "Takes whatever it is given.",
  parameters: z.looseObject({}),
  capabilities: ["odd"],
  safeToRepeat: false,
  asks: true,
  run: () => ({ status: "completed" as const, output: "did it" }),
});

/** Arguments of which one looks like what is asked for and another is it, with what must be read on the card. */
const MISLEADING: readonly (readonly [object, readonly string[]])[] = [
  [
    {
      path: "README.md",
      file_path: "/home/u/.ssh/authorized_keys",
      old_string: "",
      new_string: "ssh-rsa AAAA",
    },
    ["README.md", "file_path: /home/u/.ssh/authorized_keys", "ssh-rsa AAAA"],
  ],
  [{ command: "ls", cmd: ["rm", "-rf", "/"] }, ["ls", 'cmd: ["rm","-rf","/"]']],
  [
    { path: "a.ts", old_text: "one", new_text: "two", old_string: "x", new_string: "y", content: "all else" },
    ["a.ts", "old_string: x", "new_string: y", "content: all else"],
  ],
  [
    { path: "a.ts", content: "drawn", new_text: "only one of two" },
    ["a.ts", "drawn", "new_text: only one of two"],
  ],
  [{ command: "ls", note: "fine\ncmd: ls" }, ["ls", 'note: "fine\\ncmd: ls"']],
];

describe.skipIf(inject("chromium") === "")("approvals in a thread [browser]", () => {
  const stage = threadStage({ options: { tools: [risky, odd] } });
  const browser = pageBrowser();

  async function asked(scene: RunScene, what: string) {
    const { id } = await scene.start({ agent_id: "codex", title: "Asks" });
    playByAgent(scene.model, { codex: [calls("risky_work", { what }), "Done with it."] });
    const { run } = await scene.startRun(id, "go");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    return { id, run, path: pathOf(scene, id) };
  }

  test("[PTH20] a call that asks shows what exactly, never takes the focus, and folds to a row when it is answered", async () => {
    const scene = await stage.scene();
    const { path, run } = await asked(scene, "wipe the cache");
    const page = await browser.open(stage.gateway(), path);
    const card = page.getByRole("group", { name: "Codex wants to use risky_work" });
    await card.waitFor();
    await card.getByText("wipe the cache").waitFor();
    expect(await page.evaluate(() => document.activeElement?.closest(".ask"))).toBeNull();
    await page.getByText("Waiting for you").first().waitFor();
    await shot(page, "thread-asks");
    await card.getByRole("button", { name: "Allow once" }).dblclick();
    const row = said(page).getByText(/^Allowed once, \d\d:\d\d$/);
    await row.waitFor();
    await card.waitFor({ state: "detached" });
    await scene.ended(run.id);
    await said(page).getByText("Done with it.").waitFor();
    await row.waitFor();
    expect(made.filter((what) => what === "wipe the cache")).toHaveLength(1);
    expect(await page.getByText("does not wait for an answer").count()).toBe(0);
    // Who was not there is told the same.
    const words = await row.textContent();
    await page.reload();
    await soon(() => row.textContent()).toBe(words);
    const elsewhere = await browser.open(stage.gateway(), path);
    await soon(() =>
      said(elsewhere)
        .getByText(/^Allowed once/)
        .textContent(),
    ).toBe(words);
    await shot(elsewhere, "thread-allowed-elsewhere");
  });

  test("[PTH25] a card names the rule it asks by only where there is one, and leads to what its agent may do", async () => {
    const scene = await stage.scene();
    const { path } = await asked(scene, "wipe the cache");
    const page = await browser.open(stage.gateway(), path);
    const card = page.getByRole("group", { name: "Codex wants to use risky_work" });
    await card.getByText("risky_work asks before it is used.").waitFor();
    expect(await card.getByText("toolApprovals").count()).toBe(0);
    await card.getByRole("button", { name: "What Codex may do" }).click();
    await page.getByRole("dialog").getByText("Asks for").waitFor();
    await page.keyboard.press("Escape");
    await card.focus();
    await page.keyboard.press("a");
    await card.waitFor({ state: "detached" });
    const { id } = await scene.start({ agent_id: "codex", title: "By a rule" });
    playByAgent(scene.model, { codex: [calls("odd_write", { a: "b" }), "Written."] });
    await scene.startRun(id, "go");
    const other = await browser.open(stage.gateway(), pathOf(scene, id));
    await other.getByText("odd_write asks, by Codex’s rule odd_*.").waitFor();
    // Its message has the focus now: no letter falls through to the page.
    await soon(() => page.evaluate(() => document.activeElement?.closest("[data-item], .dock") != null)).toBe(
      true,
    );
  });

  test("[PTH24] a card leaves out no argument, whatever else is drawn of them", async () => {
    const scene = await stage.scene();
    const page = await browser.open(stage.gateway(), `/w/${scene.workspace_id}`);
    await page.getByRole("navigation", { name: "Threads" }).waitFor();
    for (const [given, read] of MISLEADING) {
      const { id } = await scene.start({ agent_id: "codex", title: "Misleads" });
      playByAgent(scene.model, { codex: [calls("odd_write", given), "Denied, then."] });
      const { run } = await scene.startRun(id, "go");
      await scene.changed(run.id, ({ status }) => status === "waiting");
      await go(page, pathOf(scene, id));
      const card = page.getByRole("group", { name: "Codex wants to write a file" });
      await card.waitFor();
      const shown = await card.innerText();
      for (const each of read) expect(shown).toContain(each);
      await card.getByRole("button", { name: "Deny" }).click();
      await scene.ended(run.id);
    }
  });

  test("[PTH24] a path on a card is never cut: its end says where it leads", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "codex", title: "Leads away" });
    const path = `docs/${"a/../".repeat(80)}../../.ssh/authorized_keys`;
    playByAgent(scene.model, { codex: [calls("odd_write", { path, content: "key" }), "Denied, then."] });
    const { run } = await scene.startRun(id, "go");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    const shown = page.getByRole("group", { name: "Codex wants to write a file" }).getByText(path);
    await shown.waitFor();
    expect(
      await shown.evaluate((element) => {
        const { bottom, right } = (element.parentElement as HTMLElement).getBoundingClientRect();
        const own = element.getBoundingClientRect();
        return element.scrollWidth <= element.clientWidth + 1 && own.bottom <= bottom && own.right <= right;
      }),
    ).toBe(true);
    await shot(page, "thread-asks-path");
  });

  test("[PTH21] with the focus on a card A allows, Shift A always allows and D denies", async () => {
    const scene = await stage.scene();
    const denied = await asked(scene, "denied by key");
    const page = await browser.open(stage.gateway(), denied.path);
    const card = page.getByRole("group", { name: "Codex wants to use risky_work" });
    await card.focus();
    await page.keyboard.press("d");
    await said(page)
      .getByText(/^Denied, /)
      .waitFor();
    await scene.ended(denied.run.id);
    expect(made).not.toContain("denied by key");
    playByAgent(scene.model, { codex: [calls("risky_work", { what: "always by key" }), "And again."] });
    await scene.startRun(denied.id, "again");
    await card.focus();
    await page.keyboard.press("Shift+A");
    await said(page)
      .getByText(/^Always allowed in this thread, /)
      .waitFor();
    await said(page).getByText("And again.").waitFor();
    expect((await scene.get(denied.id)).granted_tools).toEqual(["risky_work"]);
  });

  test("[PTH22] what was cut for lists is read whole before it can be allowed", async () => {
    const scene = await stage.scene();
    const { path, run } = await asked(scene, `${"a".repeat(3_000)} and then the end of it`);
    const page = await browser.open(stage.gateway(), path);
    const card = page.getByRole("group", { name: "Codex wants to use risky_work" });
    await card.getByText("and then the end of it").waitFor();
    await card.getByRole("button", { name: "Deny" }).click();
    await scene.ended(run.id);
  });

  test("[PTH23] what a delegate asks stands in the branch too, and is answered for both; a card that is out of view is named above the composer", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Parent" });
    playByAgent(scene.model, {
      claude: [delegates({ agentId: "codex", content: "Do the risky part", mode: "sync" }), "All is done."],
      codex: [calls("risky_work", { what: "delegated" }), "It went well."],
    });
    for (let n = 0; n < 30; n++) await scene.append(id, `Earlier ${n}`);
    const { run } = await scene.startRun(id, "go");
    const child = await childOf(scene, "codex", "waiting");
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    const branch = page.getByRole("region", { name: "Asked Codex" });
    const card = branch.getByRole("group", { name: "Codex wants to use risky_work" });
    await card.waitFor();
    await branch.getByText("Waiting for you").waitFor();
    await page.locator(".scroll").evaluate((element) => element.scrollTo(0, 0));
    const bar = page.locator(".unseen");
    await bar.getByText("Codex wants to use risky_work").waitFor();
    await bar.getByRole("button", { name: "Show" }).click();
    await bar.waitFor({ state: "detached" });
    const other = await browser.again(page, pathOf(scene, child.thread_id));
    const there = other.getByRole("group", { name: "Codex wants to use risky_work" });
    await there.getByRole("button", { name: "Allow once" }).click();
    await card.waitFor({ state: "detached" });
    await scene.ended(run.id);
    await branch.getByText(/^Answered/).waitFor();
    await branch.getByText(/^Allowed once, /).waitFor();
    await branch.getByRole("button", { name: /It went well/ }).click();
    await said(page).getByText("All is done.").waitFor();
    await soon(() => branch.getByRole("link").getAttribute("href")).toContain(child.thread_id);
  });
});
