import { basename } from "node:path";
import { BEYOND_US } from "../../../base/index.js";
import type { FinishReason } from "../../provider.js";
import type { ProgramConfig } from "../config.js";
import {
  type Conversation,
  type Handover,
  type Program,
  ProgramProblem,
  SessionLost,
  type Tell,
  type Turn,
} from "../program.js";
import { Answer } from "./answer.js";
import { isLost } from "./failure.js";
import type { AskedLine, Line } from "./lines.js";
import {
  additions,
  argumentsOf,
  BRIDGE,
  bridgeKey,
  bridgeRequest,
  environmentOf,
  initializeRequest,
  messageLine,
  optionsOf,
} from "./options.js";
import { denied, permission } from "./permission.js";
import { ClaudeProcess, controlLine } from "./process.js";

/**
 * Claude Code, long-lived: a line of JSON for each message, its answer in lines of JSON. Instructions, bridge and permissions
 * go the same way, so nothing of them stands in an argument or a file.
 */
export const claude: Program = {
  id: "claude-cli",
  converse: (turn, config) => new ClaudeConversation(turn, config),
};

class ClaudeConversation implements Conversation {
  onOver: Conversation["onOver"];
  readonly #config: ProgramConfig;
  readonly #first: Turn;
  readonly #process: ClaudeProcess;
  #answer: Answer | undefined;
  #asked = 0;
  #session: string | undefined;
  #bridge = "";
  /** Requests for permission that it still waits for. */
  readonly #open = new Map<string, AbortController>();
  #early: string[] = [];

  constructor(turn: Turn, config: ProgramConfig) {
    this.#first = turn;
    this.#config = config;
    this.#process = new ClaudeProcess(turn, config, {
      line: (line) => this.#hear(line),
      diagnostic: (text) => this.#diagnostic(text),
      over: (problem) => this.#over(problem),
    });
  }

  async open(): Promise<void> {
    await this.#process.start();
    try {
      await this.#process.request(initializeRequest(this.#first));
    } catch (error) {
      throw this.#lostOr(error as Error, this.#first);
    }
  }

  fits(turn: Turn): boolean {
    const first = this.#first;
    const same = this.#startedWith(turn) === this.#startedWith(first);
    return this.#process.isThere && same && turn.session?.id === this.#session;
  }

  handover(turn: Turn): Handover {
    const kept = this.#asked > 0;
    const opening = [
      JSON.stringify(argumentsOf(turn, this.#config)),
      controlLine("heddle-1", initializeRequest(turn)),
    ];
    return {
      url: `process:${basename(this.#config.command)} -p`,
      body: [...(kept ? [] : opening), messageLine(turn)].join("\n"),
      delivery: {
        way: kept ? "already_there" : "system_prompt",
        session: kept ? "kept" : turn.session ? "resumed" : "new",
        replayed: turn.past.length,
        adds: additions(turn),
      },
    };
  }

  async ask(turn: Turn, tell: Tell): Promise<FinishReason> {
    const kept = this.#asked > 0;
    let isSilent = true;
    const telling: Tell = (event) => {
      isSilent = false;
      tell(event);
    };
    const answer = new Answer(turn, telling, this.#process.say);
    this.#answer = answer;
    this.#asked += 1;
    for (const text of this.#early.splice(0)) answer.diagnostic(text);
    try {
      await this.#connectBridge(turn);
      this.#process.send(messageLine(turn));
      const { problem } = this.#process;
      if (problem) answer.fail(problem);
      return await answer.ended;
    } catch (error) {
      // It had died while it waited, unnoticed.
      if (kept && isSilent && this.#process.problem?.code === "program.exited") throw new SessionLost();
      throw this.#lostOr(error as Error, turn);
    } finally {
      this.#session = answer.session;
      this.#answer = undefined;
    }
  }

  end(how: "politely" | "now"): Promise<void> {
    return this.#process.end(how);
  }

  /** All that a process can't change later. */
  #startedWith(turn: Turn): string {
    const { work, instructionsHash } = turn;
    const env = environmentOf(turn, this.#config, "");
    return JSON.stringify([optionsOf(turn), env, work.directory, instructionsHash]);
  }

  async #connectBridge(turn: Turn): Promise<void> {
    const key = bridgeKey(turn);
    if (key === this.#bridge) return;
    // What is there under this name would be kept as it is when only its tools have changed.
    if (this.#bridge !== "") await this.#process.request({ subtype: "mcp_set_servers", servers: {} });
    this.#bridge = key;
    if (key === "") return;
    const answer = await this.#process.request(bridgeRequest(turn));
    const { errors } = (answer ?? {}) as { errors?: Record<string, unknown> };
    const error = errors?.[BRIDGE];
    if (error === undefined) return;
    const words = this.#process.say(`can't reach the tools of Heddle: ${String(error)}`);
    throw new ProgramProblem("program.failed", words);
  }

  #hear(line: Line): void {
    if (line.type === "control_request") this.#permit(line).catch(() => this.#process.giveUp(beyondUs()));
    else if (line.type === "control_cancel_request") this.#withdraw(line.request_id);
    else if (this.#answer && !this.#answer.hasEnded) this.#answer.hear(line);
    // It works without having been asked, which no thread would know of; another process goes on with what it was told.
    else if (this.#asked > 0 && strays.has(line.type)) this.end("politely").catch(() => {});
  }

  async #permit({ request_id, request }: AskedLine): Promise<void> {
    const answer = this.#answer;
    const open = new AbortController();
    this.#open.set(request_id, open);
    if (request.subtype !== "can_use_tool") {
      const error = `${request.subtype} is not supported`;
      return this.#respond({ subtype: "error", request_id, error });
    }
    const { tool_use_id: id, tool_name: name, input } = request;
    if (answer && id !== undefined && name !== undefined) answer.calls.begin(id, name, input);
    const response = answer
      ? await permission(request, answer.turn, open.signal)
      : denied("Nothing was asked.");
    if (id !== undefined) answer?.calls.allowed(id);
    this.#respond({ subtype: "success", request_id, response });
  }

  #withdraw(request_id: string): void {
    this.#open.get(request_id)?.abort();
    this.#open.delete(request_id);
  }

  /** One that it has withdrawn gets no answer. */
  #respond(response: Record<string, unknown> & { readonly request_id: string }): void {
    if (this.#open.delete(response.request_id))
      this.#process.send(JSON.stringify({ type: "control_response", response }));
  }

  #diagnostic(text: string): void {
    if (this.#answer) this.#answer.diagnostic(text);
    // Before its first turn; later it has nobody to tell.
    else if (this.#asked === 0) this.#early.push(text);
  }

  #lostOr(error: Error, turn: Turn): Error {
    return turn.session && isLost(error.message) ? new SessionLost() : error;
  }

  #over(problem: string | undefined): void {
    const { problem: why } = this.#process;
    if (why) this.#answer?.fail(why);
    this.onOver?.(problem);
  }
}

/** What it asked for can't even be answered. */
function beyondUs(): ProgramProblem {
  return new ProgramProblem("program.unintelligible", BEYOND_US);
}

const strays: ReadonlySet<Line["type"]> = new Set(["assistant", "stream_event", "result"]);
