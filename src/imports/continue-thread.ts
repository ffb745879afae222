import { isDeepStrictEqual } from "node:util";
import { type Message, message as messageSchema, type Thread as ThreadFile } from "../atsf/index.js";
import { isKind } from "../base/index.js";
import { reflectThread, withThread } from "../threads/index.js";
import type { Call } from "../tree/index.js";
import { type Incoming, settledMessages, substitute, Taking } from "./branch.js";
import type { ImportsDeps } from "./deps.js";
import { FORMAT, hashOf, type Ledger, ledgerOf } from "./ledger.js";
import type { Outcome } from "./outcome.js";
import type { SourceMessage } from "./session.js";

/** A thread whose session has more that has no place behind what it has: that goes into a thread of its own. */
export interface Aside {
  /** How many of its messages were taken before. */
  readonly aside: number;
  /** The thread it goes on in already. */
  readonly continuedIn: string | undefined;
}

interface Where {
  readonly workspace_id: string;
  readonly thread_id: string;
}

/** Brings a thread up to its session: what is new is appended, and nothing that stands in it changes. */
export async function continueThread(
  deps: ImportsDeps,
  where: Where,
  given: Incoming,
  { call, dryRun }: { readonly call: Call; readonly dryRun: boolean },
): Promise<Outcome | Aside> {
  return withThread(deps, where, async (located, file) => {
    const ledger = ledgerOf(await file.envelope());
    if (!ledger) return { status: "skipped", reason: "the thread of this id was not imported" };
    const { continuedIn } = ledger;
    if (ledger.contentSha256 === given.session.contentSha256 && !ledger.held)
      return { status: "exists", messages: settledIn(ledger) };
    if (continuedIn !== undefined) return { aside: ledger.messages, continuedIn };
    const found = await compare(file, ledger, given);
    if ("status" in found) return found;
    const { fresh, after, taking, aside } = found;
    if (aside) return { aside: ledger.messages, continuedIn };
    if (dryRun) return outcome(fresh, taking);
    if (fresh > 0) await append(file, after, given);
    await keep(file, ledger, taking.ledger());
    await reflectThread(deps, { ...located, row: undefined }, call);
    return outcome(fresh, taking);
  });
}

function outcome(added: number, { messages }: Taking): Outcome {
  return added === 0 ? { status: "exists", messages } : { status: "updated", messages, added };
}

/** The log says what is there, not the ledger: an import that died in between has appended more than it noted. */
async function compare(file: ThreadFile, ledger: Ledger, given: Incoming): Promise<Comparison | Outcome> {
  const logged: string[] = [];
  for await (const entry of file.newMessages(0)) if ("message" in entry) logged.push(entry.message.id);
  const comparison = new Comparison(logged, ledger, new Taking(given));
  for await (const next of settledMessages(given)) {
    const reason = comparison.meet(next);
    if (reason !== undefined) return { status: "skipped", reason };
  }
  return comparison.taking.messages < ledger.messages
    ? { status: "skipped", reason: CHANGED_THERE }
    : comparison;
}

/** A session beside the thread that was made of it. */
class Comparison {
  /** How many messages of the session are not in the thread, and the last that is. */
  fresh = 0;
  after: string | undefined;
  #at = 0;
  #changed = false;

  constructor(
    readonly logged: readonly string[],
    readonly ledger: Ledger,
    readonly taking: Taking,
  ) {}

  /** The next message of the session; answers why the two do not fit together, if they do not. */
  meet(next: SourceMessage): string | undefined {
    const isThere = this.logged[this.#at] === next.message.id;
    if (!isThere && this.#at < settledIn(this.ledger)) return CHANGED_HERE;
    this.taking.add(next);
    if (isRewritten(this.taking, this.ledger)) return CHANGED_THERE;
    if (isThere) this.#isThere(next);
    else this.fresh += 1;
    return undefined;
  }

  /** Something stands there that is not of the session, or the last that was taken is another by now. */
  get aside(): boolean {
    return this.#changed || (this.fresh > 0 && this.#at < this.logged.length);
  }

  /** What was taken before it was complete stands there as it was; complete, it is another message. */
  #isThere({ message }: SourceMessage): void {
    const { messages, openSha256 } = this.ledger;
    if (this.#at === messages && openSha256 !== undefined) this.#changed = hashOf(message) !== openSha256;
    this.#at += 1;
    this.after = message.id;
  }
}

/** Whether what was taken earlier is another in the source by now. */
function isRewritten({ tally }: Taking, { format, messages, messagesSha256 }: Ledger): boolean {
  return format === FORMAT && tally.messages === messages && tally.messagesSha256 !== messagesSha256;
}

function settledIn({ messages, openSha256 }: Ledger): number {
  return messages + (openSha256 === undefined ? 0 : 1);
}

const CHANGED_HERE =
  "its messages were changed or cleared here: delete the thread for good to import the session anew";
const CHANGED_THERE =
  "what was imported earlier is another in the session now: the thread was left as it is. Delete it for good to import the session anew";

/** In the order of the session, some at a time: a long one is never in memory as a whole. */
async function append(file: ThreadFile, after: string | undefined, given: Incoming): Promise<void> {
  let behind = after === undefined;
  let batch: Message[] = [];
  const flush = async () => {
    await Promise.all(batch.map((message) => file.append(message)));
    batch = [];
  };
  for await (const { message } of settledMessages(given)) {
    if (!behind) behind = message.id === after;
    else if (isSurelyTaken(message)) batch.push(message);
    else {
      await flush();
      await appendOr(file, message, given);
    }
    if (batch.length >= BATCH) await flush();
  }
  await flush();
}

const BATCH = 64;
const SMALL = 1024 * 1024;

/** What may be refused goes alone: in a batch, what stands in its place would come behind the rest of it. */
function isSurelyTaken(message: Message): boolean {
  return messageSchema.safeParse(message).success && JSON.stringify(message).length <= SMALL;
}

async function appendOr(file: ThreadFile, message: Message, given: Incoming): Promise<Message> {
  return file.append(message).catch((error) => {
    if (!isKind(error, "atsf.invalid_message")) throw error;
    return file.append(substitute(given, message, error.message));
  });
}

/** When nothing is known that was not, the file stays as it is. */
async function keep(file: ThreadFile, before: Ledger, ledger: Ledger): Promise<void> {
  const { importedAt } = ledger;
  if (isDeepStrictEqual({ ...before, importedAt }, ledger)) return;
  await file.change([{ path: ["metadata", "heddle", "import"], value: ledger }]);
}

/** Notes where a session goes on that was continued here meanwhile. */
export async function continueAside(deps: ImportsDeps, where: Where, continuedIn: string): Promise<void> {
  await withThread(deps, where, async (_, file) => {
    await file.change([{ path: ["metadata", "heddle", "import", "continuedIn"], value: continuedIn }]);
  });
}
