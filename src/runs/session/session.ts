import { setMaxListeners } from "node:events";
import type { Message } from "../../atsf/index.js";
import { Turns } from "../../base/index.js";
import type { EncodedMessage, ToTell } from "../../prompts/index.js";
import type { PromptMessage } from "../../providers/index.js";
import type { RunEvent } from "../fold/events.js";
import type { JournalPosition } from "../fold/plan.js";
import type { Live } from "../live.js";
import { Transcript } from "../transcript.js";
import type { SessionHistory } from "./history.js";
import type { Ending, Frozen, Input, PreparedRun, SessionKey } from "./parts.js";

/**
 * What is kept in memory of a thread whose agent is asked: where its journal stands, what it was told, what is under way.
 * All of it can be read again from the store.
 */
export class ThreadSession {
  readonly key: SessionKey;
  position: JournalPosition;
  /** The number of the thread's latest run. */
  lastNumber: number;
  /** What the run under way has said and done so far. */
  transcript = new Transcript();
  /** Loaded with the first run. */
  history: SessionHistory | undefined;
  /** What the run under way is compiled from. */
  prepared: PreparedRun | undefined;
  live: Live | undefined;
  /** Ends the run under way; the reason says how. */
  stop = newStop();
  driving: Promise<void> | undefined;
  /** Whoever drives is posting to an agent elsewhere, and goes on with the run when its answer comes meanwhile. */
  posting = false;
  /** Resolves when what was gone on from is on disk: before that, nothing that follows from it is done or told. */
  durable: Promise<unknown> | undefined;
  /** Somebody here has carried on what is under way. */
  driven = false;
  /** What came of the steps so far and has not been told: it is told with the next step, or at the end. */
  toTell: ToTell[] = [];
  /** Calls of tools that the program at work waits for. */
  atBridge = 0;
  /** Ids of the calls that the run under way has made. */
  readonly callIds = new Set<string>();
  /** What the tools of this step have answered, by call. */
  readonly toolAnswers = new Map<string, ToTell>();
  /** What the model answered last: its calls are being carried out. */
  answer: PromptMessage | undefined;
  /** Where in the history the turn of the run under way begins. */
  turn = 0;
  /** Stands for what of the history is not sent any more. */
  marker: EncodedMessage | undefined;
  /** What the run under way is about to write may be there already: a gateway is gone, or a write was not committed. */
  perhapsWritten = false;
  /** What the run under way was asked is told and not in the log yet: it is written there before anything else of it. */
  unlogged = false;
  /** Why it could not be written there: the run ends with that. */
  unloggable: Error | undefined;
  /** Why the run under way must end, as long as that could not be recorded. */
  failure: Error | undefined;
  /** How it is to end, once that is decided. */
  ending: Ending | undefined;
  /** Its last messages, once they were put together: they are the same however often they are tried to be written. */
  lastMessages: readonly Message[] | undefined;
  /** What waits to be told, by the id of its message; what is missing here is restored from the journal. */
  readonly inputs = new Map<string, Input>();
  /** What the run before was compiled from: most often the next one is compiled from the same. */
  lastPrepared: PreparedRun | undefined;
  /** Numbers of blobs that are about to be part of the history, by hash. */
  readonly told = new Map<string, number>();
  /** What the last run was frozen to, and for what: most often the next one is frozen to the same. */
  lastFrozen: { readonly key: string; readonly frozen: Frozen } | undefined;
  /** Blobs this thread is known to hold on to. */
  readonly held = new Set<string>();
  readonly #turns = new Turns();
  #waiting: (() => void)[] = [];

  constructor(key: SessionKey, position: JournalPosition, lastNumber: number) {
    this.key = key;
    this.position = position;
    this.lastNumber = lastNumber;
  }

  get active() {
    return this.position.state.active;
  }

  /** One change of the journal at a time: what is planned must still hold when it is written. */
  change<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run("", work);
  }

  /** Resolves when the journal goes on. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Takes what was written as what is. */
  adopt(position: JournalPosition, happened: readonly RunEvent[]): void {
    const before = this.active?.run_id;
    const { head, state, rows } = position;
    this.position = { head, state, rows };
    for (const go of this.#waiting.splice(0)) go();
    for (const event of happened) {
      if (event.type === "run.requested") this.lastNumber = Math.max(this.lastNumber, event.number);
    }
    if (before === this.active?.run_id) return;
    this.transcript = new Transcript();
    this.prepared = undefined;
    this.live = undefined;
    this.toTell = [];
    this.toolAnswers.clear();
    this.callIds.clear();
    this.answer = undefined;
    this.perhapsWritten = false;
    this.unlogged = false;
    this.unloggable = undefined;
    this.failure = undefined;
    this.ending = undefined;
    this.lastMessages = undefined;
    this.stop = newStop();
  }

  /** Roughly how much memory it takes: what was parsed, and written for a model, is more than its text. */
  get weight(): number {
    return 24_576 + 4 * (this.history?.bytes ?? 0);
  }
}

/** Why a run stops: somebody wants it, or the gateway does. One that is left goes on waiting in the next gateway. */
export type StopReason = "cancelled" | "interrupted" | "left";

/** Every tool of a step listens to it, however many a model calls at once. */
function newStop(): AbortController {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  return stop;
}
