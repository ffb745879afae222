import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { playByAgent } from "../support/agents.js";
import { pageBrowser } from "../support/page/browser.js";
import { CUT, lineTo } from "../support/page/line.js";
import { asks, harbor, openFolders, row, treeStage } from "../support/page/tree.js";
import { runStage } from "../support/runs.js";
import { sqliteStore } from "../support/stores.js";

/** A window that the person does not look at, and what it would have shown on the desktop. */
async function hide(page: Page): Promise<void> {
  await page.evaluate(() => {
    Object.defineProperty(document, "hidden", { get: () => true, configurable: true });
    const told: string[] = [];
    Object.assign(window, { told });
    class Told {
      static permission = "granted";
      static requestPermission = async () => "granted";
      close() {}
      constructor(title: string, { body }: { body: string }) {
        told.push(`${title}: ${body}`);
      }
    }
    Object.assign(window, { Notification: Told });
  });
}
const told = (page: Page) => page.evaluate(() => (window as unknown as { told: string[] }).told);

describe.skipIf(inject("chromium") === "")("attention [browser]", () => {
  const stage = runStage(sqliteStore, treeStage);
  const browser = pageBrowser();

  test("[PGT60] a thread shows that it runs, waits, has a new answer or failed, and a closed folder what matters most in it", async () => {
    const place = await harbor(stage);
    const { scene, ws, threads } = place;
    const page = await browser.open(stage.gateway(), `/w/${ws}`);
    await openFolders(page, "Backend");
    playByAgent(scene.model, {
      notes: [{ steps: [{ text: "a" }, { gate: "go" }, { text: "b" }] }],
      claude: [{ steps: [{ status: 400, body: { error: { message: "no" } } }] }],
    });
    const slow = await scene.startRun(threads["Slow query on /bookings"] as string, "Why?");
    await row(page, "Slow query on /bookings, Notes, running").waitFor();
    await page.getByText("Local, 1 running").waitFor();
    scene.model.open("go");
    await scene.ended(slow.run.id);
    const answered = row(page, "Slow query on /bookings, Notes, new answer");
    await answered.waitFor();
    expect(await answered.getAttribute("class")).toContain("unread");
    await scene.ask(threads["Webhooks book twice"] as string, "Try.");
    await row(page, "Payments, 4 threads, failed").waitFor();
    await asks(place, "Migration dry run", "codex");
    await row(page, "Payments, 4 threads, waiting for you").waitFor();
  });

  test("[PGT65] [PGT66] the foot has room for what runs and what waits; without a connection rings stand still", async () => {
    const place = await harbor(stage);
    const { scene, ws, threads } = place;
    const line = await lineTo(stage.gateway());
    const page = await browser.open(line.gateway, `/w/${ws}`, {
      tolerates: CUT,
      reducedMotion: "no-preference",
    });
    await openFolders(page, "Backend");
    await asks(place, "Migration dry run", "codex");
    playByAgent(scene.model, { notes: [{ steps: [{ text: "a" }, { gate: "later" }, { text: "b" }] }] });
    const slow = await scene.startRun(threads["Slow query on /bookings"] as string, "Why?");
    const running = row(page, "Slow query on /bookings, Notes, running");
    await running.waitFor();
    const words = page.locator(".side-foot > .cut");
    await expect.poll(() => words.innerText()).toBe("1 running");
    await page.getByRole("button", { name: "1 waiting" }).waitFor();
    for (const wide of [208, 256]) {
      await page.locator(".app").evaluate((app, to) => app.style.setProperty("--side", `${to}px`), wide);
      await expect.poll(() => page.locator(".side").evaluate((side) => side.clientWidth)).toBe(wide - 1);
      expect(await words.evaluate((each) => each.scrollWidth - each.clientWidth), `${wide}`).toBe(0);
      await page.getByRole("button", { name: "1 waiting" }).click({ trial: true });
      await page.getByRole("link", { name: "Settings" }).click({ trial: true });
    }
    const turns = () =>
      running.locator(".st-run").evaluate((mark) => getComputedStyle(mark, "::before").animationName);
    expect(await turns()).toBe("turn");
    line.cut();
    await page.getByText("Not connected").waitFor();
    expect(await words.evaluate((each) => each.scrollWidth - each.clientWidth)).toBe(0);
    expect(await turns()).toBe("none");
    line.mend();
    await expect.poll(turns).toBe("turn");
    scene.model.open("later");
    await scene.ended(slow.run.id);
  });

  test("[PGT61] what was seen is seen in every window, and what ended while none was open is new", async () => {
    const { scene, ws, threads } = await harbor(stage);
    const id = threads.Decisions as string;
    const page = await browser.open(stage.gateway(), `/w/${ws}`);
    const other = await browser.again(page, `/w/${ws}`);
    await row(other, "Decisions").waitFor();
    scene.plays("One.", "Two.");
    await scene.answered(id, "First?");
    await row(page, "Decisions, Reviewer, new answer").waitFor();
    await row(other, "Decisions, Reviewer, new answer").waitFor();
    await row(other, "Decisions").click();
    await row(page, /^Decisions, Reviewer$/).waitFor();
    await page.goto("about:blank");
    await other.goto("about:blank");
    await new Promise((done) => setTimeout(done, 1_100));
    await scene.answered(id, "Second?");
    await page.goto(`${stage.gateway().url}/w/${ws}`);
    await row(page, "Decisions, Reviewer, new answer").waitFor();
  });

  test("[PGT61] what ended while the connection was away for too long to be told is new", async () => {
    const { scene, ws, threads } = await harbor(stage);
    const page = await browser.open(stage.gateway(), "/");
    let away = false;
    let cut = () => {};
    await page.routeWebSocket(/\/rpc/, (near) => {
      if (away) return void near.close();
      const far = near.connectToServer();
      const resumes = new Set<number>();
      let missed = 0;
      cut = () => {
        away = true;
        void far.close();
        void near.close();
      };
      near.onMessage((data) => {
        const { id, params } = JSON.parse(String(data));
        if (params?.after_seq !== undefined) resumes.add(id);
        far.send(data);
      });
      far.onMessage((data) => {
        const message = JSON.parse(String(data));
        // A gateway that no longer has what was missed: it tells nothing of it, and says so.
        if (resumes.delete(message.id)) {
          missed = message.result.seq;
          message.result.resync = true;
        }
        if (!(message.params?.seq <= missed)) near.send(JSON.stringify(message));
      });
    });
    await page.goto(`${stage.gateway().url}/w/${ws}`);
    await row(page, "Decisions").waitFor();
    // An end counts as missed when it is in a later second than what was accounted for.
    await new Promise((done) => setTimeout(done, 1_100));
    cut();
    scene.plays("One.");
    await scene.answered(threads.Decisions as string, "First?");
    away = false;
    await row(page, "Decisions, Reviewer, new answer").waitFor();
  });

  test("[PGT62] what waits is listed with the way to it, counted in the title, and W goes there", async () => {
    const place = await harbor(stage);
    const { ws, threads } = place;
    const page = await browser.open(stage.gateway(), `/w/${ws}`);
    await asks(place, "Migration dry run", "codex");
    await expect.poll(() => page.title()).toBe("(1) Heddle");
    await page.getByRole("button", { name: "1 waiting" }).click();
    const list = page.getByRole("dialog", { name: "Waiting for you" });
    await list.getByText("Codex asks to use deploy_run").waitFor();
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "detached" });
    await page.keyboard.press("w");
    await expect.poll(() => page.url()).toContain(threads["Migration dry run"]);
    await expect.poll(() => page.title()).toBe("(1) Migration dry run, Heddle");
  });

  test("[PGT67] W brings to the card that waits, which has the focus, and then to the next; with none it says so", async () => {
    const place = await harbor(stage);
    const { ws, threads } = place;
    const page = await browser.open(stage.gateway(), `/w/${ws}`);
    await asks(place, "Migration dry run", "codex");
    await asks(place, "Refund rounding in JPY", "codex");
    await page.getByRole("button", { name: "2 waiting" }).waitFor();
    const card = () =>
      page.evaluate(
        () => document.activeElement?.matches("[data-approval]") && location.pathname.split("/").at(-1),
      );
    await row(page, "Backend").focus();
    await page.keyboard.press("w");
    const both = [threads["Migration dry run"], threads["Refund rounding in JPY"]];
    await expect.poll(async () => both.includes((await card()) || "")).toBe(true);
    // Asked within the same second, either may be the first.
    const [first, second] = (await card()) === both[0] ? both : both.toReversed();
    await page.keyboard.press("w");
    await expect.poll(card).toBe(second);
    // On the thread itself, from anywhere in it.
    await page.getByRole("button", { name: "Find in thread" }).focus();
    await page.keyboard.press("w");
    await expect.poll(card).toBe(second);
    await page.keyboard.press("d");
    await page.getByRole("button", { name: "1 waiting" }).waitFor();
    await page.keyboard.press("w");
    await expect.poll(card).toBe(first);
    await page.keyboard.press("a");
    await page.locator("[data-approval]").waitFor({ state: "detached" });
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.closest("[data-item], .dock") != null))
      .toBe(true);
    await page.keyboard.press("Escape");
    await page.keyboard.press("w");
    await page.getByText("Nothing waits for you.").waitFor();
  });

  test("[PGT63] notifications are offered once, asked for only by a click, and come only while the window is hidden", async () => {
    const place = await harbor(stage);
    const { scene, ws, threads } = place;
    const page = await browser.open(stage.gateway(), `/w/${ws}`);
    await row(page, "Decisions").waitFor();
    expect(await page.getByRole("button", { name: "Notify me" }).count()).toBe(0);
    await hide(page);
    await asks(place, "Migration dry run", "codex");
    await page.getByRole("button", { name: "Notify me" }).waitFor();
    expect(await told(page)).toEqual([]);
    await page.getByRole("button", { name: "Notify me" }).click();
    await page.getByRole("button", { name: "Notify me" }).waitFor({ state: "detached" });
    scene.plays("Done.");
    await scene.answered(threads.Decisions as string, "Go on.");
    await expect.poll(() => told(page)).toEqual(["Decisions: Answered"]);
    await asks(place, "Refund rounding in JPY", "codex");
    await expect.poll(() => told(page)).toContain("Refund rounding in JPY: Waits for you: deploy_run");
    await page.evaluate(() =>
      Object.defineProperty(document, "hidden", { get: () => false, configurable: true }),
    );
    scene.plays("Done again.");
    await scene.answered(threads["Weekly review"] as string, "Go on.");
    await row(page, "Weekly review, Notes, new answer").waitFor();
    expect(await told(page)).toHaveLength(2);
  });

  test("[PGT64] an offer that is declined does not come again", async () => {
    const place = await harbor(stage);
    const page = await browser.open(stage.gateway());
    // A browser without a frame refuses before it is asked.
    await page.addInitScript(() =>
      Object.defineProperty(Notification, "permission", { get: () => "default" }),
    );
    await page.goto(`${stage.gateway().url}/w/${place.ws}`);
    await asks(place, "Migration dry run", "codex");
    await page.getByRole("button", { name: "Not now" }).click();
    await page.reload();
    await page.getByRole("button", { name: "1 waiting" }).waitFor();
    expect(await page.getByRole("button", { name: "Notify me" }).count()).toBe(0);
  });
});
