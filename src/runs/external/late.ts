import type { Message } from "../../atsf/index.js";
import { appendMessage, withThread } from "../../threads/index.js";
import type { RunsDeps } from "../deps.js";
import type { SessionKey } from "../session/parts.js";
import type { ExternalAnswer, TakenAnswer } from "./taken.js";

const PAGE = 50;
/** Further back nobody sends an answer again because its receipt got lost. */
const MOST = 500;

/** Records what an agent elsewhere says when nobody waits for it. The same text is recorded once after each message to it. */
export async function recordLate(
  deps: RunsDeps,
  key: SessionKey,
  answer: ExternalAnswer,
): Promise<TakenAnswer> {
  if (await isThere(deps, key, answer)) return { duplicate: true };
  const { text, failed } = answer;
  const message = {
    role: "agent" as const,
    content: text,
    ...(failed && { stopReason: "error" }),
    heddle: { late: true },
  };
  const params = { ...key, message: { id: undefined, timestamp: undefined, ...message } };
  await appendMessage(deps, params, {});
  return { late: true };
}

async function isThere(deps: RunsDeps, key: SessionKey, { text }: ExternalAnswer): Promise<boolean> {
  return withThread(deps, key, async (_located, file) => {
    let before: number | undefined;
    for (let looked = 0; looked < MOST; looked += PAGE) {
      const page = await file.page(PAGE, before);
      const messages = page.entries.map(({ message }) => message);
      const asked = messages.findIndex(({ role }) => role === "user");
      const since = asked === -1 ? messages : messages.slice(0, asked);
      if (since.some((message) => message.role === "agent" && textIn(message) === text)) return true;
      before = page.before;
      if (asked !== -1 || before === undefined) return false;
    }
    return false;
  });
}

function textIn({ content }: Message): string {
  return content.flatMap((block) => (block?.type === "text" ? [String(block.text)] : [])).join("");
}
