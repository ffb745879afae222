import { setMaxListeners } from "node:events";
import { type Agents, localAgents } from "../agents/index.js";
import { type Around, lookAround } from "./look-around.js";

const EVERY_MS = 60_000;

export interface LookoutGiven {
  readonly agents: Agents;
  readonly around: Around;
  /** Whether anyone would see what is found. */
  needed(): boolean;
  /** Told when others were found than before. */
  changed(): void;
}

/** Keeps an eye on what could be asked on this machine. Nobody waits for it but who wants a list of agents at once. */
export class Lookout {
  readonly #given: LookoutGiven;
  #timer: NodeJS.Timeout | undefined;
  #last = "[]";
  #standing: string | undefined;
  /** However many ask for it at once, there is one look. */
  #looking: Promise<void> | undefined;
  readonly #stop = new AbortController();

  constructor(given: LookoutGiven) {
    this.#given = given;
    // Every server that is asked listens to it.
    setMaxListeners(0, this.#stop.signal);
  }

  begin(): void {
    this.#given.agents.look = () => this.look();
    this.look();
    this.#timer = setInterval(() => void this.#look(), EVERY_MS).unref();
  }

  /** At once: who asks for agents from now on waits for what is found. */
  look(): void {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    this.#given.agents.looked = this.#looking;
  }

  stop(): void {
    this.#stop.abort();
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const { agents, around, needed, changed } = this.#given;
    const { signal } = this.#stop;
    if (signal.aborted) return;
    const found = needed() ? await lookAround(around, signal) : undefined;
    if (signal.aborted) return;
    const now = found ? JSON.stringify(found) : this.#last;
    const isFound = now !== this.#last;
    this.#last = now;
    if (found && isFound) agents.update({ found: localAgents(found) });
    if (this.#stands(isFound) || isFound) changed();
  }

  /** Whether programs are there, or not any more, or signed in to, since the last look. */
  #stands(isFound: boolean): boolean {
    const { agents } = this.#given;
    const standing = agents.common.standing();
    const isSame = this.#standing === undefined || standing === this.#standing;
    this.#standing = standing;
    // Who answers when nobody was chosen is decided when the agents are made.
    if (!isSame && !isFound) agents.update({});
    return !isSame;
  }
}
