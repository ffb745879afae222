import { isAbsolute, relative } from "node:path";
import { importMessages, type Message, type NewThread } from "../atsf/index.js";
import { reflectThread, requireDirectory } from "../threads/index.js";
import type { Call } from "../tree/index.js";
import { agentFor } from "./agent-for.js";
import { type Incoming, settledMessages, substitute, Taking, titleFor } from "./branch.js";
import type { ImportsDeps } from "./deps.js";
import type { Outcome } from "./outcome.js";
import { sources } from "./tools.js";

/** A new thread with all of a branch. It appears whole or not at all; one without a message is none. */
export async function makeThread(
  deps: ImportsDeps,
  workspace_id: string,
  given: Incoming,
  call: Call,
): Promise<Outcome> {
  const { workspace, root } = await requireDirectory(deps, workspace_id);
  const { thread_id } = given;
  const first = await firstOf(settledMessages(given));
  if (!first) return { status: "skipped", reason: "it has no messages" };
  const taking = new Taking(given);
  let last = first.timestamp;
  const messages = async function* (): AsyncGenerator<Message> {
    for await (const next of settledMessages(given)) {
      taking.add(next);
      last = next.message.timestamp;
      yield next.message;
    }
  };
  return deps.files.turn(workspace_id, thread_id, async () => {
    const result = await importMessages(await deps.files.project(root), {
      threadId: thread_id,
      messages: messages(),
      describe: () => describe(deps, { workspace_id, root, first: first.timestamp, last, taking, given }),
      instead: (message, reason) => substitute(given, message, reason),
    });
    if (result.status === "invalid") return { status: "invalid", reason: result.reason ?? "it is damaged" };
    await reflectThread(deps, { workspace, thread_id, root }, call);
    if (result.status === "exists") return { status: "exists" };
    return { status: "imported", messages: taking.messages, added: taking.messages };
  });
}

async function firstOf(messages: AsyncIterable<{ message: Message }>): Promise<Message | undefined> {
  for await (const { message } of messages) return message;
  return undefined;
}

interface Known {
  readonly workspace_id: string;
  readonly root: string;
  /** Times of the first and the last message. */
  readonly first: string;
  readonly last: string;
  readonly taking: Taking;
  readonly given: Incoming;
}

function describe(deps: ImportsDeps, known: Known): Omit<NewThread, "threadId"> {
  const { workspace_id, root, first, last, taking, given } = known;
  const { found, session, parent_thread_id } = given;
  const { id, name, same } = agentFor(deps, workspace_id, found.tool);
  const { gitBranch, gitCommit, version } = session;
  const heddle = {
    // The thread was changed last when its session was, not when it came here.
    updatedAt: last,
    named: true,
    folder: [`Imported from ${sources[found.tool].name}`],
    ...(parent_thread_id !== undefined && { parentThreadId: parent_thread_id }),
    import: taking.ledger(),
  };
  return {
    title: titleFor(given),
    createdAt: session.createdAt ?? first,
    agent: { id, name, protocol: "custom", ...(same && version !== undefined && { version }) },
    workingDir: found.cwd !== undefined && isWithin(root, found.cwd) ? found.cwd : root,
    context: { ...(gitBranch && { gitBranch }), ...(gitCommit && { gitCommit }) },
    metadata: { heddle },
  };
}

export function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return isAbsolute(path) && way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}
