import type { Locator, Page } from "playwright-core";
import type { Message, Thread } from "../../../src/protocol/index.js";
import { agentAt, apis, KEY, type RunScene } from "../runs.js";

/** Runs are held at a gate for as long as a slow machine needs. */
const timeouts = { connectMs: 60_000, firstTokenMs: 300_000, silenceMs: 300_000 };

export const patientAgents = (url: string) => ({
  agents: apis.map((api) =>
    agentAt(url, api, { chat: { config: { baseURL: `${url}/v1`, apiKey: KEY, timeouts } } }),
  ),
});

/** Where the page shows a thread. */
export function threadPath({ workspace_id, id }: Pick<Thread, "workspace_id" | "id">): string {
  return `/w/${workspace_id}/thread/${id}`;
}

/** What was said in a thread, in order. */
export async function saidIn(scene: RunScene, thread_id: string): Promise<string[]> {
  const textOf = ({ content }: Message) => content.map((block) => block.text ?? "").join("");
  return (await scene.messages(thread_id)).map(textOf);
}

/** One blue pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPj/HwADAgH/eL9GtQAAAABJRU5ErkJggg==";

/** The foot of a thread, as somebody uses it. */
export class ComposerPage {
  constructor(readonly page: Page) {}

  get field(): Locator {
    return this.page.getByRole("textbox", { name: "Message", exact: true });
  }

  get queue(): Locator {
    return this.page.getByRole("list", { name: "Queue" });
  }

  /** What waits, from the top to the field. */
  rows(): Locator {
    return this.queue.getByRole("listitem");
  }

  row(words: string): Locator {
    return this.rows().filter({ hasText: words });
  }

  button(name: string): Locator {
    return this.page.getByRole("button", { name, exact: true });
  }

  readonly imageData = PNG;

  /** Adds an image with the button. */
  async attach(name: string, mimeType = "image/png", buffer = Buffer.from(PNG, "base64")): Promise<void> {
    await this.page.locator("input[type=file]").setInputFiles([{ name, mimeType, buffer }]);
  }

  get images(): Locator {
    return this.page.getByRole("list", { name: "Images" }).getByRole("listitem");
  }

  async send(text: string): Promise<void> {
    await this.field.fill(text);
    await this.field.press("Enter");
  }
}

/** A run that has begun to answer and waits at a gate. */
export async function busyThread(scene: RunScene, gate: string, ...answers: string[]): Promise<Thread> {
  const thread = await scene.start({ title: "Webhooks book twice" });
  scene.plays({ steps: [{ text: "I look." }, { gate }, { text: " Done." }] }, ...answers);
  await scene.startRun(thread.id, "Make the handler idempotent.");
  await scene.model.request(0);
  return thread;
}
