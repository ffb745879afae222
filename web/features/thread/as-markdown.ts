import type { Message } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";
import { toast, toastProblem } from "../../state/toasts.js";
import { argumentOf } from "./call-facts.js";
import { partsOfMessage } from "./parts.js";
import type { Place } from "./place.js";

/** A message as text that can be pasted anywhere. Thoughts stay behind; of a call the row is told. */
export function messageAsMarkdown(message: Message): string {
  const parts = partsOfMessage(message).flatMap((part) => {
    if (part.kind === "text") return [part.text];
    if (part.kind === "image") return ["(image)"];
    if (part.kind !== "call") return [];
    const argument = argumentOf(part.call.input).replaceAll("`", "'");
    return [`- \`${part.call.name}\`${argument ? ` \`${argument}\`` : ""}: ${part.call.status}`];
  });
  return parts.join("\n\n");
}

export async function copyText(text: string, said: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(said);
  } catch {
    toast("The browser did not let it be copied.");
  }
}

/** Copies all of a thread, also what was never scrolled to. */
export async function copyThread({ ws, thread }: Place, title: string, agent: string): Promise<void> {
  try {
    const messages = await allMessages({ ws, thread });
    const said = messages.map((message) => `## ${whoSaid(message, agent)}\n\n${messageAsMarkdown(message)}`);
    await copyText(`# ${title}\n\n${said.join("\n\n")}\n`, "Copied the thread as Markdown");
  } catch (error) {
    toastProblem(error);
  }
}

function whoSaid({ role }: Message, agent: string): string {
  if (role === "agent") return agent;
  return role === "user" ? "User" : "System";
}

const PAGE = 500;

async function allMessages({ ws: workspace_id, thread: thread_id }: Place): Promise<Message[]> {
  const all: Message[] = [];
  let cursor: string | undefined;
  do {
    const page = await call("thread/messages", {
      workspace_id,
      thread_id,
      order: "asc",
      limit: PAGE,
      cursor,
    });
    all.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return all;
}
