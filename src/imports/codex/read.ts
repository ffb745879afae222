import { blocksOf, tokensOf } from "../blocks.js";
import { MessageTree, type TreeNode } from "../message-tree.js";
import { Lossy } from "../session.js";
import { type Json, kindOf, listOf, numberOf, objectOf, textOf, wordOf } from "../values.js";
import type { Kept, KeptAnswer, Line } from "./kept.js";

/** A rollout line by line: who said what stands in items, what really came from the user in events. */
export class Rollout {
  readonly tree = new MessageTree<Kept>();
  readonly lossy = new Lossy();
  meta: Json | undefined;
  firstText: string | undefined;
  #model: string | undefined;
  #current: TreeNode<Kept> | undefined;
  readonly #calls = new Map<string, KeptAnswer>();
  /** What was sent as the user's, until an event says that it is theirs. */
  #sent: { readonly line: Line; readonly text: string; readonly entry: string } | undefined;
  #told = false;

  take(value: Json, line: Line, entry: string): void {
    const payload = objectOf(value.payload);
    if (value.type === "response_item") this.#item(payload, line, entry);
    else if (value.type === "event_msg") this.#event(payload, line, entry);
    else if (value.type === "token_usage_record") this.#count(objectOf(payload.usage));
    else if (value.type === "turn_context") this.#model = textOf(payload.model) ?? this.#model;
    // Later ones came along with history that was copied from another session.
    else if (value.type === "session_meta") this.meta ??= payload;
    else if (value.type !== "compacted") this.lossy.addNamed(`lines of the type ${kindOf(value.type)}`);
    else if (textOf(payload.message)) this.#add(entry, { kind: "note", said: line });
    else this.lossy.add("summaries that only the provider can read");
  }

  /** Where nothing tells what the user said, what was sent as theirs is taken for it. */
  finish(): void {
    this.#takeSent();
  }

  #item(payload: Json, line: Line, entry: string): void {
    const type = wordOf(payload.type);
    if (type === "message" && payload.role !== "assistant") this.#sentMessage(payload, line, entry);
    else if (type.endsWith("_output")) this.#result(textOf(payload.call_id), line);
    else if (type === "message" || type === "reasoning" || type.endsWith("_call"))
      this.#part(payload, line, entry);
    else this.lossy.addNamed(`items of the type ${kindOf(type)}`);
  }

  /** Of an answer: what it says, thinks or asks for. A search in the web has no answer of its own. */
  #part({ type, call_id }: Json, line: Line, entry: string): void {
    this.#takeSent();
    const answer = this.#answer(entry);
    answer.items.push(line);
    const call = wordOf(type).endsWith("_call") && type !== "web_search_call" ? textOf(call_id) : undefined;
    if (call === undefined) return;
    answer.calls.add(call);
    this.#calls.set(call, answer);
  }

  #sentMessage(payload: Json, line: Line, entry: string): void {
    const text = textIn(payload.content);
    const last = this.#current?.data;
    if (payload.role !== "user" || INJECTED.test(text))
      this.lossy.add("context that Codex adds for the model");
    else if (last?.kind === "user" && !last.sent && last.text === text.slice(0, SAME)) last.sent = line;
    else this.#sent = { line, text, entry };
  }

  #takeSent(): void {
    const sent = this.#sent;
    this.#sent = undefined;
    if (sent && !this.#told) this.#user(sent.entry, sent.line, sent.text, sent.line);
  }

  #event(payload: Json, line: Line, entry: string): void {
    const item = objectOf(payload.item);
    const type = wordOf(payload.type === "item_completed" ? item.type : payload.type);
    if (type === "user_message") this.#userTold(entry, line, wordOf(payload.message ?? ""));
    else if (type === "UserMessage") this.#userTold(entry, line, textIn(item.content));
    else if (DETAILS.has(type)) this.#detail(textOf(item.id) ?? textOf(payload.call_id), line);
    else if (type === "token_count") this.#count(objectOf(objectOf(payload.info).last_token_usage));
    else if (type === "task_complete" || type === "turn_complete") this.#end("end_turn");
    else if (type === "turn_aborted") this.#end("cancelled");
    else if (type === "thread_rolled_back") this.#rollBack(numberOf(payload.num_turns) ?? 0);
  }

  /** Versions tell of the same message in one way or another, some in both. */
  #userTold(entry: string, line: Line, text: string): void {
    const sent = this.#sent?.line;
    this.#sent = undefined;
    const last = this.#current?.data;
    const again = last?.kind === "user" && last.said !== line && last.text === text.slice(0, SAME);
    const isOwn = again && this.#told;
    this.#told = true;
    if (isOwn) last.sent ??= sent;
    else this.#user(entry, line, text, sent);
  }

  #user(entry: string, said: Line, text: string, sent: Line | undefined): void {
    this.firstText ??= text;
    this.#add(entry, { kind: "user", said, text: text.slice(0, SAME), sent });
  }

  #answer(entry: string): KeptAnswer {
    const last = this.#current?.data;
    if (last?.kind === "answer" && !last.ended && last.results.size === 0) return last;
    const made: KeptAnswer = {
      kind: "answer",
      items: [],
      model: this.#model,
      calls: new Set(),
      results: new Map(),
      details: new Map(),
      tokens: undefined,
      stopReason: undefined,
      ended: false,
    };
    this.#add(entry, made);
    return made;
  }

  #add(entry: string, data: Kept): void {
    const last = this.#current?.data;
    if (last?.kind === "answer") last.ended = true;
    this.#current = this.tree.addBehind(entry, this.#current, data);
  }

  #result(call: string | undefined, line: Line): void {
    const asked = call === undefined ? undefined : this.#calls.get(call);
    if (asked && call !== undefined) asked.results.set(call, line);
    else this.lossy.add("results of calls that are not there");
  }

  #detail(call: string | undefined, line: Line): void {
    if (call !== undefined) this.#calls.get(call)?.details.set(call, line);
  }

  #count({ input_tokens, output_tokens, cached_input_tokens }: Json): void {
    const last = this.#current?.data;
    if (last?.kind !== "answer") return;
    const counts = { input: numberOf(input_tokens), output: numberOf(output_tokens) };
    last.tokens = tokensOf({ ...counts, cached: numberOf(cached_input_tokens) }) ?? last.tokens;
  }

  #end(stopReason: string): void {
    const last = this.#current?.data;
    if (last?.kind !== "answer") return;
    last.ended = true;
    last.stopReason ??= stopReason;
  }

  /** What was taken back stays a branch of its own; the next turn answers what was before it. */
  #rollBack(turns: number): void {
    let left = turns;
    let node = this.#current;
    while (node && left > 0) {
      if (node.data.kind === "user") left -= 1;
      node = node.parent;
    }
    if (turns > 0) this.#current = node;
  }
}

/** What Codex notes of a call, in this version or an older one. */
const DETAILS = new Set([
  "FileChange",
  "CommandExecution",
  "McpToolCall",
  "patch_apply_end",
  "exec_command_end",
  "mcp_tool_call_end",
]);

const SAME = 2_000;
/** What Codex sends in the user's name. */
const INJECTED =
  /^\s*(?:<(?:environment_context|user_instructions|turn_aborted|skill|permissions|INSTRUCTIONS|collaboration_mode|apps_instructions)|# AGENTS\.md instructions)/;

function textIn(content: unknown): string {
  const texts = blocksOf(listOf(content), new Lossy()).flatMap((block) => textOf(block.text) ?? []);
  return texts.join("\n");
}
