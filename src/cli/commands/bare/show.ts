import { isThreadId, type Message, openProject, type ThreadEnvelope } from "../../../atsf/index.js";
import { cliError } from "../../errors.js";
import { messageLines, messageTime } from "../../message-text.js";
import { count, note, paint, paintErr, print, printJson, printTable, visible } from "../../output.js";
import { EXIT_FAILED } from "../../report.js";
import { directoryGiven } from "./directory.js";
import { type FoundThread, findThreads } from "./find-threads.js";

interface ShowOptions {
  readonly json?: boolean;
  readonly limit: number;
}

export async function showFiles(
  given: string | undefined,
  threadId: string | undefined,
  options: ShowOptions,
): Promise<void> {
  const dir = await directoryGiven(given);
  const found = await findThreads(dir);
  if (threadId === undefined)
    return options.json ? printJson({ dir, data: found.map(toJson) }) : list(dir, found);
  const thread = found.find((each) => each.threadId === threadId);
  if (!thread) throw notFound(dir, threadId);
  await showOne(thread, options);
}

function toJson({ threadId: thread_id, ...rest }: FoundThread): object {
  return { thread_id, ...rest };
}

function list(dir: string, found: readonly FoundThread[]): void {
  if (found.length === 0) {
    print(paint.dim(`No threads in ${dir}`));
    return;
  }
  const rows = found.map(({ threadId, envelope, error, place }) => {
    const where = place === dir ? "" : visible(envelope?.context.worktree?.branch ?? place);
    if (!envelope) return [paint.dim(threadId), "", "", "", where, paint.red(visible(error ?? ""))];
    const { messageCount } = envelope.stats;
    const { updatedAt, agent, title } = envelope;
    return [
      paint.dim(threadId),
      messageTime(updatedAt),
      String(messageCount),
      visible(agent.id),
      where,
      visible(title),
    ];
  });
  printTable(["ID", "UPDATED", "MESSAGES", "AGENT", "WORKTREE", "TITLE"], rows);
  const broken = found.filter(({ envelope }) => !envelope).length;
  if (broken > 0)
    note(paintErr.yellow(`${count(broken, "thread")} can't be read: \`heddle atsf validate\` tells why.`));
}

async function showOne(found: FoundThread, { json, limit }: ShowOptions): Promise<void> {
  const { envelope, error } = found;
  if (!envelope) process.exitCode = EXIT_FAILED;
  const { messages, more } = await lastMessages(found, limit);
  if (json) return printJson({ ...toJson(found), messages, more });
  if (envelope) printEnvelope(found, envelope);
  else print(`${paint.red("thread.json can't be read")}: ${visible(error ?? "")}`, `directory  ${found.dir}`);
  for (const message of messages) print("", ...messageLines(message));
  if (more) note("", paintErr.dim(`There are more: --limit ${limit * 10}`));
}

/** The last ones, in the order in which they were written. */
async function lastMessages(
  { place, threadId }: FoundThread,
  limit: number,
): Promise<{ messages: Message[]; more: boolean }> {
  const project = await openProject(place);
  try {
    const thread = await project.thread(threadId);
    const messages: Message[] = [];
    let before: number | undefined;
    do {
      const page = await thread.page(limit - messages.length, before);
      messages.push(...page.entries.map(({ message }) => message));
      before = page.before;
    } while (before !== undefined && messages.length < limit);
    return { messages: messages.reverse(), more: before !== undefined };
  } finally {
    await project.close();
  }
}

function printEnvelope({ threadId, dir }: FoundThread, envelope: ThreadEnvelope): void {
  const { agent, context, stats, specVersion } = envelope;
  const rows: [string, string | undefined][] = [
    ["id", threadId],
    ["agent", agent.name === agent.id ? agent.id : `${agent.name}  ${agent.id}`],
    ["created", messageTime(envelope.createdAt)],
    ["updated", messageTime(envelope.updatedAt)],
    [
      "messages",
      `${stats.messageCount}: ${stats.userMessageCount} by the user, ${stats.agentMessageCount} by the agent; ${count(stats.toolCallCount, "tool call")}`,
    ],
    ["directory", dir],
    ["works in", context.workingDir],
    ["began at", began(context)],
    ["worktree", context.worktree && `${context.worktree.path}  branch ${context.worktree.branch}`],
    ["version", specVersion],
  ];
  print(paint.bold(visible(envelope.title)));
  for (const [name, value] of rows)
    if (value !== undefined) print(`${paint.dim(name.padEnd(9))}  ${visible(value)}`);
}

/** The commit it started from. */
function began({ gitBranch, gitCommit }: ThreadEnvelope["context"]): string | undefined {
  const parts = [gitBranch, gitCommit].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join("  ");
}

function notFound(dir: string, thread_id: string) {
  const known = isThreadId(thread_id) ? "" : " It can't be a thread's id.";
  return cliError(
    { kind: "thread.unknown", dir, thread_id },
    `There is no thread ${visible(thread_id)} in ${dir}.${known} \`heddle atsf show\` lists the ones there are.`,
  );
}
