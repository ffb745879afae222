import type { Result, Run } from "../../../src/protocol/index.js";
import { splitContextLine } from "../../state/context-line.js";
import { isKind } from "../../state/errors.js";
import { call } from "../../state/gateway.js";
import { post } from "../../state/outbox.js";
import { toastUndo } from "../../state/toasts.js";
import { handBack } from "./row-edits.js";
import { withContext } from "./send.js";

type Content = NonNullable<Result<"run/get">["content"]>;
type Blocks = Exclude<Content, string>;

async function contentOf({ id: run_id, workspace_id }: Run): Promise<Content | undefined> {
  return (await call("run/get", { workspace_id, run_id, with_content: true })).content;
}

function blocksOf(content: Content): Blocks {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function textOf(content: Content): string {
  return blocksOf(content)
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n");
}

/** All of what a queued run will be asked, without what the page put before it; undefined: it waits no more. */
export async function readQueued(run: Run): Promise<string | undefined> {
  const content = await contentOf(run);
  return content === undefined ? undefined : splitContextLine(textOf(content)).text;
}

/** Its context line and its images stay. If it has begun meanwhile, what was written is put into the field. */
export async function editQueued(run: Run, text: string): Promise<void> {
  const { id: run_id, workspace_id } = run;
  const before = await contentOf(run);
  const line = before === undefined ? undefined : splitContextLine(textOf(before)).line?.raw;
  const images = before === undefined ? [] : blocksOf(before).filter(({ type }) => type === "image");
  const whole = withContext(text, line ?? "");
  const content = images.length === 0 ? whole : [{ type: "text" as const, text: whole }, ...images];
  try {
    await call("run/update", { workspace_id, run_id, content });
  } catch (error) {
    if (!isKind(error, "run.not_queued")) throw error;
    handBack({ thread: run.thread_id, row: run_id });
  }
}

/** Takes it out of the queue; undone, it is asked again, behind what waits by then. */
export async function removeQueued(run: Run): Promise<void> {
  const { id: run_id, thread_id, workspace_id } = run;
  const content = await contentOf(run);
  if (content === undefined) return;
  await call("run/cancel", { workspace_id, run_id });
  toastUndo("Removed from the queue", async () => {
    if (typeof content === "string") post({ ws: workspace_id, thread: thread_id, text: content, images: [] });
    else await call("run/start", { workspace_id, thread_id, content, idempotency_key: `undo_${run_id}` });
  });
}
