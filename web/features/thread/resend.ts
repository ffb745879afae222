import type { Message, Params } from "../../../src/protocol/index.js";
import { arrivalFrom } from "../../state/arrival.js";
import { isKind } from "../../state/errors.js";
import { call, command } from "../../state/gateway.js";
import { transcriptOf } from "../../state/messages.js";
import { navigate } from "../../state/router.js";
import { keep } from "../../state/runs.js";
import { toast, toastProblem } from "../../state/toasts.js";
import { useTree } from "../../state/tree.js";
import type { Place } from "./place.js";

type Content = Params<"run/start">["content"];

/** Asks the same again, images included. Failures are said; what was written stays where it is. */
export async function sendAgain(place: Place, message: Message): Promise<boolean> {
  return trying(async () => {
    const content = await contentOf(place, message);
    const { run } = await call("run/start", {
      workspace_id: place.ws,
      thread_id: place.thread,
      content,
      idempotency_key: newKey(),
    });
    keep([run], { told: false });
  });
}

interface Attempt {
  readonly thread_id: string;
  readonly text: string;
  readonly idempotency_key: string;
}

/** By thread and message: forks whose question did not get through. The next attempt goes there too. */
const attempts = new Map<string, Attempt>();

/** Asks something else in a thread of its own, that has everything before this message. */
export async function resend(place: Place, message: Message, text: string): Promise<boolean> {
  const { ws: workspace_id } = place;
  const name = `${place.thread} ${message.id}`;
  return trying(async () => {
    const content = await contentOf(place, message, text);
    const before = attempts.get(name);
    const thread_id = before?.thread_id ?? (await forkBefore(place, message.id));
    // Other words under the same key would be taken for the first ones.
    const idempotency_key = before?.text === text ? before.idempotency_key : newKey();
    attempts.set(name, { thread_id, text, idempotency_key });
    try {
      await call("run/start", { workspace_id, thread_id, content, idempotency_key });
    } catch (error) {
      if (isKind(error, "thread.not_found")) attempts.delete(name);
      throw error;
    }
    attempts.delete(name);
    navigate({ view: "thread", ws: workspace_id, thread: thread_id });
  });
}

/** By thread and message: forks that are being made. Whoever asks again meanwhile gets the same one. */
const forking = new Map<string, Promise<boolean>>();

/** A new thread with everything up to and with this message. */
export function fork(place: Place, message_id?: string): Promise<boolean> {
  const name = `${place.thread} ${message_id ?? ""}`;
  const made = forking.get(name) ?? makeFork(place, message_id).finally(() => forking.delete(name));
  forking.set(name, made);
  return made;
}

async function makeFork(place: Place, message_id?: string): Promise<boolean> {
  return trying(async () => {
    const { ws: workspace_id, thread: thread_id } = place;
    const arrive = arrivalFrom();
    const { thread } = await command("thread/fork", { workspace_id, thread_id, message_id });
    if (arrive({ view: "thread", ws: workspace_id, thread: thread.id }, `Forked to “${thread.title}”`))
      toast(`Forked to “${thread.title}”`);
  });
}

/** Before the first message there is nothing to take along: the fork is a new thread of the same agent. */
async function forkBefore(
  { ws: workspace_id, thread: thread_id }: Place,
  message_id: string,
): Promise<string> {
  const before = await idBefore({ ws: workspace_id, thread: thread_id }, message_id);
  if (before !== undefined) {
    const { thread } = await call("thread/fork", { workspace_id, thread_id, message_id: before });
    return thread.id;
  }
  const from = useTree.getState().threads.get(thread_id);
  const { thread } = await call("thread/start", {
    workspace_id,
    folder_id: from?.folder_id,
    agent_id: from?.agent_id,
    ...(from?.title && { title: `${from.title} (fork)`.slice(0, 255) }),
    ...(from?.config && { config: from.config }),
  });
  return thread.id;
}

async function idBefore({ ws, thread }: Place, message_id: string): Promise<string | undefined> {
  const { messages, older } = transcriptOf(thread);
  const at = messages.findIndex(({ id }) => id === message_id);
  if (at > 0 || (at === 0 && older === undefined)) return messages[at - 1]?.id;
  const around = { workspace_id: ws, thread_id: thread, around: message_id, limit: 2, order: "asc" } as const;
  const { data } = await call("thread/messages", around);
  const found = data.findIndex(({ id }) => id === message_id);
  return data[found - 1]?.id;
}

/** What was asked, in the form in which it is asked. `text` stands in place of its words. */
async function contentOf(place: Place, message: Message, text?: string): Promise<Content> {
  const words = message.content
    .filter(({ type }) => type === "text")
    .map((block) => String(block.text ?? ""));
  const images = message.content.filter(({ type }) => type === "image");
  const said = text ?? words.join("\n\n");
  if (images.length === 0) return said;
  const blocks = await Promise.all(images.map((block) => imageOf(place, block)));
  return [...(said.trim() === "" ? [] : [{ type: "text" as const, text: said }]), ...blocks];
}

async function imageOf({ ws, thread }: Place, block: Readonly<Record<string, unknown>>) {
  const mimeType = String(block.mimeType ?? "");
  const query = new URLSearchParams({ type: mimeType, workspace_id: ws });
  const answer = await fetch(
    `/threads/${thread}/assets/${encodeURIComponent(String(block.assetRef))}?${query}`,
  );
  if (!answer.ok) throw new Error("An image of this message is not there any more.");
  const bytes = new Uint8Array(await answer.arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000)
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return { type: "image" as const, data: btoa(binary), mimeType };
}

async function trying(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    toastProblem(error);
    return false;
  }
}

function newKey(): string {
  return `page_${crypto.randomUUID()}`;
}
