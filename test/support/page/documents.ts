import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import type { Params } from "../../../src/protocol/index.js";
import type { RunScene } from "../runs.js";

export const ROOT_TEXT = `# harbor

Booking platform for small ports. Ask before adding
a dependency. Write in plain English, short sentences.

- Branch from main, one concern per branch.
- Never commit secrets or generated files.
- Dates are ISO 8601 in UTC, everywhere.
`;

export const BACKEND_TEXT = `# Backend

Node 20, TypeScript, Postgres. One service in \`src/\`; tests sit beside the source.

## Before you change anything

- Run \`npm test\` and say what you ran.
- A migration is its own commit. Never edit one that has shipped.
- Money is an integer of the smallest unit, with its currency. **Never a float.**

## Payments

- Every webhook handler is idempotent on the event id. Record the event and do its work in one transaction.
- Retries are the provider's business; ours is to answer within 2 s.
- Log the event id, never the card or the person.

## Style

- Functions that take one \`deps\` object. No classes for grouping.
- Errors carry a dotted code: \`payment.duplicate_event\`.
- Comments name a failure mode, not the mechanism.

If a rule here is in the way, say so and stop. Do not work around it.
`;

/** A scope's document over the wire and in a window. */
export class DocScene {
  constructor(
    readonly scene: RunScene,
    readonly folder_id?: string,
  ) {}

  static async inFolder(scene: RunScene, name = "Backend"): Promise<DocScene> {
    return new DocScene(scene, await newFolder(scene, name));
  }

  get path(): string {
    const tail = this.folder_id === undefined ? "" : `/${this.folder_id}`;
    return `/w/${this.scene.workspace_id}/agents-md${tail}`;
  }

  get #scope() {
    return { workspace_id: this.scene.workspace_id, folder_id: this.folder_id };
  }

  async save(content: string, more: Partial<Params<"thread/agents_doc/save">> = {}) {
    return (await this.scene.wire.result("thread/agents_doc/save", { ...this.#scope, content, ...more })).doc;
  }

  async stored() {
    return (await this.scene.wire.result("thread/agents_doc/get", this.#scope)).explicit;
  }

  async content(): Promise<string | undefined> {
    return (await this.stored())?.content;
  }

  async revisions() {
    return (await this.scene.wire.result("thread/agents_doc/revisions", this.#scope)).data;
  }

  async archive(): Promise<void> {
    await this.scene.wire.result("thread/agents_doc/archive", this.#scope);
  }
}

export async function newFolder(scene: RunScene, name: string, parent_folder_id?: string): Promise<string> {
  const { workspace_id } = scene;
  const params = { workspace_id, name, parent_folder_id };
  return (await scene.wire.result("thread/folder/create", params)).folder.id;
}

/** The editor's field, once it can be typed in. */
export function field(page: Page): Locator {
  return page.getByRole("textbox", { name: /AGENTS\.md$/ });
}

/** The whole text of a document that is short enough to be drawn at once. */
export function textIn(page: Page): Promise<string> {
  return page
    .locator(".ed .cm-content")
    .evaluate((content) =>
      [...content.querySelectorAll(".cm-line")]
        .map((line) => (line.querySelector(".cm-placeholder") ? "" : line.textContent))
        .join("\n"),
    );
}

/** What the right of the header says about saving. */
export function saving(page: Page): Locator {
  return page.locator("header .save, header .chip.warn");
}

export async function typeAtEnd(page: Page, text: string): Promise<void> {
  await field(page).focus();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.type(text);
}

/** Waits until the editor says so. */
export async function says(page: Page, words: string | RegExp): Promise<void> {
  await expect.poll(() => saving(page).first().textContent()).toMatch(words);
}
