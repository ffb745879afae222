import type { Run, Thread } from "../../../src/protocol/index.js";
import { contextLine } from "../../state/context-line.js";
import { clearDraft, draftOf, giveBack, NO_DRAFT } from "../../state/drafts.js";
import { isKind } from "../../state/errors.js";
import { call, client, command } from "../../state/gateway.js";
import { keepHanded } from "../../state/handed.js";
import { dropImages } from "../../state/kept-images.js";
import { contentOf, onArrival, post } from "../../state/outbox.js";
import { currentRoute, navigate } from "../../state/router.js";
import { toastProblem } from "../../state/toasts.js";

/** What somebody had selected stands before what they said. */
export function withContext(text: string, line = contextLine()): string {
  return [line, text].filter((part) => part !== undefined && part !== "").join("\n");
}

export function isSendable({ text, images } = NO_DRAFT): boolean {
  return text.trim() !== "" || images.length > 0;
}

/** Sends what is written; while the agent is at work the gateway queues it, and while there is no gateway this browser keeps it. */
export function sendDraft({ id: thread, workspace_id: ws }: Thread): void {
  const draft = draftOf(thread);
  if (!isSendable(draft)) return;
  const { to, images } = draft;
  const { key } = post({ ws, thread, text: withContext(draft.text), images, to });
  if (to !== undefined) followed.set(key, thread);
  clearDraft(thread);
}

/** Gives the run under way another message. Where it has ended meanwhile, the message is sent like any other. */
export async function steerDraft(thread: Thread, run: Run | undefined): Promise<void> {
  const draft = draftOf(thread.id);
  if (!isSendable(draft)) return;
  if (!run || client.state !== "open" || draft.to !== undefined) return sendDraft(thread);
  const { images } = draft;
  const text = withContext(draft.text);
  const answered = keepHanded(thread.id, draft);
  clearDraft(thread.id);
  try {
    const content = await contentOf({ text, images });
    await call("run/steer", { workspace_id: thread.workspace_id, run_id: run.id, content });
    dropImages(images);
  } catch (error) {
    if (isKind(error, "run.not_running")) post({ ws: thread.workspace_id, thread: thread.id, text, images });
    else {
      giveBack(thread.id, draft);
      toastProblem(error);
    }
  } finally {
    answered();
  }
}

export async function stopRun({ id: run_id, workspace_id }: Run): Promise<void> {
  await command("run/cancel", { workspace_id, run_id }).catch(toastProblem);
}

/** Messages to other agents, by the thread they were written in: their sender goes along, unless they went elsewhere meanwhile. */
const followed = new Map<string, string>();

onArrival((key, thread) => {
  const from = followed.get(key);
  followed.delete(key);
  const route = currentRoute();
  if (from !== undefined && route.view === "thread" && route.thread === from)
    navigate({ view: "thread", ws: route.ws, thread });
});
