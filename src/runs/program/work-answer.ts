import type { PromptMessage, ProviderEvent } from "../../providers/index.js";
import { Answer, type Progress } from "../answer.js";
import type { Live } from "../live.js";
import { joined, KeptCalls } from "./kept-calls.js";
import { type Call, type Result, resultOf, type Stretch } from "./stretch.js";

/** As much as any tool here may answer: a message of the thread holds the outputs of all calls of a turn. */
const MOST_OUTPUT = 1024 * 1024;
const MOST_DIAGNOSTICS = 20;
const DIAGNOSTIC_CHARS = 500;

/** What a program says and does in one turn, as it comes: stretches that end with tools, and what it said after the last. */
export class WorkAnswer {
  readonly #live: Live;
  readonly #used: Set<string>;
  readonly #now: () => number;
  /** Of calls that have not been recorded yet. */
  readonly #ids = new Map<string, string>();
  /** The end of all that it has said so far. */
  #ending = "";
  /** What it says next comes after tools. */
  #isApart = false;
  #said: Answer;
  #calls: Call[] = [];
  #results = new Map<string, Result>();
  #kept = new KeptCalls();
  readonly diagnostics: string[] = [];
  session: string | undefined;

  constructor(live: Live, used: Set<string>, now: () => number) {
    this.#live = live;
    this.#used = used;
    this.#now = now;
    this.#said = new Answer(live, new Set(), now);
  }

  /** What it says now; at the end, how it ended. */
  get last(): Answer {
    return this.#said;
  }

  take(event: ProviderEvent): void {
    if (event.type === "tool_call") this.#begin(event);
    else if (event.type === "tool_output") this.#write(event);
    else if (event.type === "text") this.#say(event);
    else if (event.type === "tool_result") this.#end(event);
    else if (event.type === "session") this.session = event.id;
    else if (event.type === "diagnostic") this.#note(event.text);
    else if (event.type === "tool_input") this.#said.take({ ...event, id: this.#own(event.id) });
    else this.#said.take(event);
  }

  /** What has come of the stretch that is not over, since the last time this was asked. */
  takeProgress(): Progress | undefined {
    const said = this.#said.takeProgress();
    const calls = this.#kept.take(this.#calls, this.#results);
    return said && calls ? joined(said, calls) : (said ?? calls);
  }

  /** The id under which a call of the program is known here. */
  idOf(id: string): string {
    return this.#own(id);
  }

  /** The stretch that has just come to its end: every tool of it has answered. */
  takeStretch(): Stretch | undefined {
    if (this.#calls.length === 0 || this.#calls.some(({ id }) => !this.#results.has(id))) return undefined;
    return this.#close();
  }

  /** At the end, tools of which nothing came included. */
  takeRest(): Stretch | undefined {
    return this.#calls.length === 0 ? undefined : this.#close();
  }

  #close(): Stretch {
    const { content = "" } = this.#said.soFar() ?? {};
    const results = this.#calls.map((call) => resultOf(call, this.#results.get(call.id)));
    const answer: PromptMessage = { role: "assistant", content, tool_calls: this.#calls };
    const thoughts = this.#said.thoughts();
    const { status, finish, usage, error, sent } = this.#said;
    const next = new Answer(this.#live, new Set(), this.#now);
    this.#said = Object.assign(next, { status, finish, usage, error, sent });
    for (const [id, own] of this.#ids) if (this.#calls.some((call) => call.id === own)) this.#ids.delete(id);
    this.#calls = [];
    this.#results = new Map();
    this.#kept = new KeptCalls();
    this.#isApart = this.#ending !== "";
    return { answer, results, ...thoughts };
  }

  /** Live it is one text, in which what comes after tools stands apart, as it does in the message. */
  #say(event: Extract<ProviderEvent, { type: "text" }>): void {
    if (event.text === "") return;
    if (this.#isApart) this.#live.add("text", "text", gapAfter(this.#ending));
    this.#isApart = false;
    this.#ending = (this.#ending + event.text).slice(-2);
    this.#said.take(event);
  }

  #write({ id, text }: Extract<ProviderEvent, { type: "tool_output" }>): void {
    const own = this.#ids.get(id);
    if (own !== undefined) this.#live.add("tool_output", own, text);
  }

  #begin({ id, name, arguments: given }: Extract<ProviderEvent, { type: "tool_call" }>): void {
    const own = this.#own(id);
    if (this.#calls.some((call) => call.id === own)) return;
    this.#calls.push({ id: own, name: name || "unnamed", arguments: given });
    this.#said.endThought();
    this.#live.tool({ tool_call_id: own, name: name || "unnamed", status: "running" });
  }

  #end(event: Result): void {
    const call = this.#calls.find((one) => one.id === this.#ids.get(event.id));
    // What nobody began can't be told of: it would be an answer to nothing.
    if (!call || this.#results.has(call.id)) return;
    const { id } = call;
    this.#results.set(id, { ...event, output: bounded(event.output) });
    this.#live.tool({
      tool_call_id: id,
      name: call.name,
      status: event.failed ? "failed" : "completed",
      output: event.output,
      ...(event.duration_ms !== undefined && { duration_ms: event.duration_ms }),
      ...(event.diffs && { diffs: event.diffs }),
    });
  }

  /** Ids of calls are the program's, or its model's, and may come again for another call. */
  #own(id: string): string {
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const base = id || "call";
    let own = base;
    for (let next = 2; this.#used.has(own); next += 1) own = `${base}_${next}`;
    this.#used.add(own);
    this.#ids.set(id, own);
    return own;
  }

  #note(text: string): void {
    if (this.diagnostics.length < MOST_DIAGNOSTICS) this.diagnostics.push(text.slice(0, DIAGNOSTIC_CHARS));
  }
}

function bounded(output: string): string {
  const missing = output.length - MOST_OUTPUT;
  return missing > 0
    ? `${output.slice(0, MOST_OUTPUT).toWellFormed()}\n[… ${missing} characters cut]`
    : output;
}

function gapAfter(text: string): string {
  if (text.endsWith("\n\n")) return "";
  return text.endsWith("\n") ? "\n" : "\n\n";
}
