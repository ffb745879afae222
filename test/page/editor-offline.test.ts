import { describe, expect, inject, test } from "vitest";
import { between } from "../support/page/between.js";
import { pageBrowser, shot } from "../support/page/browser.js";
import { BACKEND_TEXT, DocScene, field, says, textIn, typeAtEnd } from "../support/page/documents.js";
import { CUT, lineTo } from "../support/page/line.js";
import { runStage } from "../support/runs.js";

const SAVE = "thread/agents_doc/save";

describe.skipIf(inject("chromium") === "")(
  "the editor without a connection, and other windows [browser]",
  () => {
    const stage = runStage();
    const browser = pageBrowser();

    async function far(content = "start\n") {
      const scene = await stage.scene();
      const doc = await DocScene.inFolder(scene);
      await doc.save(content);
      const line = await lineTo(stage.gateway());
      const page = await browser.open(line.gateway, doc.path, { tolerates: CUT });
      await field(page).waitFor();
      return { scene, doc, line, page };
    }

    test("[PED15] the network goes and comes back while somebody types: not a character is lost", async () => {
      const { doc, line, page } = await far();
      const words = Array.from({ length: 12 }, (_, at) => `word ${at} and so on.\n`);
      const meanwhile = new Map<number, () => void | Promise<void>>([
        [2, line.cut],
        [4, () => says(page, /^Not saved: the gateway does not answer\./)],
        [5, line.mend],
        [8, line.cut],
      ]);
      for (const [at, word] of words.entries()) {
        await typeAtEnd(page, word);
        await meanwhile.get(at)?.();
      }
      expect(await textIn(page)).toBe(`start\n${words.join("")}`);
      await says(page, /^Not saved/);
      const under = async (name: string) => {
        const { y = 0, height = 0 } = (await page.locator(name).boundingBox()) ?? {};
        return { top: y, bottom: y + height };
      };
      expect((await under(".ed")).top).toBe((await under(".offline")).bottom);
      await shot(page, "editor-offline");
      line.mend();
      await expect.poll(() => doc.content()).toBe(`start\n${words.join("")}`);
      await says(page, /^(Saved, )?v\d+$/);
    });

    test("[PED26] a document that was not read before the connection was lost says so, and comes when it is back", async () => {
      const { scene, line, page } = await far();
      const root = new DocScene(scene);
      await root.save("Of the root\n");
      line.cut();
      await page.getByText("The gateway does not answer.").waitFor();
      await page.evaluate((to) => {
        history.pushState(null, "", to);
        dispatchEvent(new PopStateEvent("popstate"));
      }, root.path);
      const told = page.getByText("This was not read before the connection was lost.");
      await told.waitFor();
      line.mend();
      await expect.poll(() => textIn(page)).toBe("Of the root\n");
      expect(await told.count()).toBe(0);
    });

    test("[PED16] a save whose answer was lost is found again, and what was typed since is saved on top of it", async () => {
      const { doc, line, page } = await far();
      line.deafen();
      await typeAtEnd(page, "a");
      await expect.poll(() => doc.content()).toBe("start\na");
      await page.keyboard.type("b");
      line.cut();
      line.mend();
      await expect.poll(() => doc.content()).toBe("start\nab");
      await says(page, /^(Saved, )?v3$/);
      expect((await doc.revisions()).map(({ version }) => version)).toEqual([3, 2, 1]);
    });

    test("[PED17] a reload with unsaved text brings it back and saves it", async () => {
      const { doc, line, page } = await far();
      const wire = await between(page);
      await field(page).waitFor();
      wire.refuse(SAVE, { code: -32600, message: "No.", data: { kind: "store.full" } });
      await typeAtEnd(page, "kept");
      await says(page, /^Not saved/);
      await page.reload();
      await page.getByText(/Unsaved text from \d\d:\d\d is back\./).waitFor();
      expect(await textIn(page)).toBe("start\nkept");
      await says(page, /^Not saved/);
      wire.refuse(SAVE, undefined);
      await page.getByRole("button", { name: "Try again" }).click();
      await expect.poll(() => doc.content()).toBe("start\nkept");
      await says(page, /^Saved/);
      expect(
        await page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("heddle.doc."))),
      ).toEqual([]);
      line.mend();
    });

    test("[PED17] unsaved text that comes back to another version is a conflict, and both are there", async () => {
      const { doc, page } = await far();
      const wire = await between(page);
      await field(page).waitFor();
      wire.refuse(SAVE, { code: -32600, message: "No.", data: { kind: "store.full" } });
      await typeAtEnd(page, "mine");
      await says(page, /^Not saved/);
      await page.goto("about:blank");
      await doc.save("start\ntheirs");
      wire.refuse(SAVE, undefined);
      await page.goBack();
      await says(page, /^Conflict$/);
      await page.getByRole("button", { name: "Both" }).click();
      await page.getByRole("button", { name: "Save merged" }).click();
      await expect.poll(() => doc.content()).toBe("start\nmine\ntheirs");
    });

    test("[PED18] [PED20] two windows of one browser: one types, the other follows and takes nothing over", async () => {
      const { doc, page } = await far(BACKEND_TEXT);
      const wire = await between(page);
      await field(page).waitFor();
      wire.refuse(SAVE, { code: -32600, message: "No.", data: { kind: "store.full" } });
      await typeAtEnd(page, "unsaved here");
      await says(page, /^Not saved/);
      const other = await browser.again(page, doc.path);
      await field(other).waitFor();
      expect(await textIn(other)).toBe(BACKEND_TEXT);
      await says(other, /^v1$/);
      wire.refuse(SAVE, undefined);
      await page.getByRole("button", { name: "Try again" }).click();
      await expect.poll(() => textIn(other), { timeout: 5_000 }).toBe(`${BACKEND_TEXT}unsaved here`);
    });

    test("[PED19] text that could not be saved while leaving is there on return, and saved", async () => {
      const { doc, line, page } = await far();
      // What the other view is made of is here before the line is cut.
      await page.getByRole("link", { name: "Backend" }).click();
      await page.locator("main:not([aria-busy=true])").waitFor();
      await page.goBack();
      await typeAtEnd(page, "first ");
      await says(page, /^(Saved, )?v2$/);
      line.cut();
      await page.keyboard.type("then more");
      await page.getByRole("link", { name: "Backend" }).click();
      await page.goBack();
      expect(await textIn(page)).toBe("start\nfirst then more");
      line.mend();
      await expect.poll(() => doc.content()).toBe("start\nfirst then more");
    });

    test("[PED20] a change elsewhere is taken over in place: cursor and scroll position stay with their lines", async () => {
      const lines = Array.from({ length: 200 }, (_, at) => `line ${at}`);
      const { doc, page } = await far(lines.join("\n"));
      await field(page).focus();
      await page.keyboard.press("ControlOrMeta+Home");
      for (let at = 0; at < 4; at++) await page.keyboard.press("PageDown");
      await page.keyboard.press("End");
      const place = async () => (await page.locator(".ed-foot .ed-place").innerText()).split(",")[0];
      const number = Number((await place())?.replace("Ln ", ""));
      const top = () =>
        page
          .locator(".cm-line.cm-activeLine")
          .evaluate((line) => Math.round(line.getBoundingClientRect().top));
      const before = await top();
      await doc.save(["new 1", "new 2", ...lines, "last"].join("\n"));
      await expect.poll(place).toBe(`Ln ${number + 2}`);
      expect(Math.abs((await top()) - before)).toBeLessThanOrEqual(2);
      await page.keyboard.type("!");
      const expected = lines.map((line, at) => (at === number - 1 ? `${line}!` : line));
      await expect.poll(() => doc.content()).toBe(["new 1", "new 2", ...expected, "last"].join("\n"));
    });

    test("[PED21] [PED24] deleted elsewhere while nothing is unsaved, and saved elsewhere with the same text", async () => {
      const { scene, doc, page } = await far();
      await scene.saveDoc("# Root\n");
      await doc.archive();
      await page.getByText("Empty, so the root AGENTS.md v1 applies.").waitFor();
      expect(await textIn(page)).toBe("");
      const wire = await between(page);
      await field(page).waitFor();
      wire.refuse(SAVE, { code: -32600, message: "No.", data: { kind: "store.full" } });
      await typeAtEnd(page, "the same");
      await says(page, /^Not saved/);
      await doc.save("the same");
      await says(page, /^v1$/);
    });

    test("[PED22] deleted elsewhere with unsaved text: kept as a new document, or let go and had back", async () => {
      const { doc, page } = await far();
      const wire = await between(page);
      await field(page).waitFor();
      const unsavedAndDeleted = async (text: string) => {
        wire.refuse(SAVE, { code: -32600, message: "No.", data: { kind: "store.full" } });
        await typeAtEnd(page, text);
        await says(page, /^Not saved/);
        await doc.archive();
        await page.getByText("Backend/AGENTS.md was deleted elsewhere").waitFor();
        wire.refuse(SAVE, undefined);
      };
      await unsavedAndDeleted("mine");
      await says(page, /^Conflict$/);
      await shot(page, "editor-deleted");
      await page.getByRole("button", { name: "Keep mine" }).click();
      await expect.poll(() => doc.stored()).toMatchObject({ content: "start\nmine", version: 1 });
      await says(page, /^Saved, v1$/);
      await unsavedAndDeleted(" again");
      await page.getByRole("button", { name: "Take theirs" }).click();
      await expect.poll(() => textIn(page)).toBe("");
      expect(await doc.stored()).toBeUndefined();
      await page.getByRole("button", { name: "Undo" }).click();
      await expect.poll(() => doc.content()).toBe("start\nmine again");
    });

    test("[PED23] a folder deleted elsewhere is said, and unsaved text can be copied", async () => {
      const { scene, doc, page } = await far();
      const wire = await between(page);
      await field(page).waitFor();
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      wire.refuse(SAVE, { code: -32600, message: "No.", data: { kind: "store.full" } });
      await typeAtEnd(page, "unsaved");
      await says(page, /^Not saved/);
      const params = { workspace_id: scene.workspace_id, folder_id: doc.folder_id as string };
      await scene.wire.result("thread/folder/delete", params);
      await page.getByRole("heading", { name: "This folder is gone" }).waitFor();
      await page.getByRole("button", { name: "Copy my text" }).click();
      await page.getByText("Copied the text").waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("start\nunsaved");
      await page.getByRole("button", { name: "Open the root AGENTS.md" }).click();
      await field(page).waitFor();
    });
  },
);
