import { describe, expect, inject, test } from "vitest";
import { pageBrowser } from "../support/page/browser.js";
import { line, textMessage } from "../support/threads.js";
import { pathOf, said, soon, threadStage } from "./thread-scenes.js";

const MANY = 10_000;
const EACH_BYTES = 16_000;
/** `HEDDLE_TEST_STREAMED=1000` takes a minute and a half on a quiet machine. */
const STREAMED = Number(process.env.HEDDLE_TEST_STREAMED ?? 120);

interface Watched {
  arrived?: number;
  shown?: number;
}

/** Notes in the page when the messages came, and when the last of them was there to be read. */
function watch(last: string): void {
  const watched: Watched = {};
  Object.assign(window, { watched });
  const Native = WebSocket;
  window.WebSocket = class extends Native {
    constructor(url: string | URL) {
      super(url);
      this.addEventListener("message", ({ data }) => {
        if (typeof data === "string" && data.includes(`"${last}"`)) watched.arrived ??= performance.now();
      });
    }
  };
  new MutationObserver(() => {
    if (watched.shown === undefined && document.querySelector(`[data-item="${last}"]`))
      requestAnimationFrame(() => {
        watched.shown ??= performance.now();
      });
  }).observe(document, { childList: true, subtree: true });
}

describe.skipIf(inject("chromium") === "")("a long thread [browser]", () => {
  const stage = threadStage();
  const browser = pageBrowser();

  async function opened() {
    const scene = await stage.scene();
    const log = Array.from({ length: MANY }, (_, n) =>
      line({
        ...textMessage(
          `m${n}`,
          `Message **${n}** with \`code\` and a few words more, so that it has some length.\n\n- one\n- two`,
        ),
        role: n % 2 === 0 ? "user" : "agent",
      }),
    ).join("");
    const { id } = await scene.start({ agent_id: "claude", title: "Ten thousand" });
    scene.foreign(id, { envelope: scene.text(id), log });
    await soon(async () => (await scene.get(id)).message_count).toBe(MANY);
    const page = await browser.open(stage.gateway(), "/");
    await page.goto(stage.gateway().url + pathOf(scene, id));
    await said(page)
      .getByText(`Message ${MANY - 1} with`)
      .waitFor();
    return { scene, id, page };
  }

  test("[PTH50] a thread of 10,000 messages opens within 300 ms once the data is there, draws only what is seen, and scrolls without holding the page up", async () => {
    const { page } = await opened();
    await page.addInitScript(watch, `m${MANY - 1}`);
    const waits: number[] = [];
    // A busy machine holds up any page now and then; what the page itself does shows every time.
    for (let visit = 0; visit < 4; visit++) {
      await page.reload();
      await said(page)
        .getByText(`Message ${MANY - 1} with`)
        .waitFor();
      const { arrived = 0, shown = Number.NaN } = await page.evaluate(
        () => (window as unknown as { watched: Watched }).watched,
      );
      waits.push(shown - arrived);
    }
    expect(Math.min(...waits)).toBeLessThan(300);
    expect(await said(page).getByRole("article").count()).toBeLessThan(40);
    // Counted in the time the page itself was at work: what else the machine does is no rule.
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
    const worked = async () => {
      const { metrics } = await devtools.send("Performance.getMetrics");
      return 1_000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
    };
    const times: number[] = [];
    for (let step = 0; step < 60; step++) {
      const before = await worked();
      await page.evaluate(async () => {
        document.querySelector(".scroll")?.scrollBy(0, -300);
        await new Promise((done) => requestAnimationFrame(done));
      });
      times.push(Math.round((await worked()) - before));
    }
    expect(times.filter((ms) => ms > 50)).toEqual([]);
  });

  test("[PTH51] streaming many answers does not make the page grow", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "claude", title: "Grows" });
    stage.model().play(() => ({
      steps: [{ text: ["An answer ", "of a few ", "**words**.\n\n```ts\nconst a = 1;\n```\n"] }],
    }));
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    await page.getByRole("textbox", { name: /message/i }).waitFor();
    const devtools = await page.context().newCDPSession(page);
    const heap = async () => {
      await devtools.send("HeapProfiler.collectGarbage");
      const { usedSize } = await devtools.send("Runtime.getHeapUsage");
      return { usedSize, nodes: await page.locator(".scroll *").count() };
    };
    const ask = async (times: number) => {
      for (let n = 0; n < times; n++) await scene.answered(id, "More.");
    };
    await ask(30);
    const before = await heap();
    await ask(STREAMED);
    // A message in memory is a few kilobytes; the rest of an answer must be gone, what was looked at last after a moment.
    const grown = async () => (await heap()).usedSize - before.usedSize;
    await expect.poll(grown, { timeout: 30_000, interval: 2_000 }).toBeLessThan(STREAMED * EACH_BYTES);
    expect((await heap()).nodes).toBeLessThan(1_500);
  }, 600_000);
});
