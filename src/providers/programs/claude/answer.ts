import type { FinishReason } from "../../provider.js";
import { ProgramProblem, SessionLost, type Tell, type Turn } from "../program.js";
import type { Say } from "../say.js";
import { toldProblem } from "./failure.js";
import type { Block, Line, LineOf } from "./lines.js";
import { BRIDGE_PREFIX } from "./options.js";
import { Streamed } from "./streamed.js";
import { ToolCalls } from "./tool-calls.js";
import { usageOf } from "./usage.js";

/** What the program says in one turn, as events, until it has ended. */
export class Answer {
  readonly calls: ToolCalls;
  readonly ended: Promise<FinishReason>;
  readonly turn: Turn;
  readonly #tell: Tell;
  readonly #say: Say;
  readonly #streamed: Streamed;
  /** What it says about a failure of the model's server, by the kind that it names. */
  #failure: { readonly kind: unknown; readonly words: string } | undefined;
  #resolve: (reason: FinishReason) => void = () => {};
  #reject: (error: Error) => void = () => {};
  #isOver = false;
  /** Its result was heard. What comes behind it, though it be with the same bytes, is no part of it. */
  hasEnded = false;
  session: string | undefined;

  constructor(turn: Turn, tell: Tell, say: Say) {
    this.turn = turn;
    this.#tell = tell;
    this.#say = say;
    this.#streamed = new Streamed(tell);
    this.calls = new ToolCalls(tell, turn.work.directory);
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.ended.catch(() => {});
  }

  /** Nothing is told any more: whoever goes on begins anew. */
  fail(error: Error): void {
    this.#isOver = true;
    this.#reject(error);
  }

  diagnostic(text: string): void {
    this.#tell({ type: "diagnostic", text });
  }

  hear(line: Line): void {
    if (this.#isOver) return;
    if (line.type === "stream_event") {
      // A subagent's words are for the agent, not for the user.
      if (!line.parent_tool_use_id) this.#streamed.hear(line.event);
    } else if (line.type === "assistant") this.#said(line);
    else if (line.type === "user") this.#done(line);
    else if (line.type === "system") this.#system(line);
    else if (line.type === "tool_progress") this.calls.lives(line.parent_tool_use_id ?? line.tool_use_id);
    else if (line.type === "result") this.#over(line);
  }

  #said({ message, parent_tool_use_id, is_api_error_message, error }: LineOf<"assistant">): void {
    if (is_api_error_message) {
      this.#failure = { kind: error, words: message.content.map(({ text }) => text ?? "").join(" ") };
      return;
    }
    for (const block of message.content) {
      if (block.type === "tool_use") this.#called(block);
      else if (!parent_tool_use_id) this.#streamed.whole(block);
    }
  }

  #called({ id, name, input }: Block): void {
    if (id !== undefined && name !== undefined) this.calls.begin(id, name, input);
  }

  #done({ message, tool_use_result }: LineOf<"user">): void {
    if (typeof message.content === "string") return;
    const results = message.content.filter(({ type }) => type === "tool_result");
    const record = results.length === 1 ? tool_use_result : undefined;
    for (const result of results) this.calls.finish(result, record);
  }

  #system({ subtype, session_id, tools, content, error, error_status }: LineOf<"system">): void {
    if (subtype === "init") this.#begun(session_id, tools ?? []);
    else if (subtype === "api_retry") {
      const why = [error_status, error].filter((one) => one !== undefined && one !== null).join(" ");
      this.diagnostic(this.#say(`The model's server failed (${why}); trying again.`));
    } else if (subtype === "compact_boundary") {
      this.diagnostic("The conversation was shortened by the program to fit the model's window.");
    } else if (subtype === "informational" && content) this.diagnostic(this.#say(content));
  }

  #begun(session: string | undefined, tools: readonly string[]): void {
    const { work, session: wanted } = this.turn;
    const own = tools.filter((name) => !name.startsWith(BRIDGE_PREFIX) && !MCP_READERS.has(name));
    if (!work.ownTools && own.length > 0) {
      const words = `keeps tools of its own that can't be switched off: ${own.join(", ")}`;
      this.fail(new ProgramProblem("program.unlimited", this.#say(words)));
    } else if (wanted && session !== wanted.id) {
      // It has begun another one instead of going on.
      this.fail(new SessionLost());
    } else this.#named(session);
  }

  #named(session: string | undefined): void {
    if (session === undefined || session === this.session) return;
    this.session = session;
    this.#tell({ type: "session", id: session });
  }

  #over(line: LineOf<"result">): void {
    this.#named(line.session_id);
    const usage = usageOf(line);
    if (usage) this.#tell(usage);
    if (line.is_error) this.#failed(line);
    else this.#end(reasons[line.stop_reason ?? ""] ?? "other");
  }

  #end(reason: FinishReason): void {
    this.hasEnded = true;
    this.#resolve(reason);
  }

  #failed({ errors, result, subtype, stop_reason }: LineOf<"result">): void {
    const words = this.#say(this.#failure?.words ?? errors?.join(" ") ?? result ?? subtype);
    const isCut = this.#failure?.kind === "max_output_tokens";
    if (!isCut && stop_reason !== "refusal") {
      this.fail(toldProblem(words, this.#failure?.kind));
      return;
    }
    this.diagnostic(words);
    this.#end(isCut ? "length" : "content_filter");
  }
}

/** They read what the bridge offers, and nothing else. */
const MCP_READERS: ReadonlySet<string> = new Set([
  "ListMcpResourcesTool",
  "ReadMcpResourceTool",
  "ReadMcpResourceDirTool",
]);

const reasons: Readonly<Record<string, FinishReason>> = {
  "": "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "stop",
  max_tokens: "length",
  refusal: "content_filter",
};
