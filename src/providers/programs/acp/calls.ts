import type { FileDiff } from "../../provider.js";
import type { Tell } from "../program.js";
import { jsonText } from "../say.js";
import type { Known } from "./known.js";
import { recordOf } from "./known.js";
import type { Block, CallContent, CallSaid } from "./protocol.js";

interface Call {
  readonly id: string;
  readonly name: string;
  /** The agent's own name for the tool, where it says one. */
  readonly ownName: string | undefined;
  readonly ofBridge: boolean;
  readonly begunAt: number;
  /** All that was said of it so far: later words replace earlier ones. */
  said: CallSaid;
  /** Whether its `tool_call` was told. */
  told: boolean;
  over: boolean;
  shown: string;
  readonly diffs: Map<string, FileDiff>;
}

/** A call as somebody is asked about it. */
export interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly ofBridge: boolean;
}

/** The agent's calls of tools in one turn. An agent tells them piece by piece, some of them first by asking for permission. */
export class Calls {
  readonly #tell: Tell;
  readonly #known: Known;
  readonly #tools: ReadonlySet<string>;
  /** By the agent's id: the latest that has it. */
  readonly #calls = new Map<string, Call>();
  #again = 2;

  constructor(tell: Tell, known: Known, tools: ReadonlySet<string>) {
    this.#tell = tell;
    this.#known = known;
    this.#tools = tools;
  }

  /** Answers the name of a tool of the agent's own that is now being called. */
  heard(said: CallSaid): string | undefined {
    const call = this.#add(said, "told");
    if (call.over) return undefined;
    const { status } = call.said;
    const ended = status === "completed" || status === "failed";
    if (ended || !this.#waitsForArguments(call)) this.#begin(call);
    if (ended) this.#end(call, status === "failed");
    else this.#show(call);
    return call.ofBridge ? undefined : call.name;
  }

  asked(said: CallSaid): AskedCall {
    const call = this.#add(said, "asked");
    this.#begin(call);
    // By what is said now: ids are the model's, and another call may have had this one.
    const own = this.#known.toolName(said, "asked");
    const ofBridge = own !== undefined && bridgeTool(own, this.#tools) !== undefined;
    const name = ofBridge || !call.ofBridge ? call.name : (own ?? said.kind ?? "tool");
    return { id: call.id, name, arguments: argumentsOf(call), ofBridge };
  }

  /** Some agents say nothing more of a call that was denied. */
  denied({ toolCallId }: CallSaid): void {
    const call = this.#calls.get(toolCallId);
    if (call && !call.over) this.#result(call, "It was denied.", true);
  }

  /** The turn is over: what was begun has no result. */
  close(): void {
    for (const call of this.#calls.values()) this.#abandon(call);
  }

  #abandon(call: Call): void {
    if (call.over) return;
    this.#begin(call);
    this.#result(call, outputOf(call) || "The agent did not say what came of it.", true);
  }

  #add(said: CallSaid, how: "told" | "asked"): Call {
    const before = this.#calls.get(said.toolCallId);
    const call = before && !this.#isAnew(before, said, how) ? before : this.#first(said, how);
    for (const [key, value] of Object.entries(said)) {
      if (value !== undefined && value !== null) (call.said as Record<string, unknown>)[key] = value;
    }
    for (const diff of diffsOf(said.content)) call.diffs.set(diff.path, diff);
    return call;
  }

  /** Ids are the model's: one may come again for another call. */
  #isAnew(before: Call, said: CallSaid, how: "told" | "asked"): boolean {
    const name = this.#known.toolName(said, how);
    return (before.over && said.status === "pending") || (name !== undefined && name !== before.ownName);
  }

  #first(said: CallSaid, how: "told" | "asked"): Call {
    const before = this.#calls.get(said.toolCallId);
    if (before) this.#abandon(before);
    const own = this.#known.toolName(said, how);
    const bridged = own === undefined ? undefined : bridgeTool(own, this.#tools);
    const call: Call = {
      id: before ? `${said.toolCallId}-${this.#again++}` : said.toolCallId,
      name: bridged ?? own ?? said.kind ?? "tool",
      ownName: own,
      ofBridge: bridged !== undefined,
      begunAt: performance.now(),
      said: { ...said },
      told: false,
      over: false,
      shown: "",
      diffs: new Map(),
    };
    this.#calls.set(said.toolCallId, call);
    return call;
  }

  #waitsForArguments({ said, told }: Call): boolean {
    if (told || said.status !== "pending") return false;
    return this.#known.argumentsFollow || Object.keys(recordOf(said.rawInput)).length === 0;
  }

  #begin(call: Call): void {
    if (call.told) return;
    call.told = true;
    this.#tell({ type: "tool_call", id: call.id, name: call.name, arguments: argumentsOf(call) });
  }

  #show(call: Call): void {
    if (!call.told || call.said.status !== "in_progress" || call.said.rawInput === undefined) return;
    const text = textOf(call.said.content);
    if (text === "" || text === call.shown) return;
    const more = text.startsWith(call.shown) ? text.slice(call.shown.length) : text;
    call.shown = text;
    this.#tell({ type: "tool_output", id: call.id, text: more });
  }

  #end(call: Call, failed: boolean): void {
    this.#result(call, outputOf(call), failed);
  }

  #result(call: Call, output: string, failed: boolean): void {
    call.over = true;
    const diffs = failed ? [] : [...call.diffs.values()];
    this.#tell({
      type: "tool_result",
      id: call.id,
      output,
      failed,
      duration_ms: Math.round(performance.now() - call.begunAt),
      ...(diffs.length > 0 ? { diffs } : {}),
    });
  }
}

/** The name as it is known here, when it is a tool of the bridge. */
function bridgeTool(name: string, tools: ReadonlySet<string>): string | undefined {
  const inside = /^(?:mcp_{1,2})?heddle(?:__|[_./:-])(.+)$/.exec(name)?.[1];
  return inside !== undefined && tools.has(inside) ? inside : undefined;
}

/** Not every agent tells the arguments; then there is what it says of the call to people. */
function argumentsOf({ said, ofBridge }: Call): string {
  const { rawInput, title, locations, content } = said;
  if (rawInput !== undefined && rawInput !== null && !isEmpty(rawInput)) return jsonText(rawInput);
  const text = textOf(content);
  if (ofBridge && isJson(text)) return text;
  const paths = (locations ?? []).map(({ path }) => path);
  return JSON.stringify({
    ...(title === undefined ? {} : { title }),
    ...(paths.length > 0 ? { paths } : {}),
  });
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function outputOf({ said }: Call): string {
  const text = textOf(said.content);
  if (text !== "") return text;
  const { rawOutput } = said;
  if (typeof rawOutput === "string") return rawOutput;
  const { output, error } = recordOf(rawOutput);
  if (typeof output === "string") return output;
  if (typeof error === "string") return error;
  return rawOutput === undefined || rawOutput === null ? "" : jsonText(rawOutput);
}

function textOf(content: readonly CallContent[] | undefined): string {
  return (content ?? []).flatMap((one) => (one.type === "content" ? wordsOf(one.content) : [])).join("\n");
}

function diffsOf(content: readonly CallContent[] | undefined): FileDiff[] {
  return (content ?? []).flatMap((one) =>
    one.type === "diff" ? [{ path: one.path, oldText: one.oldText ?? "", newText: one.newText }] : [],
  );
}

export function wordsOf({ type, text, uri, name }: Block): string {
  if (type === "text") return text ?? "";
  if (uri !== undefined) return `[${name ?? type}](${uri})`;
  return `[${type}]`;
}
