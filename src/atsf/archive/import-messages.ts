import { isKind } from "../../base/index.js";
import { type Accepted, acceptMessage } from "../accept.js";
import { ENVELOPE, LOG } from "../layout.js";
import { type NewThread, newEnvelope } from "../new-envelope.js";
import type { Project } from "../project.js";
import type { Message, ThreadEnvelope } from "../schemas.js";
import { derivedAtStart, deriveWith } from "../stats.js";
import { Drafts, type ImportedThread } from "./drafts.js";

/** A thread that comes as messages, one by one. */
export interface IncomingThread {
  readonly threadId: string;
  readonly messages: AsyncIterable<Message>;
  /** What is known of it, asked for when all messages were taken. */
  describe(): Omit<NewThread, "threadId">;
  /** What stands in the place of a message that the format can't hold. */
  instead(message: Message, reason: string): Message;
}

/** Makes a thread with its messages. It appears whole, on disk and checked, or not at all. */
export async function importMessages(
  into: Project,
  { threadId, messages, describe, instead }: IncomingThread,
): Promise<ImportedThread> {
  const drafts = new Drafts(into);
  try {
    if (!(await drafts.wants(threadId))) return (await drafts.settle())[0] as ImportedThread;
    let derived: ReturnType<typeof derivedAtStart> | undefined;
    const lines = async function* () {
      for await (const given of messages) {
        const accepted = await accept(drafts.directoryOf(threadId), given, instead);
        derived = deriveWith(
          derived ?? derivedAtStart({ createdAt: given.timestamp } as ThreadEnvelope),
          accepted.message,
        );
        yield Buffer.from(accepted.line);
      }
    };
    await drafts.write(threadId, LOG, lines());
    const envelope = { ...newEnvelope(into.root, Date.now(), { threadId, ...describe() }), ...derived };
    await drafts.write(threadId, ENVELOPE, once(`${JSON.stringify(envelope, null, 2)}\n`));
    return (await drafts.settle())[0] as ImportedThread;
  } finally {
    await drafts.close();
  }
}

async function accept(dir: string, given: Message, instead: IncomingThread["instead"]): Promise<Accepted> {
  try {
    return await acceptMessage(dir, given);
  } catch (error) {
    if (!isKind(error, "atsf.invalid_message")) throw error;
    return acceptMessage(dir, instead(given, error.message));
  }
}

async function* once(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}
