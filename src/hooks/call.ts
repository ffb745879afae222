import type { HookContext } from "./context.js";
import { CallFailure } from "./errors.js";
import type { HookRun } from "./package.js";

export interface CallLimits {
  readonly limitMs: number;
  /** Fires when the answer is not wanted any more. */
  readonly signal: AbortSignal;
  /** Told of work that goes on although nobody waits for it, so that closing can. */
  readonly straggler: (work: Promise<unknown>) => void;
}

/** The call was not wanted any more. That is nobody's failure. */
export class GivenUp extends Error {}

const READY = 10;

/** Calls a hook and waits for its answer no longer than it may take, whatever it does meanwhile. */
export async function callHook(run: HookRun, context: HookContext, limits: CallLimits): Promise<unknown> {
  if (limits.signal.aborted) throw new GivenUp();
  // Made for those who look at it: it takes longer than most hooks do.
  let own: AbortController | undefined;
  let unwanted = false;
  const call = {
    get signal() {
      own ??= new AbortController();
      if (unwanted) own.abort();
      return own.signal;
    },
  };
  let ended = false;
  const work = Promise.resolve()
    .then(() => run(context, call))
    .finally(() => {
      ended = true;
    });
  // Most have their answer ready: they need no clock.
  for (let looks = 0; looks < READY && !ended; looks++) await undefined;
  if (ended) return work;
  try {
    return await inTime(work, limits);
  } finally {
    if (!ended) {
      unwanted = true;
      own?.abort();
      limits.straggler(work.catch(() => {}));
    }
  }
}

function inTime<T>(work: Promise<T>, { limitMs, signal }: CallLimits): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new GivenUp());
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", giveUp);
      settle();
    };
    const giveUp = () => end(() => reject(new GivenUp()));
    const late = () => end(() => reject(new CallFailure("late", `no answer within ${limitMs} ms`)));
    const timer = setTimeout(late, limitMs);
    signal.addEventListener("abort", giveUp);
    work.then(
      (answer) => end(() => resolve(answer)),
      (error) => end(() => reject(error)),
    );
  });
}
