import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { type ChildGiven, ChildProblem, LineChild } from "../../base/index.js";
import { McpProblem } from "./problem.js";
import type { McpSdk } from "./sdk.js";

const MOST_GARBAGE = 1_000;

/** A server that is a program of ours, in a process group of its own. When it has closed, nothing of that group is left. */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #sdk: McpSdk;
  readonly #child: LineChild;
  #garbage = 0;

  constructor(sdk: McpSdk, given: ChildGiven) {
    this.#sdk = sdk;
    this.#child = new LineChild(given, {
      line: (text) => this.#take(text.trim()),
      over: () => this.#over(),
    });
  }

  /** Why it is not there any more, and the end of what it wrote to its standard error. */
  problem(): string | undefined {
    const { problem, lastWords } = this.#child;
    return problem === undefined || lastWords === "" ? problem : `${problem}. It said: ${lastWords}`;
  }

  start(): Promise<void> {
    return this.#child.start().catch((error: ChildProblem) => {
      throw new McpProblem(error.message);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    try {
      this.#child.send(JSON.stringify(message));
    } catch (error) {
      throw error instanceof ChildProblem ? new McpProblem(error.message) : error;
    }
  }

  close(): Promise<void> {
    return this.#child.end();
  }

  #over(): void {
    const told = this.onclose;
    delete this.onclose;
    told?.();
  }

  #take(line: string): void {
    if (line === "") return;
    let message: JSONRPCMessage;
    try {
      message = this.#sdk.deserializeMessage(line);
    } catch {
      this.#garbage += 1;
      if (this.#garbage > MOST_GARBAGE)
        this.#child.giveUp("writes lines to its standard output that are no messages of the protocol");
      return;
    }
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }
}
