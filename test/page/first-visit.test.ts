import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { HeddleProcess } from "../support/process.js";
import { sqliteStore, temporaryDirectory } from "../support/stores.js";

const steps = (page: Page) => page.getByRole("region", { name: "First steps" });

describe.skipIf(inject("chromium") === "")("the first visit [browser]", () => {
  const browser = pageBrowser();

  /** The command as a person starts it, in a place where nothing is yet, and the address it prints. */
  async function served(): Promise<TestGateway> {
    const data = temporaryDirectory();
    const heddle = new HeddleProcess(["serve", "--port", "0", "--data", data, "--no-open"]);
    onTestFinished(() => heddle.end());
    const printed = await heddle.until(() => /http:\/\/\S+/.exec(heddle.stdout)?.[0]);
    return { url: new URL(printed).origin, pageUrl: () => printed } as TestGateway;
  }

  test("[PAR60] from the printed address to an answer, instructions in effect and a delegation, without a key", async () => {
    const page = await browser.open(await served());
    await page.getByRole("heading", { name: "This works already." }).waitFor();
    await page.getByText("Built in, no key, no network").first().waitFor();
    await shot(page, "first-1-welcome");

    await page.getByRole("button", { name: "Send “Hello, what can you do?”" }).click();
    await page.getByText(/I am the demo agent of Heddle, and need no key/).waitFor();
    await steps(page).getByText("First steps, 1 of 3").waitFor();
    await shot(page, "first-2-answer");

    await steps(page).getByRole("button", { name: "Write AGENTS.md" }).click();
    const editor = page.locator(".cm-content[contenteditable=true]").first();
    await editor.click();
    await page.keyboard.type("Answer in one sentence.");
    await steps(page).getByRole("button", { name: "Ask again and open Context" }).waitFor();
    await shot(page, "first-3-instructions");

    await steps(page).getByRole("button", { name: "Ask again and open Context" }).click();
    await steps(page).getByText("First steps, 2 of 3").waitFor();
    const inspector = page.getByRole("complementary", { name: "Inspector" });
    await inspector
      .getByRole("link", { name: /AGENTS\.md v1/ })
      .first()
      .waitFor();
    await shot(page, "first-4-in-effect");

    await steps(page).getByRole("button", { name: "Send an errand" }).click();
    await page.getByText(/demo-notes answered: I wrote it down/).waitFor();
    await steps(page).getByText("That was all of it").waitFor();
    await shot(page, "first-5-delegated");
    expect(await steps(page).getByRole("img", { name: "Done" }).count()).toBe(3);

    await steps(page).getByRole("button", { name: "Close the first steps" }).click();
    await steps(page).waitFor({ state: "detached" });
    await page.reload();
    await page.getByText(/demo-notes answered: I wrote it down/).waitFor();
    expect(await steps(page).count()).toBe(0);
  }, 180_000);

  describe("by any other way", () => {
    let gateway: TestGateway;
    beforeAll(async () => {
      gateway = await startGateway(sqliteStore);
    });
    afterAll(() => gateway?.stop());

    async function fresh(more: object = {}): Promise<[Page, string]> {
      const wire = await gateway.wire();
      const { workspace } = await wire.result("workspace/create", { name: "Fresh" });
      const page = await browser.open(gateway, `/w/${workspace.id}`, more);
      return [page, workspace.id];
    }

    test("[PAR61] what was done elsewhere is marked too, and a command shows the steps again", async () => {
      const [page, workspace_id] = await fresh();
      await page.getByRole("heading", { name: "This works already." }).waitFor();
      const wire = await gateway.wire();
      await wire.result("thread/agents_doc/save", { workspace_id, content: "Be brief." });
      await page.getByRole("button", { name: "Ask again and open Context" }).waitFor();
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Search or run" }).fill(">first steps");
      await page.getByRole("option", { name: "Show the first steps" }).click();
      await page.goto(`${gateway.url}/w/${workspace_id}/settings`);
      await steps(page).getByText("First steps, 0 of 3").waitFor();
      await steps(page).getByRole("button", { name: "Fold the steps" }).click();
      expect(await steps(page).getByRole("listitem").count()).toBe(0);
    });

    test("[PAR62] it shows what is on this machine, what is not, and how to add an agent", async () => {
      const [page] = await fresh({ colorScheme: "dark" });
      const machine = page.getByRole("complementary", { name: "Agents on this machine" });
      await machine.getByText("Demo Notes").waitFor();
      await machine.getByRole("button", { name: "Add a key" }).click();
      await machine.getByText(/in the environment and start Heddle again/).waitFor();
      await machine.getByRole("button", { name: "Look again" }).click();
      await page.getByText("Nothing new").waitFor();
      await shot(page, "first-machine-dark");
      await machine.getByRole("link", { name: "Write one" }).click();
      await expect.poll(() => page.url()).toMatch(/\/settings\/agents$/);
    });

    test("[PAR63] a first message of one's own begins a thread", async () => {
      const [page, workspace_id] = await fresh();
      await page.getByRole("textbox", { name: "Message Demo" }).fill("What time is it?");
      await page.reload();
      await page.getByRole("textbox", { name: "Message Demo" }).press("Enter");
      await page.getByText(/system_time answered/).waitFor();
      const { data } = await (await gateway.wire()).result("thread/list", { workspace_id });
      expect(data).toHaveLength(1);
    });

    test("[PAR61] on a phone the steps stand at the foot of the tree", async () => {
      const [page] = await fresh({ viewport: { width: 390, height: 844 } });
      await steps(page).getByRole("button", { name: "Send “Hello, what can you do?”" }).waitFor();
      await shot(page, "first-phone");
      await steps(page).getByRole("button", { name: "Send “Hello, what can you do?”" }).click();
      await page.getByText(/I am the demo agent of Heddle/).waitFor();
      await steps(page).getByText("First steps, 1 of 3").waitFor();
      expect(await steps(page).getByRole("listitem").count()).toBe(0);
      await shot(page, "first-phone-thread");
      await steps(page).getByRole("button", { name: "Show the steps" }).click();
      await steps(page).getByRole("button", { name: "Write AGENTS.md" }).waitFor();
    });
  });
});
