import type { Agents } from "../agents/index.js";
import { HeddleError } from "../base/index.js";
import type { Log } from "../gateway/index.js";
import { type ConfigPlace, type FoundConfig, placeOf, readConfigFile } from "./config-file.js";
import { stampOf } from "./file-stamp.js";

const LOOK_MS = 250;

export interface LivePlace extends ConfigPlace {
  readonly log: Log;
}

/** What is done with what is found. */
export interface LiveUses {
  readonly agents: Agents;
  /** All of it or, with an error, nothing. */
  apply(found: FoundConfig): Promise<void>;
  /** Tells clients that the agents are others now, or that an edit is not in effect. */
  announce(): Promise<void>;
  /** Done each time files are looked at. */
  alsoLook(): void;
}

/**
 * The configuration file, followed for as long as the gateway runs: made, edited, replaced or removed, it counts from the
 * next run on. What can't be used changes nothing, and everyone who asks for agents is told why.
 */
export class LiveConfig {
  #found: FoundConfig;
  readonly #place: LivePlace;
  readonly #file: string;
  /** Of the state of the file that was read last, and of one that may not be whole yet. */
  #stamp: string;
  #seen: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> = Promise.resolve();

  /** Throws what is wrong with the configuration: a gateway does not start with half of one. */
  constructor(place: LivePlace) {
    this.#place = place;
    this.#file = placeOf(place);
    this.#stamp = stampOf(this.#file);
    this.#found = readConfigFile(place);
    this.#warn(this.#found);
  }

  /** What is in effect now. */
  get found(): FoundConfig {
    return this.#found;
  }

  follow(uses: LiveUses): void {
    uses.agents.configFile = this.#file;
    const look = () => {
      uses.alsoLook();
      const stamp = stampOf(this.#file);
      const rests = stamp === this.#seen;
      this.#seen = stamp;
      // An editor writes in several steps: what changed since the last look may change once more.
      if (stamp === this.#stamp || !rests) return;
      this.#stamp = stamp;
      this.#reading = this.#reading.then(() => this.#read(uses));
    };
    this.#timer = setInterval(look, LOOK_MS).unref();
  }

  /** Does something with what is in effect, while no edit comes in between. */
  withFound(work: (found: FoundConfig) => Promise<void>): Promise<void> {
    const worked = this.#reading.then(() => work(this.#found));
    this.#reading = worked.catch(() => {});
    return worked;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reading;
  }

  async #read(uses: LiveUses): Promise<void> {
    const { log } = this.#place;
    try {
      const found = readConfigFile(this.#place);
      await uses.apply(found);
      this.#found = found;
      uses.agents.problem = undefined;
      this.#warn(found);
      log.info({ file: this.#file }, "the configuration is another now");
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      uses.agents.problem = `${why} Until then the configuration before this edit is in effect.`;
      const more = error instanceof HeddleError ? {} : { err: error };
      log.warn({ file: this.#file, ...more }, `this edit of the configuration is not in effect: ${why}`);
    }
    await uses.announce().catch((error) => log.warn({ err: error }, "not everyone was told of new agents"));
  }

  #warn({ file, warnings }: FoundConfig): void {
    for (const { message } of warnings) this.#place.log.warn({ file }, message);
  }
}
