import { describe, expect, inject, test } from "vitest";
import { pageBrowser } from "../support/page/browser.js";
import { clockOf, leastOf } from "../support/page/clock.js";
import { line, textMessage } from "../support/threads.js";
import { pathOf, said, soon, threadStage } from "./thread-scenes.js";

const MANY = 10_000;
const FEW = 300;
/** An exchange takes 14 KB; one whose manifest is kept as well takes 47. */
const EACH_BYTES = 28_000;
/** `HEDDLE_TEST_STREAMED=1000` takes a minute and a half on a quiet machine. */
const STREAMED = Number(process.env.HEDDLE_TEST_STREAMED ?? 60);

describe.skipIf(inject("chromium") === "")("a long thread [browser]", () => {
  const stage = threadStage();
  const browser = pageBrowser();

  async function opened(count: number) {
    const scene = await stage.scene();
    const log = Array.from({ length: count }, (_, n) =>
      line({
        ...textMessage(
          `m${n}`,
          `Message **${n}** with \`code\` and a few words more, so that it has some length.\n\n- one\n- two`,
        ),
        role: n % 2 === 0 ? "user" : "agent",
      }),
    ).join("");
    const { id } = await scene.start({ agent_id: "claude", title: `So many: ${count}` });
    scene.foreign(id, { envelope: scene.text(id), log });
    await soon(async () => (await scene.get(id)).message_count).toBe(count);
    const page = await browser.open(stage.gateway(), pathOf(scene, id));
    const worked = await clockOf(page);
    const last = said(page).getByText(`Message ${count - 1} with`);
    await last.waitFor();
    return {
      page,
      async opening() {
        await page.reload();
        await last.waitFor();
        return worked();
      },
      async scrolling() {
        const before = await worked();
        for (let step = 0; step < 60; step++)
          await page.evaluate(async () => {
            document.querySelector(".scroll")?.scrollBy(0, -300);
            await new Promise((done) => requestAnimationFrame(done));
          });
        return (await worked()) - before;
      },
    };
  }

  test("[PTH50] a thread of 10,000 messages draws only what is seen, and is no more work to open and to scroll through than one of 300", async () => {
    const [many, few] = [await opened(MANY), await opened(FEW)];
    const opening = await leastOf(4, { many: many.opening, few: few.opening });
    expect(await said(many.page).getByRole("article").count()).toBeLessThan(40);
    expect(opening.many).toBeLessThan(2 * opening.few);
    const scrolling = await leastOf(2, { many: many.scrolling, few: few.scrolling });
    expect(await said(many.page).getByRole("article").count()).toBeLessThan(40);
    expect(scrolling.many).toBeLessThan(2 * scrolling.few);
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
