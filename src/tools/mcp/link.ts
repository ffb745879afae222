import { type Clock, unixSeconds } from "../../base/index.js";
import { failed } from "../outcome.js";
import type { ToolContext, ToolOutcome } from "../tool.js";
import { type Connection, type ConnectionGiven, openConnection, type TheirTool } from "./connection.js";
import { outcomeOf } from "./outcome-of.js";
import { problemOf } from "./problem.js";
import { boundedProgress } from "./progress.js";
import { type ReadTools, readTools } from "./read-tools.js";
import { hidingSecrets } from "./secrets.js";

export type McpState = "connecting" | "ready" | "failed" | "off";

export interface LinkGiven extends Omit<ConnectionGiven, "signal" | "changed"> {
  readonly name: string;
  readonly clock: Clock;
  /** Its tools were read, again or for the first time. */
  offer(link: ServerLink): void;
  /** Its state or problem is another. */
  told(link: ServerLink): void;
}

const NEVER = new AbortController().signal;

/** One configured server: connected in the background, again and again, until it is closed. Nobody waits for it but a call. */
export class ServerLink {
  readonly name: string;
  readonly #given: LinkGiven;
  readonly #hide: (text: string) => string;
  readonly #ending = new AbortController();
  readonly #waiting = new Set<() => void>();
  #living: Promise<void> | undefined;
  #state: McpState = "connecting";
  #since: number;
  #problem: string | undefined;
  #connection: Connection | undefined;
  #read: ReadTools = { tools: [] };
  #failures = 0;
  #hurry: () => void = () => {};
  #relisting: NodeJS.Timeout | undefined;
  #isStale = false;

  constructor(given: LinkGiven) {
    this.#given = given;
    this.name = given.name;
    this.#hide = hidingSecrets(given.entry);
    this.#since = unixSeconds(given.clock);
  }

  get entry() {
    return this.#given.entry;
  }

  get directory() {
    return this.#given.directory;
  }

  get tools(): ReadTools["tools"] {
    return this.#read.tools;
  }

  status() {
    const problem = this.#problem ?? this.#read.problem;
    return {
      name: this.name,
      state: this.#state,
      tools: this.#read.tools.length,
      ...(problem !== undefined && { problem: this.#hide(problem) }),
      since: this.#since,
    };
  }

  begin(): void {
    this.#living ??= this.#live();
  }

  async close(): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#relisting);
    this.#hurry();
    this.#wake();
    await this.#living;
  }

  /** Something went wrong where its tools are registered. */
  complain(problem: string | undefined): void {
    this.#become(this.#state, problem);
  }

  /** Waits for a server that is on its way, but not for one that is gone. What was begun is never begun again. */
  async call(tool: TheirTool, args: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome> {
    const connection = this.#alive() ?? (await this.#reconnected(context.signal));
    if (connection === undefined) {
      return failed(
        `The MCP server ${this.name} ${this.status().problem ?? "is not connected"}. Nothing was done. Go on without it, or try again later.`,
      );
    }
    try {
      const progress = boundedProgress((text) => context.progress?.(text));
      return outcomeOf(await connection.call(tool, args, { signal: context.signal, progress }));
    } catch (error) {
      return failed(this.#hide(this.#failureOf(connection, error)));
    }
  }

  #failureOf(connection: Connection, error: unknown): string {
    const gone = connection.problem();
    if (gone !== undefined) {
      return `The MCP server ${this.name} was lost in the middle of this call: it ${gone}. What it had done until then stands; look before you call it again.`;
    }
    return `The MCP server ${this.name} ${problemOf(error, this.#hide)}. If it had begun, what it had done until then stands.`;
  }

  async #live(): Promise<void> {
    const { signal } = this.#ending;
    // Whoever started us has other things to do first.
    await new Promise((resolve) => setImmediate(resolve));
    while (!signal.aborted) {
      this.#become("connecting", this.#problem);
      const began = performance.now();
      const problem = await this.#hold();
      if (signal.aborted) return;
      const { steadyMs, backoffMs, longestBackoffMs } = this.#given.timing;
      this.#failures = performance.now() - began >= steadyMs ? 1 : this.#failures + 1;
      this.#become("failed", problem);
      await this.#pause(Math.min(backoffMs * 2 ** (this.#failures - 1), longestBackoffMs));
    }
  }

  /** Connects and stays so as long as it lasts. Answers why it is over. */
  async #hold(): Promise<string> {
    const { signal } = this.#ending;
    let connection: Connection | undefined;
    const hangUp = () => connection?.close();
    try {
      connection = await openConnection({ ...this.#given, signal, changed: () => this.#relist() });
      signal.addEventListener("abort", hangUp);
      if (signal.aborted) return "";
      await this.#list(connection);
      this.#connection = connection;
      this.#become("ready", undefined);
      this.#given.offer(this);
      if (this.#isStale) this.#relist();
      return await connection.over;
    } catch (error) {
      return connection?.problem() ?? problemOf(error, this.#hide);
    } finally {
      this.#connection = undefined;
      signal.removeEventListener("abort", hangUp);
      await connection?.close();
    }
  }

  async #list(connection: Connection): Promise<void> {
    this.#isStale = false;
    const { tools, cut } = await connection.listTools();
    this.#read = readTools(tools, cut);
  }

  /** However often it changes its list, it is read again once in a while only; and always after the last change. */
  #relist(): void {
    this.#isStale = true;
    if (this.#relisting !== undefined || this.#connection === undefined || this.#ending.signal.aborted)
      return;
    this.#relisting = setTimeout(() => void this.#listAgain(), this.#given.timing.relistMs).unref();
  }

  async #listAgain(): Promise<void> {
    const connection = this.#connection;
    let problem: string | undefined;
    try {
      if (connection === undefined) return;
      await this.#list(connection);
    } catch (error) {
      problem = `could not list its tools again: it ${problemOf(error, this.#hide)}`;
    } finally {
      this.#relisting = undefined;
    }
    if (connection !== this.#connection || this.#ending.signal.aborted) return;
    this.#become("ready", problem);
    this.#given.offer(this);
    if (this.#isStale) this.#relist();
  }

  /** Settles when it was tried once, whatever came of it. */
  async tried(): Promise<void> {
    if (this.#state === "connecting" && this.#failures === 0) await this.#next(NEVER);
  }

  #become(state: McpState, problem: string | undefined): void {
    const isNews = state !== this.#state || problem !== this.#problem;
    if (state !== this.#state) this.#since = unixSeconds(this.#given.clock);
    this.#state = state;
    this.#problem = problem;
    if (state !== "connecting") this.#wake();
    if (isNews) this.#given.told(this);
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** One that is over is not used any more, though what belongs to it may still be ending. */
  #alive(): Connection | undefined {
    return this.#connection?.problem() === undefined ? this.#connection : undefined;
  }

  /** The next try is made at once: somebody waits for it. */
  async #reconnected(signal: AbortSignal): Promise<Connection | undefined> {
    if (this.#state === "ready") await this.#next(signal);
    this.#hurry();
    await this.#next(signal);
    return this.#alive();
  }

  /** Waits until it is ready or has failed. */
  async #next(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#ending.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake);
    });
  }
}
