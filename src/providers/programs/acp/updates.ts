import type { ToolSpec } from "../../provider.js";
import { ProgramProblem, type Tell } from "../program.js";
import { type AskedCall, Calls, wordsOf } from "./calls.js";
import type { Known } from "./known.js";
import { type CallSaid, callSchema, chunkSchema, planSchema } from "./protocol.js";

/** Of no interest in a turn: what the user said, and what could be chosen or typed. */
const SILENT = new Set([
  "user_message_chunk",
  "available_commands_update",
  "current_mode_update",
  "config_option_update",
  "session_info_update",
  "usage_update",
]);
/** So many stray lines and unknown updates of a turn are shown. */
const MOST_DIAGNOSTICS = 50;

interface Given {
  readonly known: Known;
  readonly tools: readonly ToolSpec[];
  /** Whether the agent may use tools of its own. */
  readonly ownTools: boolean;
  /** Called once it has used one although it may not. */
  forbidden(problem: ProgramProblem): void;
}

/** What an agent tells in one turn, as events. */
export class Updates {
  readonly #tell: Tell;
  readonly #given: Given;
  readonly #calls: Calls;
  readonly #unknown = new Set<string>();
  #diagnostics = 0;
  #plans = 0;
  #thoughts = 0;
  #thinking = false;

  constructor(tell: Tell, given: Given) {
    this.#tell = tell;
    this.#given = given;
    this.#calls = new Calls(tell, given.known, new Set(given.tools.map(({ name }) => name)));
  }

  heard(update: { readonly sessionUpdate: string }): void {
    const kind = update.sessionUpdate;
    if (SILENT.has(kind)) return;
    if (kind !== "agent_thought_chunk") this.#thinking = false;
    if (kind === "agent_message_chunk") this.#said(update);
    else if (kind === "agent_thought_chunk") this.#thought(update);
    else if (kind === "tool_call" || kind === "tool_call_update") this.#called(update);
    else if (kind === "plan") this.#planned(update);
    else this.#unknownKind(kind);
  }

  diagnostic(text: string): void {
    this.#diagnostics += 1;
    if (this.#diagnostics <= MOST_DIAGNOSTICS) this.#tell({ type: "diagnostic", text });
  }

  asked(call: CallSaid): AskedCall {
    this.#thinking = false;
    return this.#calls.asked(call);
  }

  denied(call: CallSaid): void {
    this.#calls.denied(call);
  }

  close(): void {
    this.#calls.close();
  }

  #said(update: unknown): void {
    const chunk = chunkSchema.safeParse(update).data;
    const text = chunk ? wordsOf(chunk.content) : "";
    if (text !== "") this.#tell({ type: "text", text });
  }

  #thought(update: unknown): void {
    const chunk = chunkSchema.safeParse(update).data;
    const text = chunk ? wordsOf(chunk.content) : "";
    if (!chunk || text === "") return;
    if (!this.#thinking) this.#thoughts += 1;
    this.#thinking = true;
    this.#tell({ type: "thinking", id: chunk.messageId ?? `thought-${this.#thoughts}`, text });
  }

  #called(update: unknown): void {
    const call = callSchema.safeParse(update).data;
    if (!call) {
      this.diagnostic("The agent told of a tool call without an id.");
      return;
    }
    const own = this.#calls.heard(call);
    if (own === undefined || this.#given.ownTools || call.status !== "completed") return;
    const words = `used its own tool "${own}", although its own tools are switched off`;
    this.#given.forbidden(new ProgramProblem("program.unlimited", words));
  }

  /** A plan comes whole each time. */
  #planned(update: unknown): void {
    const entries = planSchema.safeParse(update).data?.entries ?? [];
    this.#plans += 1;
    const id = `plan-${this.#plans}`;
    const output = entries
      .map(({ content, status }) => `${marks[status ?? ""] ?? "[ ]"} ${content}`)
      .join("\n");
    this.#tell({ type: "tool_call", id, name: "plan", arguments: JSON.stringify({ entries }) });
    this.#tell({ type: "tool_result", id, output, failed: false });
  }

  #unknownKind(kind: string): void {
    if (this.#unknown.has(kind) || this.#unknown.size > MOST_DIAGNOSTICS) return;
    this.#unknown.add(kind);
    this.diagnostic(`The agent told something of a kind that is not known here: "${kind.slice(0, 100)}".`);
  }
}

const marks: Readonly<Record<string, string>> = { completed: "[x]", in_progress: "[~]", pending: "[ ]" };
