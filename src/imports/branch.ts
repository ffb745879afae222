import type { Message } from "../atsf/index.js";
import { NO_TIME } from "./blocks.js";
import { threadIdOf } from "./ids.js";
import { FORMAT, hashOf, type Ledger, Tally } from "./ledger.js";
import type { Branch, FoundSession, SourceMessage, SourceSession } from "./session.js";
import { timeOf } from "./values.js";

/** A way through a session that is to become a thread. */
export interface Incoming {
  readonly found: FoundSession;
  readonly session: SourceSession;
  readonly branch: Branch;
  readonly thread_id: string;
  readonly parent_thread_id: string | undefined;
  /** The gateway's time, in unix milliseconds. */
  readonly now: number;
}

export function incoming(found: FoundSession, session: SourceSession, branch: Branch, now: number): Incoming {
  const { tool, id } = found;
  const parent =
    branch.parentKey === undefined
      ? session.parentId && threadIdOf(tool, session.parentId)
      : threadIdOf(tool, id, branch.parentKey);
  return {
    found,
    session,
    branch,
    thread_id: threadIdOf(tool, id, branch.key),
    parent_thread_id: parent || undefined,
    now,
  };
}

const AT_WORK_MS = 10 * 60 * 1000;
const LONGEST_TITLE = 255;

export function titleFor({ session, branch }: Incoming): string {
  const title = session.title ?? "Imported session";
  return branch.key === "" ? title : `${[...title].slice(0, LONGEST_TITLE - 9).join("")} (branch)`;
}

/**
 * The messages of a branch. An answer at its end that is not complete while its session was written to just now is left for
 * the next time: its agent is probably still at work.
 */
export async function* settledMessages({
  branch,
  found,
  session,
  now,
}: Incoming): AsyncGenerator<SourceMessage> {
  let held: SourceMessage | undefined;
  for await (const next of branch.messages()) {
    if (held) yield { ...held, open: false };
    held = next;
  }
  if (held && !isAtWork(held, found, now)) yield held;
  else if (held) session.lossy.of(`open ${branch.key}`).add(STILL_OPEN);
}

function isAtWork({ open }: SourceMessage, { modifiedAt }: FoundSession, now: number): boolean {
  return open && now - modifiedAt < AT_WORK_MS;
}

const STILL_OPEN = "the last answer, which is still being made: the next import brings it";

/** What was taken of a source, as it is taken. */
export class Taking {
  readonly tally = new Tally();
  /** Of the last message, when it may not be complete. */
  openSha256: string | undefined;
  readonly #incoming: Incoming;

  constructor(given: Incoming) {
    this.#incoming = given;
  }

  add({ message, open }: { readonly message: Message; readonly open: boolean }): void {
    if (open) this.openSha256 = hashOf(message);
    else this.tally.add(message);
  }

  get messages(): number {
    return this.tally.messages + (this.openSha256 === undefined ? 0 : 1);
  }

  ledger(): Ledger {
    const { found, session, branch, now } = this.#incoming;
    const { messages, messagesSha256 } = this.tally;
    const lossy = session.lossy.list();
    return {
      tool: found.tool,
      sourcePath: found.path,
      sourceId: found.id,
      ...(branch.key !== "" && { branch: branch.key }),
      ...(found.cwd !== undefined && { cwd: found.cwd }),
      contentSha256: session.contentSha256,
      importedAt: new Date(now).toISOString(),
      format: FORMAT,
      messages,
      messagesSha256,
      ...(this.openSha256 !== undefined && { openSha256: this.openSha256 }),
      ...(lossy.some(({ what }) => what === STILL_OPEN) && { held: true }),
      lossy,
    };
  }
}

/** In the place of a message that a thread can't hold: those behind it keep their places. */
export function substitute({ session }: Incoming, message: Message, reason: string): Message {
  session.lossy.of(`substitute ${message.id}`).addNamed(`messages that a thread can't hold: ${reason}`);
  const { id, role } = message;
  const timestamp = timeOf(message.timestamp) ?? NO_TIME;
  return { id, role, timestamp, content: [{ type: "text", text: "[a message that could not be imported]" }] };
}
