import { threads } from "../store/index.js";
import type { Call } from "../tree/index.js";
import { type Incoming, incoming, settledMessages, titleFor } from "./branch.js";
import { type Aside, continueAside, continueThread } from "./continue-thread.js";
import type { ImportsDeps } from "./deps.js";
import { threadIdOf } from "./ids.js";
import { makeThread } from "./make-thread.js";
import type { Outcome } from "./outcome.js";
import type { FoundSession, Lost } from "./session.js";
import { sources } from "./tools.js";

/** What became of a thread of a session, for the caller to tell. */
export interface ImportedBranch extends Outcome {
  readonly thread_id: string;
  readonly workspace_id: string;
  readonly title: string;
  readonly parent_thread_id: string | undefined;
  readonly lossy: readonly Lost[];
}

interface Manner {
  readonly call: Call;
  readonly dryRun: boolean;
}

/** Takes in a session: its trunk, then each of its branches. */
export async function importSession(
  deps: ImportsDeps,
  found: FoundSession,
  workspace_id: string,
  manner: Manner,
): Promise<ImportedBranch[]> {
  const session = await sources[found.tool].open(found);
  try {
    const results: ImportedBranch[] = [];
    for (const branch of session.branches) {
      const given = incoming(found, session, branch, deps.clock.now());
      const outcome = await importBranch(deps, workspace_id, given, manner);
      results.push({
        workspace_id,
        thread_id: given.thread_id,
        title: titleFor(given),
        parent_thread_id: given.parent_thread_id,
        // Told once for a session, not for each of its branches, and when something of it was taken.
        lossy: branch.key === "" && TAKEN.has(outcome.status) ? session.lossy.list() : [],
        ...outcome,
      });
    }
    if (results.length > 0) return results;
    const none = { status: "skipped" as const, reason: "it has no messages", parent_thread_id: undefined };
    const thread_id = threadIdOf(found.tool, found.id);
    return [
      { ...none, workspace_id, thread_id, title: session.title ?? found.id, lossy: session.lossy.list() },
    ];
  } finally {
    await session.close();
  }
}

const TAKEN = new Set(["imported", "updated"]);

type Placed = Outcome & { readonly workspace_id?: string };

/** More threads than a session is ever put aside in. */
const MOST_ASIDE = 100;

async function importBranch(
  deps: ImportsDeps,
  chosen: string,
  first: Incoming,
  manner: Manner,
): Promise<Placed> {
  let given = first;
  for (let left = MOST_ASIDE; left > 0; left--) {
    const next = await importInto(deps, chosen, given, manner);
    if ("status" in next) return given === first ? next : { thread_id: given.thread_id, ...next };
    given = next;
  }
  return { status: "skipped", reason: "it was put aside too often" };
}

/** Into the thread of this id; or into which other one, where that has no place for it. */
async function importInto(
  deps: ImportsDeps,
  chosen: string,
  given: Incoming,
  manner: Manner,
): Promise<Placed | Incoming> {
  const { thread_id } = given;
  const there = await whereIs(deps, thread_id, chosen);
  if (there === "deleted") return { status: "skipped", reason: DELETED };
  const workspace_id = there ?? chosen;
  const made = there ? undefined : await make(deps, workspace_id, given, manner);
  if (made && made.status !== "exists") return { ...made, workspace_id };
  const found = await continueThread(deps, { workspace_id, thread_id }, given, manner);
  if ("status" in found) return { ...found, workspace_id };
  const aside = asideOf(given, found);
  if (found.continuedIn !== undefined || (await whereIs(deps, aside.thread_id, workspace_id))) return aside;
  const result = await make(deps, workspace_id, aside, manner);
  if (!manner.dryRun) await continueAside(deps, { workspace_id, thread_id }, aside.thread_id);
  return { ...result, workspace_id, thread_id: aside.thread_id, reason: ASIDE };
}

/** The same branch for a thread of its own, which is the same one on every try. */
function asideOf(given: Incoming, { continuedIn, aside }: Aside): Incoming {
  const { found, branch, thread_id } = given;
  const key = `${branch.key}+${aside}+${thread_id}`;
  return {
    ...given,
    thread_id: continuedIn ?? threadIdOf(found.tool, found.id, key),
    parent_thread_id: thread_id,
  };
}

const DELETED = "its thread was deleted here: bring it back, or wait until it is gone for good";
const ASIDE =
  "its thread went on here, so what is new in the session is in a thread of its own, which begins at the beginning";

async function make(
  deps: ImportsDeps,
  workspace_id: string,
  given: Incoming,
  { call, dryRun }: Manner,
): Promise<Outcome> {
  if (!dryRun) return makeThread(deps, workspace_id, given, call);
  let messages = 0;
  for await (const _ of settledMessages(given)) messages += 1;
  if (messages === 0) return { status: "skipped", reason: "it has no messages" };
  return { status: "imported", messages, added: messages };
}

/** The workspace that has the thread: it may have been imported into another one. */
async function whereIs(
  deps: ImportsDeps,
  thread_id: string,
  chosen: string,
): Promise<string | "deleted" | undefined> {
  return deps.store.read(function* () {
    const living = yield* threads.findThreads(thread_id, "living");
    const one = living.find(({ workspace_id }) => workspace_id === chosen) ?? living[0];
    if (one) return one.workspace_id;
    return (yield* threads.findThreads(thread_id, "deleted")).length > 0 ? "deleted" : undefined;
  });
}
