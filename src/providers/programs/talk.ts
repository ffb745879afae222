import { failedEvent } from "../failure.js";
import type {
  Delivery,
  GenerateOptions,
  GenerateRequest,
  Provider,
  ProviderEvent,
  SentRequest,
} from "../provider.js";
import type { ProgramConfig } from "./config.js";
import { Kept } from "./kept.js";
import {
  type Handover,
  type Program,
  ProgramProblem,
  SessionLost,
  type Turn,
  type WorkRequest,
} from "./program.js";
import { TurnEvents } from "./turn-events.js";
import { turnOf } from "./turn-of.js";

/** A program behind the contract of a provider: one end, an abort at any moment, nothing thrown, nothing left running. */
export function programProvider(program: Program, config: ProgramConfig): Provider {
  const kept = new Kept(config.timeouts.keepMs);
  return {
    id: program.id,
    async *generate(request, options = {}) {
      yield* new Talk({ program, config, kept }, needsPlace(program, request), options).events();
    },
    async prepare(request) {
      const asked = needsPlace(program, request);
      const prepared = (turn: Turn) => sent(program.converse(turn, config).handover(turn));
      try {
        return prepared(turnOf(asked));
      } catch (error) {
        if (!(error instanceof SessionLost)) throw error;
        return prepared(turnOf(asked, { anew: true }));
      }
    },
    load: async () => {},
    release: (key) => kept.release(key),
  };
}

function needsPlace({ id }: Program, request: GenerateRequest): WorkRequest {
  const { work } = request;
  if (!work) throw new TypeError(`the provider ${id} was asked without a place to work in`);
  return { ...request, work };
}

function sent({ url, body }: Handover): SentRequest {
  return { url, body };
}

interface Stage {
  readonly program: Program;
  readonly config: ProgramConfig;
  readonly kept: Kept;
}

/** One turn, from the process to its end. */
class Talk {
  readonly #stage: Stage;
  readonly #request: WorkRequest;
  readonly #signal: AbortSignal | undefined;
  readonly #after: Promise<unknown> | undefined;

  constructor(stage: Stage, request: WorkRequest, { signal, after }: GenerateOptions) {
    this.#stage = stage;
    this.#request = request;
    this.#signal = signal;
    this.#after = after;
  }

  async *events(): AsyncGenerator<ProviderEvent> {
    const first = turnOf(this.#request);
    try {
      const lost = yield* this.#turn(first);
      // What was lost is told anew; a session that is new can't be lost again.
      if (lost) yield* this.#turn(turnOf(this.#request, { anew: true }));
    } catch (error) {
      if (this.#signal?.aborted) return yield { type: "aborted" };
      yield this.#failure(error);
    }
  }

  /** Answers true when the session is lost. The last event says how it ended, unless it is. */
  async *#turn(turn: Turn): AsyncGenerator<ProviderEvent, boolean> {
    const { kept, config } = this.#stage;
    const { key } = turn.work;
    const before = await kept.take(key, turn);
    const conversation = before ?? this.#stage.program.converse(turn, config);
    const events = new TurnEvents(conversation, {
      signal: this.#signal,
      silenceMs: config.timeouts.silenceMs,
      isAwaited: () => turn.work.isAwaited?.() ?? false,
    });
    let well = false;
    try {
      events.throwIfOver();
      if (!before) {
        await this.#after;
        await events.within(conversation.open(), config.timeouts.startMs);
      }
      yield requestEvent(conversation.handover(turn), turn);
      await this.#after;
      yield* events.of(asking(turn, events), (asked, tell) => conversation.ask(asked, tell));
      well = true;
    } catch (error) {
      if (error instanceof SessionLost && turn.session) return true;
      throw error;
    } finally {
      // Also when whoever reads has gone: a turn that did not end well leaves nothing behind.
      if (well) kept.keep(key, conversation);
      else await conversation.end("now");
      events.close();
    }
    return false;
  }

  #failure(error: unknown): ProviderEvent {
    const { id } = this.#stage.program;
    if (!(error instanceof ProgramProblem)) throw error;
    return failedEvent({ code: error.code, words: `${id}: ${error.message}`, again: false });
  }
}

function requestEvent({ url, body, delivery }: Handover, { instructionsHash }: Turn): ProviderEvent {
  const told: Delivery = { ...delivery, instructions: instructionsHash };
  return { type: "request", url, body, delivery: told };
}

/** While somebody is asked the program's silence is not its fault. */
function asking(turn: Turn, events: TurnEvents): Turn {
  const { work } = turn;
  return { ...turn, work: { ...work, ask: (asked) => events.whileAsking(work.ask(asked)) } };
}
