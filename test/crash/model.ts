import type { ServerStep, ServerTurn } from "../support/model-server/script.js";

/** What a person's message asks for stands in it: `<word> <plan>`, where no two messages have the same word. */
export type Plan =
  | "plain"
  | "slow"
  | "hang"
  | "bash"
  | "two"
  | "long"
  | "note"
  | "sync"
  | "async"
  | "late"
  | "both"
  /** Steers a run: what it does is decided by what it was asked before. */
  | "mind";

export const LAST_WORDS = "That is all.";
export const NOTE = "Ledger";

const ASKED = /(\S+) (plain|slow|hang|bash|two|long|note|sync|async|late|both)$/;

interface Spoken {
  readonly role: string;
  readonly content: unknown;
}

/** What a model says follows from what it was told, so that it says the same when it is asked again. */
export function answerOf(body: string, trace: string): ServerTurn {
  const { model, messages } = JSON.parse(body) as { model: string; messages: Spoken[] };
  if (model === "helper" || model === "other")
    return { steps: [{ delay_ms: 40 }, { text: `${model} did it` }] };
  const begins = messages.findLastIndex(isAsked);
  const [, word = "", plan = "plain"] = ASKED.exec(textOf(messages[begins])) ?? [];
  const since = messages.slice(begins + 1);
  const answered = since.some(({ role }) => role === "assistant");
  if (begins === -1 || answered) return { steps: [{ text: "Well. " }, { text: LAST_WORDS }] };
  return { steps: stepsFor(plan as Plan, word, trace) };
}

/** A result that came back is a user's message too. */
function isAsked(message: Spoken): boolean {
  return (
    message.role === "user" && (ASKED.test(textOf(message)) || textOf(message).startsWith("[agents_message]"))
  );
}

function textOf(message: Spoken | undefined): string {
  const content = message?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: unknown }) => String(part?.text ?? "")).join("");
}

function stepsFor(plan: Plan, word: string, trace: string): ServerStep[] {
  const ask = (agentId: string, more: object = {}) =>
    call("agents_message", `${agentId}_${word}`, { agentId, content: `${agentId}: ${word}`, ...more });
  const command = (name: string, seconds: number) =>
    call("bash", name, {
      command: `echo begin ${name} >> ${trace}; sleep ${seconds}; echo end ${name} >> ${trace}`,
    });
  const all = { text: LAST_WORDS };
  const steps: Record<Plan, ServerStep[]> = {
    plain: [{ text: "Well. " }, all],
    slow: [{ text: "First. " }, { delay_ms: 300 }, { text: "Then. " }, { delay_ms: 300 }, all],
    hang: [{ delay_ms: 700 }, all],
    bash: [{ text: "I do it. " }, command(`${word}a`, 0.02)],
    two: [command(`${word}a`, 0.01), command(`${word}b`, 0.05)],
    long: [command(`${word}a`, 0.8)],
    note: [call("notes_append", word, { note: NOTE, text: word })],
    sync: [ask("helper")],
    async: [ask("helper", { mode: "async" })],
    late: [ask("helper", { timeout: 0.02, session: "create" })],
    both: [ask("helper", { session: "create" }), ask("other", { mode: "async" })],
    mind: [all],
  };
  return steps[plan];
}

function call(name: string, id: string, given: object): ServerStep {
  return {
    tool_call: { id: `${name}_${id.replace(/\W/g, "_")}`, name, arguments: JSON.stringify(given) },
  };
}
