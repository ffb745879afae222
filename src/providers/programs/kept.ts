import type { Conversation, Turn } from "./program.js";

/** So many processes wait for a next turn; the one that has waited longest makes room. */
const MOST_KEPT = 8;

interface Waiting {
  readonly conversation: Conversation;
  readonly timer: NodeJS.Timeout;
}

/** Processes that wait for the next turn of their thread. */
export class Kept {
  readonly #keepMs: number;
  readonly #waiting = new Map<string, Waiting>();
  readonly #ending = new Set<Promise<void>>();

  constructor(keepMs: number) {
    this.#keepMs = keepMs;
  }

  /** The one of this thread, when it can go on; one that can't is ended first: two would write one session. */
  async take(key: string, turn: Turn): Promise<Conversation | undefined> {
    const conversation = this.#remove(key);
    if (!conversation) return undefined;
    if (turn.session && conversation.fits(turn)) return conversation;
    await conversation.end("politely");
    return undefined;
  }

  keep(key: string, conversation: Conversation): void {
    const before = this.#remove(key);
    if (before) this.#end(before);
    const timer = setTimeout(() => this.#release(key), this.#keepMs);
    timer.unref();
    this.#waiting.set(key, { conversation, timer });
    conversation.onOver = () => this.#remove(key);
    const [longest] = this.#waiting.keys();
    if (this.#waiting.size > MOST_KEPT && longest !== undefined) this.#release(longest);
  }

  /** Those of a thread, or of all threads whose keys begin with this one and a slash. */
  async release(key?: string): Promise<void> {
    for (const one of [...this.#waiting.keys()])
      if (key === undefined || one === key || one.startsWith(`${key}/`)) this.#release(one);
    await Promise.all(this.#ending);
  }

  #release(key: string): void {
    const conversation = this.#remove(key);
    if (conversation) this.#end(conversation);
  }

  #remove(key: string): Conversation | undefined {
    const waiting = this.#waiting.get(key);
    if (!waiting) return undefined;
    this.#waiting.delete(key);
    clearTimeout(waiting.timer);
    waiting.conversation.onOver = undefined;
    return waiting.conversation;
  }

  #end(conversation: Conversation): void {
    const ending = conversation.end("politely").finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}
