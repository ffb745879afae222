import { describe, expect, inject, test } from "vitest";
import { playByAgent } from "../support/agents.js";
import { axeFinds } from "../support/page/axe.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { says } from "../support/runs.js";
import { pathOf, said, soon, threadStage } from "./thread-scenes.js";

describe.skipIf(inject("chromium") === "")("a thread [browser]", () => {
  const stage = threadStage();
  const browser = pageBrowser();

  test("[PTH1] a thread shows its messages, its agent, its place and its name, and a run as it goes", async () => {
    const scene = await stage.scene();
    const { path, end, run } = await stage.streaming(scene);
    const page = await browser.open(stage.gateway(), path);
    await page.getByRole("heading", { level: 1, name: "Webhooks book twice" }).waitFor();
    const header = page.getByRole("main").getByRole("banner").or(page.locator("main > header"));
    await header.getByText(/^Running \d:\d\d$/).waitFor();
    await header.getByRole("link", { name: "Payments" }).waitFor();
    await said(page).getByText("sees the row and answers").waitFor();
    await said(page)
      .getByRole("button", { name: /files_edit.*webhook\.ts.*\+4 −2/s })
      .waitFor();
    await said(page)
      .getByRole("button", { name: /bash.*npm test.*18 passed/s })
      .waitFor();
    expect(
      await said(page)
        .getByRole("group", { name: /^Changes in/ })
        .count(),
    ).toBe(1);
    await shot(page, "thread-light");
    end();
    await scene.ended(run.id);
    await said(page).getByText("without booking again").waitFor();
    await header.getByText(/^Running/).waitFor({ state: "detached" });
  });

  test("[PTH2] while a run is said nothing above the line being written moves, nor when it becomes a message", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Long" });
    const paragraph = (n: number) =>
      `Paragraph ${n} with **strong** words, \`code\` and more to read. `.repeat(4);
    const text = [
      ...Array.from({ length: 12 }, (_, n) => `${paragraph(n)}\n\n`),
      "```ts\nconst a = 1;\n",
      "const b = 2;\n```\n\n",
      "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
      "- one\n- two\n\nThe end of it",
    ];
    playByAgent(scene.model, {
      claude: [
        {
          steps: [
            { text: text.slice(0, 9) },
            { gate: "on" },
            { text: text.slice(9) },
            { gate: "off" },
            { text: "." },
          ],
        },
      ],
    });
    const page = await browser.open(stage.gateway(), pathOf(scene, id), {
      viewport: { width: 1440, height: 900 },
    });
    await page.getByRole("textbox", { name: /message/i }).waitFor();
    await page.evaluate(() => {
      const shifts: string[] = [];
      Object.assign(window, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries() as unknown as Shift[])
          shifts.push(...entry.sources.filter(({ node }) => isAbove(node)).map(nameOf));
      }).observe({ type: "layout-shift", buffered: false });
      interface Shift {
        sources: { node: Node | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[];
      }
      /** The header and the messages; what is gone from the page was part of the line being written. */
      function isAbove(node: Node | null): boolean {
        const element = node instanceof Element ? node : node?.parentElement;
        return element?.closest(".scroll, main > header") != null;
      }
      function nameOf({ node, previousRect: from, currentRect: to }: Shift["sources"][number]): string {
        const element = node instanceof Element ? node : node?.parentElement;
        return `${element?.className || element?.tagName} ${from.x},${from.y} to ${to.x},${to.y}`;
      }
    });
    const { run } = await scene.startRun(id, "Write a lot.");
    await said(page).getByText("Paragraph 8 with").waitFor();
    // Each finished block is marked; one that was laid out again as another element has lost its mark.
    const blocks = await page.evaluate(() => {
      const all = [...document.querySelectorAll<HTMLElement>(".said .md")];
      for (const [at, block] of all.entries()) Object.assign(block, { marked: at });
      return all.length;
    });
    expect(blocks).toBeGreaterThan(6);
    stage.model().open("on");
    await said(page).getByText("The end of it").waitFor();
    const before = await layout(page);
    stage.model().open("off");
    await scene.ended(run.id);
    await said(page).getByText("The end of it.").waitFor();
    await page.locator(".turn.live").waitFor({ state: "detached" });
    const after = await layout(page);
    expect(after.tops.slice(0, -1)).toEqual(before.tops.slice(0, -1));
    expect(after.marks).toBe(blocks);
    expect(after.fromEnd).toBeLessThan(2);
    expect(await page.evaluate(() => (window as unknown as { shifts: string[] }).shifts)).toEqual([]);
  });

  test("[PTH3] scrolled away the view stays where it is, and says how much is new", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Away" });
    for (let n = 0; n < 40; n++) await scene.append(id, `Message ${n}`);
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    await said(page).getByText("Message 39", { exact: true }).waitFor();
    const box = page.locator(".scroll");
    await box.evaluate((element) => element.scrollBy(0, -600));
    await soon(async () => (await topOf(page))[1]).toBeLessThan(64);
    const first = await topOf(page);
    playByAgent(scene.model, { claude: [says(["An answer\n\n", "of several\n\n", "paragraphs."])] });
    const { run } = await scene.startRun(id, "Say something.");
    await scene.ended(run.id);
    const fresh = page.getByRole("button", { name: "2 new" });
    await fresh.waitFor();
    expect(await topOf(page)).toEqual(first);
    await fresh.click();
    await said(page).getByText("paragraphs.").waitFor();
    await soon(() => box.evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight)).toBeLessThan(2);
    await fresh.waitFor({ state: "detached" });
  });

  test("[PTH4] one polite line tells who answers, and the words themselves are not read out", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude" });
    playByAgent(scene.model, {
      claude: [{ steps: [{ text: "Half of" }, { gate: "rest" }, { text: " it." }] }],
    });
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    await scene.startRun(id, "go");
    const line = page.locator("main > [role=status][aria-live=polite]");
    await soon(() => line.textContent()).toBe("Claude Code is answering");
    stage.model().open("rest");
    await soon(() => line.textContent()).toBe("Claude Code answered");
    expect(await said(page).locator("[aria-live]").count()).toBe(0);
  });

  test("[PTH7] there is nothing for axe to report, in both themes and on a phone", async () => {
    const scene = await stage.scene();
    const { path, end } = await stage.streaming(scene);
    const looks = [
      { colorScheme: "light" },
      { colorScheme: "dark" },
      { viewport: { width: 390, height: 844 } },
    ] as const;
    for (const look of looks) {
      const page = await browser.open(stage.gateway(), path, look);
      await said(page)
        .getByRole("group", { name: /wants to run a command/ })
        .waitFor();
      await shot(page, `thread-axe-${"viewport" in look ? "phone" : look.colorScheme}`);
      expect(await axeFinds(page, "main")).toEqual([]);
    }
    end();
  });

  test("[PTH5] who opens a thread in mid-run sees what came before in its order, with what went into each call", async () => {
    const scene = await stage.scene();
    const { path } = await stage.streaming(scene);
    const first = await browser.open(stage.gateway(), path);
    await said(first).getByText("sees the row and answers").waitFor();
    const second = await browser.again(first, path);
    await said(second).getByText("sees the row and answers").waitFor();
    await said(second)
      .getByRole("button", { name: /bash.*npm test/s })
      .waitFor();
    const order = (await said(second).locator(".turn").innerText()).replaceAll(/\s+/g, " ");
    expect(order).toMatch(/two statements.*files_search.*files_edit.*bash.*Codex.*The handler now/);
  });

  test("[PTH6] what was missed while the connection was cut is there when it is back", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Cut" });
    playByAgent(scene.model, {
      claude: [
        {
          steps: [
            { text: "Before. " },
            { gate: "between" },
            { text: "Between. " },
            { gate: "after" },
            { text: "After." },
          ],
        },
      ],
    });
    const page = await browser.open(stage.gateway(), "/", { tolerates: /WebSocket|ERR_/ });
    let cut = () => {};
    let closed = false;
    await page.routeWebSocket(/\/rpc/, (socket) => {
      if (closed) return void socket.close();
      socket.connectToServer();
      cut = () => void socket.close();
    });
    await page.goto(stage.gateway().url + pathOf(scene, id));
    const { run } = await scene.startRun(id, "go");
    await said(page).getByText("Before.").waitFor();
    closed = true;
    cut();
    await said(page)
      .getByText(/Shown as of \d\d:\d\d:\d\d/)
      .waitFor();
    stage.model().open("between");
    closed = false;
    await said(page).getByText("Before. Between.").waitFor();
    stage.model().open("after");
    await scene.ended(run.id);
    await said(page).getByText("Before. Between. After.").waitFor();
    await said(page)
      .getByText(/Shown as of/)
      .waitFor({ state: "detached" });
  });
});

type Page = import("playwright-core").Page;

function layout(page: Page) {
  return page.evaluate(() => {
    const box = document.querySelector(".scroll") as HTMLElement;
    const blocks = [
      ...document.querySelectorAll<HTMLElement & { marked?: number }>(".said .md, .said .code"),
    ];
    const top = (element: Element) => Math.round(element.getBoundingClientRect().top + box.scrollTop);
    return {
      tops: blocks.map(top),
      marks: blocks.filter(({ marked }) => marked !== undefined).length,
      fromEnd: box.scrollHeight - box.scrollTop - box.clientHeight,
    };
  });
}

/** The first message in view, and where it is. */
function topOf(page: Page) {
  return page.evaluate(() => {
    const box = (document.querySelector(".scroll") as HTMLElement).getBoundingClientRect();
    const items = [...document.querySelectorAll<HTMLElement>("[data-item]")];
    const first = items.find((item) => item.getBoundingClientRect().bottom > box.top) as HTMLElement;
    return [first.dataset.item, Math.round(first.getBoundingClientRect().top)];
  });
}
