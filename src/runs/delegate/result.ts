import { canonicalJson, sha256 } from "../../base/index.js";
import type { PromptMessage } from "../../providers/index.js";
import { type DelegationRow, type RunRow, threads } from "../../store/index.js";
import type { RunsDeps } from "../deps.js";
import { eventsOfRun } from "../find.js";
import type { EffectKind, EffectReceipt, RunEvent } from "../fold/events.js";

/** What came of work that was handed on, in the words of `agents_message`. */
export interface DelegationResult {
  readonly status: "complete" | "failed" | "cancelled" | "interrupted";
  readonly agentId: string;
  readonly sessionId: string;
  readonly sessionName: string;
  readonly created: boolean;
  readonly responseId: string;
  readonly response: string;
  readonly truncated: boolean;
  readonly durationMs: number;
  /** All of them, also where fewer are listed. */
  readonly toolCallCount: number;
  readonly toolCalls: readonly { readonly name: string; readonly durationMs: number }[];
  readonly thinkingText: string;
  /** Why there is no answer, or not all of it. */
  readonly message?: string;
}

const MOST_RESPONSE_BYTES = 64 * 1024;
const MOST_THINKING_BYTES = 16 * 1024;
const MOST_CALLS = 200;

export async function readResult(
  deps: RunsDeps,
  delegation: Pick<DelegationRow, "thread_created">,
  row: RunRow,
): Promise<DelegationResult> {
  const { events, title } = await deps.store.read(function* () {
    const [thread] = yield* threads.findPlacedThreads(row.workspace_id, [row.thread_id]);
    return { events: (yield* eventsOfRun(row)) as unknown as RunEvent[], title: thread?.title ?? "" };
  });
  const said = await spoken(deps, events);
  const calls = callsIn(events);
  const response = cut(said.last, MOST_RESPONSE_BYTES);
  const error = row.error === null ? undefined : (JSON.parse(row.error) as { message: string });
  return {
    status: row.status === "completed" ? "complete" : (row.status as DelegationResult["status"]),
    agentId: row.agent_id,
    sessionId: row.thread_id,
    sessionName: title,
    created: delegation.thread_created === 1,
    responseId: row.id,
    response,
    truncated: response.length < said.last.length,
    durationMs: (events.at(-1)?.at ?? 0) - (events[0]?.at ?? 0),
    toolCallCount: calls.length,
    toolCalls: calls.slice(0, MOST_CALLS),
    thinkingText: cut(said.thinking, MOST_THINKING_BYTES),
    ...(row.status !== "completed" && { message: error?.message ?? ENDS[row.status] ?? "It ended." }),
  };
}

const ENDS: Readonly<Record<string, string>> = {
  cancelled: "Its run was cancelled.",
  interrupted: "The gateway stopped while it was at work.",
};

/** What it said last is its answer: what came before led to its tools. */
async function spoken(
  deps: RunsDeps,
  events: readonly RunEvent[],
): Promise<{ last: string; thinking: string }> {
  const messages = spokenIn(events);
  return { last: await lastText(deps, messages), thinking: await thoughtsOf(deps, messages) };
}

/** A message of an agent's own. */
interface Spoken {
  readonly ref: string;
  /** False: it is known to hold none. */
  readonly mayHoldThoughts: boolean;
}

/** A program says most of it while it works; only what came after its last tool stands with the end of its turn. */
function spokenIn(events: readonly RunEvent[]): Spoken[] {
  const answers = new Set(answersIn(events));
  return events.flatMap((event) => {
    if (event.type === "program.worked") {
      const [ref] = event.messages;
      return ref === undefined ? [] : [{ ref, mayHoldThoughts: event.thoughts_ms !== undefined }];
    }
    if (event.type !== "effect.receipt" || !answers.has(event) || event.result === undefined) return [];
    return [{ ref: event.result, mayHoldThoughts: true }];
  });
}

/** One at a time, here and below: a program may have said more than memory should hold, with the arguments of its calls. */
async function lastText(deps: RunsDeps, messages: readonly Spoken[]): Promise<string> {
  for (const { ref } of messages.toReversed()) {
    const text = await partsAt(deps, ref, "text");
    if (text !== "") return text;
  }
  return "";
}

async function thoughtsOf(deps: RunsDeps, messages: readonly Spoken[]): Promise<string> {
  let thinking = "";
  for (const { ref } of messages.filter(({ mayHoldThoughts }) => mayHoldThoughts)) {
    const thought = await partsAt(deps, ref, "thinking");
    thinking += thinking === "" || thought === "" ? thought : `\n${thought}`;
    if (Buffer.byteLength(thinking) > MOST_THINKING_BYTES) break;
  }
  return thinking;
}

async function partsAt(deps: RunsDeps, ref: string, kind: "text" | "thinking"): Promise<string> {
  const { messages = [] } = (await deps.texts.load([ref])).get(ref) ?? {};
  return messages.map((message) => partsOf(message, kind)).join("");
}

function answersIn(events: readonly RunEvent[]): EffectReceipt[] {
  return receiptsOf(events, "llm.generate").map(({ receipt }) => receipt);
}

/** Those that were made here, or those that a program made by itself. */
function callsIn(events: readonly RunEvent[]): { name: string; durationMs: number }[] {
  const asked = answersIn(events).flatMap(({ calls = [] }) => calls);
  const names = new Map(asked.map((call) => [sha256(canonicalJson(call)), call.name]));
  const made = receiptsOf(events, "tool.call").map(({ receipt, params_hash }) => ({
    name: names.get(params_hash) ?? "",
    durationMs: receipt.duration_ms ?? 0,
  }));
  const worked = events.flatMap((event) => (event.type === "program.worked" ? event.calls : []));
  return [...made, ...worked.map(({ name, duration_ms = 0 }) => ({ name, durationMs: duration_ms }))];
}

/** What came of effects of a kind, in the order they were decided on. */
function receiptsOf(events: readonly RunEvent[], kind: EffectKind) {
  const receipts = new Map(
    events.flatMap((event) => (event.type === "effect.receipt" ? [[event.intent_id, event] as const] : [])),
  );
  return events.flatMap((event) => {
    if (event.type !== "effect.requested" || event.kind !== kind) return [];
    const receipt = receipts.get(event.intent_id);
    return receipt ? [{ receipt, params_hash: event.params_hash }] : [];
  });
}

function partsOf({ content }: PromptMessage, kind: "text" | "thinking"): string {
  if (typeof content === "string") return kind === "text" ? content : "";
  return content.map((part) => (part.type === kind ? part.text : "")).join("");
}

/** At most so many bytes, whole characters only. */
function cut(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(most));
  return text.slice(0, read);
}
