import { setTimeout as sleep } from "node:timers/promises";
import type { FinishReason } from "../../provider.js";
import type { ProgramConfig } from "../config.js";
import {
  type Conversation,
  type Handover,
  ProgramProblem,
  SessionLost,
  type Tell,
  type Turn,
} from "../program.js";
import { Choices } from "./choices.js";
import { type Known, knownAgent, type Start } from "./known.js";
import { Peer, Refusal } from "./peer.js";
import { outcomeOf } from "./permission.js";
import { commandLine, promptOf } from "./prompt.js";
import {
  hello,
  type Initialized,
  initializedSchema,
  mcpServers,
  permissionSchema,
  type SessionSaid,
  sessionSchema,
  updateSchema,
} from "./protocol.js";
import { Updates } from "./updates.js";
import { endOf } from "./usage.js";

const AUTH_REQUIRED = -32000;
const NO_SUCH_SESSION =
  /session.{0,80}(?:not found|does not exist|unknown)|(?:unknown|no such|invalid) session/i;
/** A loaded session tells its past anew, some agents also after they said that it is loaded. */
const REPLAY_QUIET_MS = 150;
const MOST_REPLAY_MS = 5_000;
const MOST_EARLY = 20;

/** An ACP agent and the session it is in. */
export class AcpConversation implements Conversation {
  onOver: Conversation["onOver"];
  readonly #first: Turn;
  readonly #config: ProgramConfig;
  readonly #known: Known;
  /** Stray lines from before the first turn. */
  readonly #early: string[] = [];
  #start: Start | undefined;
  #peer: Peer | undefined;
  #agent: Initialized | undefined;
  #sessionId: string | undefined;
  #choices: Choices | undefined;
  #active: { readonly turn: Turn; readonly updates: Updates } | undefined;
  #forbid: (problem: ProgramProblem) => void = () => {};
  #told: string | undefined;
  #heardAt = 0;
  #ended = false;
  #over = false;

  constructor(turn: Turn, config: ProgramConfig) {
    this.#first = turn;
    this.#config = config;
    this.#known = knownAgent(config);
  }

  async open(): Promise<void> {
    try {
      this.#start = await this.#known.start(this.#first, this.#config);
      if (this.#ended) throw new ProgramProblem("program.exited", "was ended");
      const peer = await this.#launch(this.#start);
      const agent = await this.#greet(peer);
      this.#agent = agent;
      await this.#enter(peer, agent);
    } catch (error) {
      throw this.#problemOf(error);
    } finally {
      await this.#start?.clear();
    }
  }

  fits(turn: Turn): boolean {
    const before = this.#first;
    return (
      !this.#over &&
      this.#peer?.isGone === false &&
      turn.session?.id === this.#sessionId &&
      turn.work.directory === before.work.directory &&
      turn.work.ownTools === before.work.ownTools &&
      JSON.stringify(turn.work.bridge) === JSON.stringify(before.work.bridge) &&
      (turn.work.ownTools || !this.#known.toolsByName || namesOf(turn) === namesOf(before))
    );
  }

  handover(turn: Turn): Handover {
    const withInstructions = this.#lacksInstructions(turn);
    return {
      url: `process:${commandLine(this.#config)}`,
      body: this.#prompt(turn)
        .map((block) => JSON.stringify(block))
        .join("\n"),
      delivery: {
        way: withInstructions ? "message" : "already_there",
        session: this.#told !== undefined ? "kept" : turn.session ? "resumed" : "new",
        replayed: turn.past.length,
        adds: this.#known.adds,
      },
    };
  }

  async ask(turn: Turn, tell: Tell): Promise<FinishReason> {
    const peer = this.#peer;
    const sessionId = this.#sessionId;
    if (!peer || sessionId === undefined) throw new ProgramProblem("program.no_start", "was not started");
    const forbidden = new Promise<never>((_, reject) => {
      this.#forbid = reject;
    });
    forbidden.catch(() => {});
    const { known, tools, ownTools } = {
      known: this.#known,
      tools: turn.tools,
      ownTools: turn.work.ownTools,
    };
    const given = { known, tools, ownTools, forbidden: (problem: ProgramProblem) => this.#forbid(problem) };
    const kept = this.#told !== undefined;
    let isSilent = true;
    const telling: Tell = (event) => {
      isSilent = false;
      tell(event);
    };
    const updates = new Updates(telling, given);
    try {
      await this.#choices?.model(turn.model);
      const prompt = this.#prompt(turn);
      this.#active = { turn, updates };
      for (const line of this.#early.splice(0)) updates.diagnostic(line);
      const answer = await Promise.race([peer.request("session/prompt", { sessionId, prompt }), forbidden]);
      const { reason, usage } = endOf(answer);
      updates.close();
      if (usage) tell(usage);
      tell({ type: "session", id: sessionId });
      this.#told = turn.instructionsHash;
      return reason;
    } catch (error) {
      // It had died while it waited, unnoticed.
      if (kept && isSilent && peer.isGone) throw new SessionLost("it has ended");
      throw this.#problemOf(error, turn);
    } finally {
      this.#active = undefined;
    }
  }

  async end(how: "politely" | "now"): Promise<void> {
    this.#ended = true;
    if (how === "now" && this.#active && this.#sessionId !== undefined)
      this.#peer?.notify("session/cancel", { sessionId: this.#sessionId });
    await this.#peer?.end(how);
    await this.#start?.clear();
  }

  async #launch({ args, env }: Start): Promise<Peer> {
    const { command } = this.#config;
    const { directory: cwd, bridge } = this.#first.work;
    this.#peer = new Peer(
      { command, args, env, cwd, bridge },
      {
        notified: (method, params) => this.#notified(method, params),
        asked: (method, params) =>
          method === "session/request_permission" ? this.#permission(params) : undefined,
        stray: (text) => this.#stray(text),
        over: (problem) => {
          this.#over = true;
          this.onOver?.(problem);
        },
      },
    );
    await this.#peer.start();
    return this.#peer;
  }

  async #greet(peer: Peer): Promise<Initialized> {
    const agent = initializedSchema.safeParse(await peer.request("initialize", hello)).data;
    if (!agent) throw new ProgramProblem("program.unintelligible", "did not answer as an agent of ACP does");
    if (agent.protocolVersion !== 1) {
      const words = `speaks version ${agent.protocolVersion} of ACP, and here it is 1`;
      throw new ProgramProblem("program.unintelligible", words);
    }
    // Its options were chosen by the name of the command: another program would not have understood them.
    if (!this.#first.work.ownTools && agent.agentInfo?.name !== this.#known.name)
      throw new ProgramProblem("program.unlimited", "is not the agent that its command is the name of");
    return agent;
  }

  async #enter(peer: Peer, agent: Initialized): Promise<void> {
    const { session, work, model } = this.#first;
    const where = { cwd: work.directory, mcpServers: mcpServers(work.bridge, agent) };
    const said = session
      ? await this.#resume(peer, agent, { sessionId: session.id, ...where })
      : sessionSchema.safeParse(await peer.request("session/new", where)).data;
    const sessionId = session?.id ?? said?.sessionId;
    if (sessionId === undefined || !said)
      throw new ProgramProblem("program.unintelligible", "did not say the name of its session");
    this.#sessionId = sessionId;
    this.#choices = new Choices(peer, sessionId, said);
    await this.#choices.askingMode();
    await this.#choices.model(model);
    const { limitedMode } = this.#known;
    if (!work.ownTools && limitedMode !== undefined && this.#choices.mode !== limitedMode)
      throw new ProgramProblem(
        "program.unlimited",
        "did not take the settings that switch its own tools off",
      );
  }

  async #resume(peer: Peer, agent: Initialized, params: object): Promise<SessionSaid | undefined> {
    const { loadSession, sessionCapabilities } = agent.agentCapabilities;
    if (!sessionCapabilities.resume && !loadSession) throw new SessionLost("it keeps no sessions");
    try {
      if (sessionCapabilities.resume) return read(await peer.request("session/resume", params));
      const said = read(await peer.request("session/load", params));
      await this.#replayOver();
      return said;
    } catch (error) {
      // Agents have no common word for a session that is gone, and any other refusal has the same cure.
      if (error instanceof Refusal && error.code !== AUTH_REQUIRED) throw new SessionLost(error.message);
      throw error;
    }
  }

  async #replayOver(): Promise<void> {
    const began = performance.now();
    this.#heardAt = began;
    for (let now = began; now - this.#heardAt < REPLAY_QUIET_MS; now = performance.now()) {
      if (now - began > MOST_REPLAY_MS || this.#over) return;
      await sleep(REPLAY_QUIET_MS - (now - this.#heardAt));
    }
  }

  /** A session that was never told anything has no instructions, whatever their hash. */
  #lacksInstructions({ session, instructionsHash }: Turn): boolean {
    return (this.#told ?? session?.instructions) !== instructionsHash;
  }

  #prompt(turn: Turn) {
    const images = this.#agent?.agentCapabilities.promptCapabilities.image ?? true;
    return promptOf(turn, { withInstructions: this.#lacksInstructions(turn), images });
  }

  #notified(method: string, params: unknown): void {
    if (method !== "session/update") return;
    this.#heardAt = performance.now();
    const told = updateSchema.safeParse(params).data;
    // What is told of another session, or outside of a turn, is no part of this answer.
    if (told && told.sessionId === this.#sessionId) this.#active?.updates.heard(told.update);
  }

  async #permission(params: unknown): Promise<object> {
    const nobody = { outcome: { outcome: "cancelled" } };
    const asked = permissionSchema.safeParse(params).data;
    const active = this.#active;
    if (!asked || !active || asked.sessionId !== this.#sessionId) return nobody;
    const { turn, updates } = active;
    const call = updates.asked(asked.toolCall);
    const { id, name } = call;
    if (call.ofBridge) return { outcome: outcomeOf("allow", asked.options) };
    const question = { id, name, arguments: call.arguments };
    const answer = turn.work.ownTools ? await turn.work.ask(question).catch(() => "deny" as const) : "deny";
    if (answer === "deny") updates.denied(asked.toolCall);
    const given = answer === "always" && this.#known.alwaysIsTooMuch ? "allow" : answer;
    return { outcome: outcomeOf(given, asked.options) };
  }

  #stray(text: string): void {
    if (this.#active) this.#active.updates.diagnostic(text);
    else if (this.#early.length < MOST_EARLY) this.#early.push(text);
  }

  #problemOf(error: unknown, turn?: Turn): unknown {
    if (!(error instanceof Refusal)) return error;
    if (error.code === AUTH_REQUIRED) return this.#signedOut(error.message);
    if (turn?.session && NO_SUCH_SESSION.test(error.message)) return new SessionLost(error.message);
    return new ProgramProblem("program.failed", error.message);
  }

  #signedOut(words: string): ProgramProblem {
    const ways = (this.#agent?.authMethods ?? []).map(({ name, description }) => description ?? name);
    const hint = ways.length > 0 ? `. It offers: ${ways.slice(0, 6).join("; ")}` : "";
    return new ProgramProblem("program.signed_out", `is not signed in: ${words.replace(/\.$/, "")}${hint}`);
  }
}

function read(answer: unknown): SessionSaid | undefined {
  return sessionSchema.safeParse(answer ?? {}).data;
}

function namesOf({ tools }: Turn): string {
  return JSON.stringify(tools.map(({ name }) => name));
}
