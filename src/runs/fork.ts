import type { Message, Thread as ThreadFile } from "../atsf/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { history, threads } from "../store/index.js";
import {
  deleteThread,
  locateThread,
  openFiles,
  reflectThread,
  startThread,
  withThread,
} from "../threads/index.js";
import { type Call, getThread } from "../tree/index.js";
import type { RunsDeps } from "./deps.js";
import { runsError } from "./errors.js";
import type { SessionKey } from "./session/parts.js";

type ForkParams = ParsedParams<"thread/fork"> & { workspace_id: string };

/** A new thread with the messages up to one of them. What its agent was told so far is told in the same bytes. */
export async function forkThread(
  deps: RunsDeps,
  params: ForkParams,
  call: Call,
): Promise<Result<"thread/fork">> {
  const key = { workspace_id: params.workspace_id, thread_id: params.thread_id };
  if (params.agent_id !== undefined) deps.agents.in(key.workspace_id).require(params.agent_id);
  const source = await locateThread(deps, key);
  const file = await openFiles(deps, source);
  const taken = await messagesUpTo(file, params.message_id);
  const { thread: from } = await getThread(deps, key);
  const { thread } = await startThread(
    deps,
    {
      workspace_id: key.workspace_id,
      folder_id: from.folder_id,
      agent_id: params.agent_id ?? from.agent_id,
      title: [...`${from.title} (fork)`].slice(-TITLE_CHARS).join(""),
      use_worktree: false,
      config: { ...from.config, ...params.config } as ForkParams["config"],
    },
    call,
    { parentThreadId: key.thread_id },
  );
  const into = { workspace_id: key.workspace_id, thread_id: thread.id };
  try {
    await copyMessages(deps, { from: file, into, taken });
    await copyHistory(deps, { key, into, taken });
  } catch (error) {
    await deleteThread(deps, into, call).catch((left) => deps.report(left, "half a fork is still there"));
    throw error;
  }
  return getThread(deps, into);
}

const TITLE_CHARS = 255;

async function messagesUpTo(file: ThreadFile, message_id: string | undefined): Promise<Message[]> {
  const taken: Message[] = [];
  for await (const entry of file.stream()) {
    if (!("message" in entry)) continue;
    taken.push(entry.message);
    if (entry.message.id === message_id) return taken;
  }
  if (message_id === undefined) return taken;
  throw runsError({ kind: "message.not_found", message_id }, `This thread has no message ${message_id}.`);
}

/** Images come along as files of their own; the messages keep their ids. */
async function copyMessages(
  deps: RunsDeps,
  { from, into, taken }: { from: ThreadFile; into: SessionKey; taken: readonly Message[] },
): Promise<void> {
  if (taken.length === 0) return;
  await withThread(deps, into, async (located, file) => {
    for (const message of taken) await copyImages(from, file, message);
    await Promise.all(taken.map((message) => file.append(message)));
    await reflectThread(deps, located);
  });
}

async function copyImages(from: ThreadFile, into: ThreadFile, { content }: Message): Promise<void> {
  for (const block of content) {
    if (block?.type !== "image" || typeof block.assetRef !== "string") continue;
    const bytes = await from.readAsset(block.assetRef).catch(() => undefined);
    // One that is gone is gone there too; the message says so when it is shown.
    if (bytes) await into.saveAsset(bytes, String(block.mimeType)).catch(() => {});
  }
}

/** What was told up to there, by reference; what was not told yet is told with the next run, as it would be there. */
async function copyHistory(
  deps: RunsDeps,
  { key, into, taken }: { key: SessionKey; into: SessionKey; taken: readonly Message[] },
): Promise<void> {
  const ids = new Set(taken.map(({ id }) => id));
  const { row: source } = await locateThread(deps, key);
  const { history_epoch: epoch, history_to, history_from } = source;
  if (epoch === null || history_to === null) return;
  const rows = await deps.store.read(() => history.toldRows({ ...key, epoch }, 0));
  const stranger = rows.findIndex(({ message_id }) => !ids.has(message_id));
  const length = stranger === -1 ? rows.length : stranger;
  if (length === 0) return;
  const covered = await endOfTold(
    deps,
    into,
    new Set(rows.slice(0, length).map(({ message_id }) => message_id)),
  );
  await deps.store.write({ key: key.workspace_id }, function* () {
    yield* history.copyHistory({ ...key, epoch }, length, into.thread_id);
    yield* threads.updateThread(into.workspace_id, into.thread_id, {
      history_epoch: 1,
      history_from: (history_from ?? 0) < length ? history_from : 0,
      history_to: covered,
    });
  });
}

/** Where in the log the last message ends that was told. */
async function endOfTold(deps: RunsDeps, into: SessionKey, told: ReadonlySet<string>): Promise<number> {
  const file = await openFiles(deps, await locateThread(deps, into));
  let covered = 0;
  for await (const entry of file.newMessages(0)) {
    if ("message" in entry && told.has(entry.message.id)) covered = entry.end;
  }
  return covered;
}
