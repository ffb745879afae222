import type { Message, Run } from "../../../src/protocol/index.js";

/** A row of the transcript. Its key is the same from its first live word until it stands in the log. */
export type Item =
  | { readonly kind: "user" | "system"; readonly key: string; readonly message: Message }
  | {
      readonly kind: "turn";
      readonly key: string;
      readonly message: Message;
      /** It is the last that its run said, as far as is known. */
      readonly isLast: boolean;
    }
  /** What is being said, or a run that ended without a word. */
  | { readonly kind: "run"; readonly key: string; readonly run: Run };

const UNDER_WAY = new Set(["running", "waiting"]);
const ENDED_BADLY = new Set(["failed", "cancelled", "interrupted"]);

/** Messages, with runs that have no message where their answer would stand. `atEnd`: nothing is missing behind them. */
export function itemsOf(messages: readonly Message[], runs: readonly Run[], atEnd: boolean): Item[] {
  const ids = new Set(messages.map(({ id }) => id));
  const answered = new Set(
    messages.flatMap(({ role, run_id }) => (role === "agent" && run_id ? [run_id] : [])),
  );
  const lastOf = new Map(messages.flatMap(({ run_id }, at) => (run_id ? [[run_id, at] as const] : [])));
  const bare = new Map(
    runs.flatMap((run) => {
      const at = lastOf.get(run.id);
      const silent = ENDED_BADLY.has(run.status) && !answered.has(run.id);
      return silent && at !== undefined ? [[at, run] as const] : [];
    }),
  );
  const saidLast = new Map(
    messages.flatMap(({ role, run_id }, at) => (role === "agent" && run_id ? [[run_id, at] as const] : [])),
  );
  // Of a run that reaches to the end of what is loaded there may be more.
  const open = atEnd ? undefined : messages.at(-1)?.run_id;
  const items = messages.flatMap((message, at): Item[] => {
    const { run_id } = message;
    const isLast = run_id !== undefined && run_id !== open && saidLast.get(run_id) === at;
    const item = itemOf(message, isLast);
    const run = bare.get(at);
    return run ? [item, runItem(run, ids)] : [item];
  });
  // Before its question stands there its answer would have to make room for it.
  const active = atEnd
    ? runs.find((run) => UNDER_WAY.has(run.status) && (run.steps > 0 || ids.has(run.user_message_id)))
    : undefined;
  return active ? [...items, runItem(active, ids)] : items;
}

function itemOf(message: Message, isLast: boolean): Item {
  const { id: key, role } = message;
  return role === "agent" ? { kind: "turn", key, message, isLast } : { kind: role, key, message };
}

function runItem(run: Run, ids: ReadonlySet<string>): Item {
  const key = ids.has(run.agent_message_id) ? `run ${run.id}` : run.agent_message_id;
  return { kind: "run", key, run };
}
