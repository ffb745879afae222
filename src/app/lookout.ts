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
  readonly #stop = new AbortController();

  constructor(given: LookoutGiven) {
    this.#given = given;
    // Every server that is asked listens to it.
    setMaxListeners(0, this.#stop.signal);
  }

  begin(): void {
    this.look();
    this.#timer = setInterval(() => void this.#look(), EVERY_MS).unref();
  }

  /** At once: who asks for agents from now on waits for what is found. */
  look(): void {
    this.#given.agents.looked = this.#look();
  }

  stop(): void {
    this.#stop.abort();
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const { agents, around, needed, changed } = this.#given;
    const { signal } = this.#stop;
    if (signal.aborted || !needed()) return;
    const found = await lookAround(around, signal);
    const now = JSON.stringify(found);
    if (signal.aborted || now === this.#last) return;
    this.#last = now;
    agents.update({ found: localAgents(found) });
    changed();
  }
}
