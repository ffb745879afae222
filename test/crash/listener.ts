import type { KnownThread, Ledger } from "./ledger.js";
import { Gone, type Line } from "./line.js";
import type { World } from "./world.js";

/** How much of what was heard before is asked for again, to be compared. */
const OVERLAP = 40;

/** A client that follows a workspace through every life of its gateway, from the last number it heard on. */
export class Listener {
  readonly problems: string[] = [];
  /** The numbers under which each message was told. */
  readonly #messages = new Map<string, number[]>();
  readonly #texts = new Map<number, string>();
  #last = 0;
  #line: Line | undefined;
  #isWhole = true;

  /** How many durable notifications it heard. */
  get heard(): number {
    return this.#last;
  }

  async follow(world: World): Promise<void> {
    const line = await world.line();
    this.#line = line;
    line.told = ({ method, params }) => this.#take(method, params);
    // What comes with the answer may be heard before it.
    const heard = this.#last;
    const after_seq = Math.max(0, heard - OVERLAP);
    const { resync, seq } = await line.call("subscribe", { workspace_id: world.workspace_id, after_seq });
    if (!resync) {
      if (seq < heard) this.problems.push(`lost: ${heard} notifications were heard, and there are ${seq}`);
      return;
    }
    // Too far back: the numbers go on from here, and nobody promises what came between.
    this.#isWhole = false;
    this.#last = seq;
  }

  /** Everything that was told so far has arrived. */
  async settled(): Promise<void> {
    await this.#line?.call("ping", {}).catch((error) => {
      if (!(error instanceof Gone)) throw error;
      this.problems.push("lost: whoever follows the notifications was hung up on");
    });
  }

  /** Every acknowledged message was told once. Those of runs that failed need not stand anywhere. */
  check(ledger: Ledger, failed: ReadonlySet<string> = new Set()): string[] {
    const told = this.#isWhole ? ledger.threads().flatMap((thread) => this.#checkTold(thread, failed)) : [];
    return [...this.problems, ...told];
  }

  #checkTold({ id: thread_id, log }: KnownThread, failed: ReadonlySet<string>): string[] {
    const owed = log.filter(({ id, maybe, run, steers }) => id && !maybe && !failed.has(run ?? steers ?? ""));
    return owed.flatMap(({ id = "", text }) => {
      const told = this.#messages.get(id) ?? [];
      const what = `"${text}" (${id}) in thread ${thread_id}`;
      if (told.length === 0) return [`lost: nobody was told of ${what}`];
      return told.length > 1 ? [`doubled: ${what} was told as notifications ${told.join(", ")}`] : [];
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: whatever came
  #take(method: string, params: any): void {
    const seq: unknown = params?.seq;
    if (typeof seq !== "number") return;
    const text = JSON.stringify({ method, params });
    if (seq <= this.#last) {
      this.#compare(seq, text);
      return;
    }
    if (seq !== this.#last + 1) this.problems.push(`lost: notification ${seq} came after ${this.#last}`);
    this.#last = seq;
    this.#texts.set(seq, text);
    this.#texts.delete(seq - 2 * OVERLAP);
    if (method === "message/appended")
      this.#messages.set(params.message.id, [...(this.#messages.get(params.message.id) ?? []), seq]);
  }

  /** What was told before a kill is what stands there after it. */
  #compare(seq: number, text: string): void {
    const before = this.#texts.get(seq);
    if (before === undefined || before === text) return;
    this.problems.push(`lost: notification ${seq} was ${before} and is ${text}`);
  }
}
