import type { threadFiles } from "../store/index.js";
import { isLogIndexed } from "../threads/index.js";
import { compile } from "./compile-next.js";
import type { RunsDeps } from "./deps.js";
import type { PromptCompiled } from "./fold/events.js";
import { prepareRun } from "./prepare.js";
import { type AddedHistory, addHistory, isPresent, type SessionHistory } from "./session/history.js";
import type { Frozen, Input, KeptBlob, PreparedRun } from "./session/parts.js";
import type { ThreadSession } from "./session/session.js";

interface Asked {
  readonly run_id: string;
  readonly frozen: Frozen;
  readonly input: Input;
  readonly thread: threadFiles.ThreadSettingsRow;
}

/** The first step of a run that is not admitted yet. */
interface FirstStep extends Pick<Asked, "run_id" | "input" | "thread"> {
  readonly prepared: PreparedRun;
  readonly history: SessionHistory;
  /** The journal when it was prepared. */
  readonly head: ThreadSession["position"]["head"];
}

/**
 * Prepares the first step before its run is admitted, so that both are one commit. Undefined where something must be
 * waited for, read or written first, or goes wrong: the run is admitted then, and finds out in its turn.
 */
export async function prepareFirst(
  deps: RunsDeps,
  session: ThreadSession,
  { run_id, frozen, input, thread }: Asked,
): Promise<FirstStep | undefined> {
  const { history, key } = session;
  const { head } = session.position;
  if (!history || !isAtRest(deps, session, history, thread)) return undefined;
  const prepared = await prepareRun(deps, {
    key,
    run_id,
    configRef: frozen.encoded.ref,
    config: frozen.config,
    input: input.preview,
    before: session.lastPrepared,
  }).catch(() => undefined);
  return prepared && { run_id, input, thread, prepared, history, head };
}

/** Nothing is under way, its agent was told all that the index has of the log, and nobody's own code is asked. */
function isAtRest(
  deps: RunsDeps,
  { active, key }: ThreadSession,
  history: SessionHistory,
  thread: threadFiles.ThreadSettingsRow,
): boolean {
  return (
    active === undefined &&
    isPresent(history, thread) &&
    thread.log_size === history.covered &&
    !deps.hooks.reachesOut("turn.pre_prompt_compile") &&
    !deps.setups.isUnderWay(key.workspace_id, key.thread_id)
  );
}

/** Nobody has begun anything here since then, or is at work on its files: a thread that is cleared is not told what it was. */
function isUntouched(
  { files }: RunsDeps,
  { key, position, history }: ThreadSession,
  before: FirstStep,
): boolean {
  return (
    position.head === before.head &&
    history === before.history &&
    !files.isTaken(key.workspace_id, key.thread_id) &&
    isLogIndexed({ files }, key, before.thread)
  );
}

interface CompiledFirst {
  readonly event: PromptCompiled;
  readonly told: AddedHistory;
  readonly blobs: readonly KeptBlob[];
  /** Takes it for what is, once it is committed. */
  readonly adopt: () => void;
}

/**
 * Compiles it, in the session's turn. The question is told before it stands in the log, which follows
 * (`log-question.ts`). Undefined as above, and where the thread has gone on since it was prepared.
 */
export function compileFirst(
  deps: RunsDeps,
  session: ThreadSession,
  first: FirstStep,
): CompiledFirst | undefined {
  if (!isUntouched(deps, session, first)) return undefined;
  const { run_id, input, prepared, history } = first;
  const added = addHistory(history, [{ encoded: input.encoded, message_id: input.message.id }]);
  const turn = history.end.length;
  const compiled = orNothing(() =>
    compile(deps, session, { run_id, step: 1, prepared, history, added, turn }),
  );
  if (!compiled) return undefined;
  const { event, told, marker } = compiled;
  const adopt = () => {
    session.prepared = prepared;
    session.lastPrepared = prepared;
    session.turn = turn;
    session.unlogged = true;
  };
  return { event, told, blobs: [...prepared.blobs, ...marker], adopt };
}

/** What does not fit a model is the run's failure, and not the caller's. */
function orNothing<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
