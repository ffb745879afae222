import type { FileDiff, FinishReason } from "../../provider.js";
import { ProgramProblem, type Tell } from "../program.js";
import { jsonText, type Say } from "../say.js";
import { toldProblem } from "./failure.js";
import { type Fields, fieldsOf, listOf, numberIn, textIn } from "./fields.js";

interface RunningCall {
  startedAt: number;
  shown: string;
  diffs: readonly FileDiff[] | undefined;
}

interface Translation {
  readonly tell: Tell;
  readonly say: Say;
  /** A tool's name in pi, as Heddle names it. */
  nameOf(name: string): string;
}

/** The events of one turn of pi, as ours. */
export class Answer {
  readonly #to: Translation;
  readonly #calls = new Map<string, RunningCall>();
  readonly #begun = new Map<unknown, { readonly id: string; readonly name: string }>();
  readonly #used = { input: 0, output: 0, cached_input: 0, reasoning: 0, told: false };
  #messages = 0;
  #streamed = false;
  #stopReason = "";
  #error = "";

  constructor(to: Translation) {
    this.#to = to;
  }

  take(event: Fields): void {
    const { type } = event;
    const message = fieldsOf(event.message);
    const answers = message?.role === "assistant";
    if (type === "message_start" && answers) this.#begin();
    else if (type === "message_update") this.#piece(fieldsOf(event.assistantMessageEvent) ?? {});
    else if (type === "message_end" && answers) this.#end(message);
    else if (type === "tool_execution_start") this.#called(event);
    else if (type === "tool_execution_update") this.#working(event);
    else if (type === "tool_execution_end") this.#done(event);
  }

  /** From now on it works: nobody is asked about it any more. */
  allowed(id: string, diffs: readonly FileDiff[] | undefined): void {
    const call = this.#calls.get(id);
    if (call) Object.assign(call, { startedAt: performance.now(), diffs });
  }

  /** How it ended; throws when it did not end well. */
  finish(): FinishReason {
    const { told, cached_input, reasoning, ...used } = this.#used;
    if (told) {
      this.#to.tell({
        type: "usage",
        ...used,
        ...(cached_input > 0 && { cached_input }),
        ...(reasoning > 0 && { reasoning }),
      });
    }
    if (this.#stopReason === "error") throw toldProblem(this.#to.say(this.#error));
    if (this.#stopReason === "aborted") throw new ProgramProblem("program.failed", "broke its turn off");
    if (this.#messages === 0) throw new ProgramProblem("program.failed", "ended its turn without an answer");
    return this.#stopReason === "length" ? "length" : "stop";
  }

  #begin(): void {
    this.#messages += 1;
    this.#streamed = false;
    this.#begun.clear();
  }

  #piece(piece: Fields): void {
    const { tell } = this.#to;
    const text = textIn(piece.delta);
    const at = piece.contentIndex;
    if (piece.type === "toolcall_start") {
      this.#begun.set(at, { id: textIn(piece.id), name: this.#to.nameOf(textIn(piece.toolName)) });
    }
    if (text === "") return;
    if (piece.type === "text_delta") {
      this.#streamed = true;
      tell({ type: "text", text });
    } else if (piece.type === "thinking_delta") {
      tell({ type: "thinking", id: `${this.#messages}.${String(at)}`, text });
    } else if (piece.type === "toolcall_delta") {
      const call = this.#begun.get(at);
      if (call?.id) tell({ type: "tool_input", ...call, text });
    }
  }

  #end(message: Fields): void {
    this.#stopReason = textIn(message.stopReason);
    this.#error = textIn(message.errorMessage);
    const text = textOf(message.content);
    if (!this.#streamed && text !== "") this.#to.tell({ type: "text", text });
    const usage = fieldsOf(message.usage);
    if (!usage) return;
    const cached = numberIn(usage.cacheRead);
    const used = this.#used;
    used.told = true;
    used.input += numberIn(usage.input) + cached + numberIn(usage.cacheWrite);
    used.cached_input += cached;
    used.output += numberIn(usage.output);
    used.reasoning += numberIn(usage.reasoning);
  }

  #called({ toolCallId, toolName, args }: Fields): void {
    const id = textIn(toolCallId);
    this.#calls.set(id, { startedAt: performance.now(), shown: "", diffs: undefined });
    const name = this.#to.nameOf(textIn(toolName));
    this.#to.tell({ type: "tool_call", id, name, arguments: jsonText(args ?? {}) });
  }

  /** Each update holds all of the output so far, or the end of it. */
  #working({ toolCallId, partialResult }: Fields): void {
    const id = textIn(toolCallId);
    const call = this.#calls.get(id);
    if (!call) return;
    const now = textOf(fieldsOf(partialResult)?.content);
    const text = addedTo(call.shown, now);
    call.shown = now;
    if (text !== "") this.#to.tell({ type: "tool_output", id, text });
  }

  #done({ toolCallId, result, isError }: Fields): void {
    const id = textIn(toolCallId);
    const call = this.#calls.get(id);
    if (!call) return;
    this.#calls.delete(id);
    const failed = isError === true;
    this.#to.tell({
      type: "tool_result",
      id,
      output: textOf(fieldsOf(result)?.content),
      failed,
      duration_ms: Math.round(performance.now() - call.startedAt),
      ...(!failed && call.diffs && { diffs: call.diffs }),
    });
  }
}

const OVERLAP = 200;

function addedTo(before: string, now: string): string {
  if (now.startsWith(before)) return now.slice(before.length);
  const end = before.slice(-OVERLAP);
  const at = now.lastIndexOf(end);
  return at === -1 ? now : now.slice(at + end.length);
}

function textOf(content: unknown): string {
  return listOf(content)
    .map(({ type, text }) => (type === "text" ? textIn(text) : type === "image" ? "[image]" : ""))
    .join("");
}
