import { existsSync } from "node:fs";
import { VERSION } from "../../../base/index.js";
import type { Redact } from "../../http/redact.js";
import type { Delivery, FinishReason } from "../../provider.js";
import type { ProgramConfig } from "../config.js";
import {
  type Conversation,
  type Handover,
  ProgramProblem,
  SessionLost,
  type Tell,
  type Turn,
} from "../program.js";
import { redactorFor } from "../say.js";
import { TurnNotes } from "./notes.js";
import { Peer, PeerError } from "./peer.js";
import { decide } from "./permissions.js";
import { accountSchema, configSchema, initializedSchema, openedSchema, warningSchema } from "./protocol.js";
import { ASKS, addsOf, argumentsOf, sourceOf, threadParams, threadSettings, turnParams } from "./settings.js";

/** The first version whose own tools are known to be off when they are switched off. */
const LIMITABLE = [0, 166] as const;

const MOST_DIAGNOSTICS = 100;
const MOST_DIAGNOSTIC = 2_000;

/** An app-server with one thread. */
export class CodexConversation implements Conversation {
  readonly #first: Turn;
  readonly #config: ProgramConfig;
  readonly #args: readonly string[];
  readonly #peer: Peer;
  readonly #redact: Redact;
  /** What it said while nobody listened. */
  #held: string[] = [];
  #diagnostics = 0;
  #threadId: string | undefined;
  #asked = false;
  #current: { readonly turn: Turn; readonly notes: TurnNotes; readonly tell: Tell } | undefined;
  onOver: ((problem: string | undefined) => void) | undefined;

  constructor(turn: Turn, config: ProgramConfig) {
    this.#first = turn;
    this.#config = config;
    this.#args = argumentsOf(config, turn);
    this.#redact = redactorFor(config, turn.work.bridge);
    const { command, env } = config;
    this.#peer = new Peer(
      { command, args: this.#args, env, cwd: turn.work.directory },
      {
        notified: (method, params) => this.#notified(method, params),
        asked: (method, params) => this.#askedBy(method, params),
        garbage: (line) => this.#diagnose(line),
        over: (problem) => this.#over(problem),
      },
    );
  }

  async open(): Promise<void> {
    const turn = this.#first;
    if (isPinned(turn)) throw new SessionLost();
    if (!existsSync(turn.work.directory)) {
      throw new ProgramProblem("program.no_start", "can't be started: its folder is not there");
    }
    try {
      await this.#peer.start();
      await this.#introduce();
      await this.#openThread(turn);
    } catch (error) {
      throw this.#inWords(error);
    }
  }

  fits(turn: Turn): boolean {
    return (
      !this.#peer.isGone && turn.session?.id === this.#threadId && identity(turn) === identity(this.#first)
    );
  }

  handover(turn: Turn): Handover {
    if (isPinned(turn)) throw new SessionLost();
    const { session, instructions } = turn;
    const method = session ? "thread/resume" : "thread/start";
    const asking = JSON.stringify({ method: "turn/start", params: turnParams(turn) });
    const opening = [JSON.stringify(this.#args), JSON.stringify({ method, params: threadParams(turn) })];
    const replayed = turn.past.length;
    const adds = addsOf(turn);
    const isThere = this.#asked || (session !== undefined && turn.work.ownTools);
    const way: Delivery["way"] =
      isThere && instructions !== ""
        ? "already_there"
        : turn.work.ownTools
          ? "developer_instructions"
          : "system_prompt";
    return {
      url: `process:${this.#config.command} app-server`,
      body: this.#asked ? asking : [...opening, asking].join("\n"),
      delivery: { way, session: this.#asked ? "kept" : session ? "resumed" : "new", replayed, adds },
    };
  }

  async ask(turn: Turn, tell: Tell): Promise<FinishReason> {
    const threadId = this.#threadId;
    if (threadId === undefined) throw new Error("asked before it was open");
    const notes = new TurnNotes(threadId, tell);
    const wasKept = this.#asked;
    this.#current = { turn, notes, tell };
    this.#asked = true;
    this.#diagnostics = 0;
    try {
      // Codex may tell of the turn before it answers; what fails is told by the answer alone.
      await this.#peer.request("turn/start", { threadId, ...turnParams(turn) });
      await notes.ended;
      return "stop";
    } catch (error) {
      // It had died while it waited: nothing of this turn has happened.
      if (wasKept && !notes.hasBegun && this.#peer.isGone) throw new SessionLost();
      throw this.#inWords(error);
    } finally {
      this.#current = undefined;
    }
  }

  async end(how: "politely" | "now"): Promise<void> {
    await this.#peer.end(how);
  }

  async #introduce(): Promise<void> {
    const { ownTools } = this.#first.work;
    const capabilities = { experimentalApi: !ownTools, requestAttestation: false };
    const clientInfo = { name: "heddle", title: "Heddle", version: VERSION };
    const answer = await this.#peer.request("initialize", { clientInfo, capabilities });
    this.#peer.notify("initialized");
    if (!ownTools) needLimitable(initializedSchema.safeParse(answer).data?.userAgent ?? "");
    const account = await this.#perhaps("account/read", { refreshToken: false });
    const { data } = accountSchema.safeParse(account);
    if (data?.requiresOpenaiAuth && !data.account) {
      throw new ProgramProblem("program.signed_out", "is not signed in. Run `codex login`");
    }
  }

  async #openThread(turn: Turn): Promise<void> {
    const { session, work } = turn;
    const config = threadSettings(turn, work.ownTools ? [] : await this.#serversOfUser());
    const method = session ? "thread/resume" : "thread/start";
    let answer: unknown;
    try {
      answer = await this.#peer.request(method, { ...threadParams(turn), config });
    } catch (error) {
      // Whatever is wrong with the session, a new one can be begun; what is wrong with codex shows then.
      if (session && error instanceof PeerError) throw new SessionLost();
      if (error instanceof PeerError) throw new ProgramProblem("program.no_start", error.message);
      throw error;
    }
    const { data } = openedSchema.safeParse(answer);
    if (!data) throw new ProgramProblem("program.unintelligible", `answers ${method} in words unknown here`);
    const { thread, approvalPolicy } = data;
    if (approvalPolicy !== ASKS) {
      throw new ProgramProblem(
        "program.no_start",
        "does not take the policy under which it asks before it acts",
      );
    }
    // The instructions would be there twice, or those of codex not at all.
    if (session && thread.threadSource !== sourceOf(work)) throw new SessionLost();
    this.#threadId = thread.id;
  }

  async #serversOfUser(): Promise<string[]> {
    const answer = await this.#peer.request("config/read", { cwd: this.#first.work.directory });
    return Object.keys(configSchema.parse(answer).config.mcp_servers ?? {});
  }

  /** For questions that a version may not know. */
  async #perhaps(method: string, params: object): Promise<unknown> {
    try {
      return await this.#peer.request(method, params);
    } catch (error) {
      if (error instanceof PeerError) return undefined;
      throw error;
    }
  }

  #notified(method: string, params: unknown): void {
    try {
      if (method === "configWarning") this.#diagnose(warningSchema.parse(params));
      else this.#tellOf(method, params);
    } catch {
      this.#diagnose(`${method} in words unknown here`);
    }
  }

  #tellOf(method: string, params: unknown): void {
    this.#current?.notes.hear(method, params);
    // Only now is it sure that nobody else will be asked.
    if (this.#current?.notes.hasBegun) for (const text of this.#held.splice(0)) this.#diagnose(text);
  }

  async #askedBy(method: string, params: unknown): Promise<unknown> {
    if (!this.#current) throw new Error("nobody is there to answer");
    const { turn, notes } = this.#current;
    return decide(method, params, { work: turn.work, notes });
  }

  #diagnose(line: string): void {
    if (this.#diagnostics >= MOST_DIAGNOSTICS) return;
    this.#diagnostics += 1;
    const text = this.#redact(line.slice(0, MOST_DIAGNOSTIC));
    if (this.#current?.notes.hasBegun) this.#current.tell({ type: "diagnostic", text });
    else this.#held.push(text);
  }

  #over(problem: string | undefined): void {
    this.#current?.notes.fail(this.#peer.loss);
    this.onOver?.(problem);
  }

  #inWords(error: unknown): unknown {
    if (error instanceof PeerError) return new ProgramProblem("program.failed", this.#redact(error.message));
    if (error instanceof ProgramProblem) return new ProgramProblem(error.code, this.#redact(error.message));
    return error;
  }
}

/**
 * Whether the session holds instructions that nothing takes back: codex keeps developer instructions as they were at the
 * beginning, and its base instructions unless it is given others.
 */
function isPinned({ session, instructions, instructionsHash, work }: Turn): boolean {
  if (!session || session.instructions === instructionsHash) return false;
  return work.ownTools || instructions === "";
}

/** What must be the same for a turn to go to a process as it is. */
function identity({ model, instructionsHash, tools, work }: Turn): string {
  const { directory, ownTools, bridge } = work;
  return JSON.stringify([model, instructionsHash, tools, directory, ownTools, bridge?.url, bridge?.token]);
}

function needLimitable(userAgent: string): void {
  const [, major, minor] = /\/(\d+)\.(\d+)\./.exec(userAgent) ?? [];
  const isKnown = Number(major) > LIMITABLE[0] || Number(minor) >= LIMITABLE[1];
  if (isKnown) return;
  const words = `has tools of its own that can be switched off only from version ${LIMITABLE.join(".")} on`;
  throw new ProgramProblem("program.unlimited", words);
}
