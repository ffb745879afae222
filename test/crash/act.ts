import type { MethodName, Params, Result } from "../../src/protocol/index.js";
import type { Doubt, Known, Ledger } from "./ledger.js";
import { Gone, type Line, Refused } from "./line.js";

/** What a client does with in one life of a gateway. */
export interface Acting {
  readonly workspace_id: string;
  readonly ledger: Ledger;
  readonly known: Known;
  readonly line: Line;
  /** Refusals that are right on a disk that is full, for example. */
  readonly trouble?: RegExp;
  /** Hear of every call that left, and of every one that was acknowledged. */
  sent?(method: string): void;
  acknowledged?(method: string): void;
}

export interface Outcome<M extends MethodName> {
  /** What the client knows from now on. */
  readonly known?: (result: Result<M>) => void;
  /** What it looks for when no answer came. */
  readonly doubt?: Doubt;
  readonly refused?: () => void;
  /** It was acknowledged before: the answer promises nothing new. */
  readonly isRepeated?: boolean;
  /** Kinds of refusal that the moment may bring. */
  readonly may?: RegExp;
}

/** Refused while a gateway stops, whatever it is. */
const STOPPING = /^(run\.stopping|stopping|store\.unavailable)$/;

/** Makes a call and keeps account of it: acknowledged, refused, or unknown because the connection died. */
export async function attempt<M extends MethodName>(
  acting: Acting,
  method: M,
  params: Params<M>,
  outcome: Outcome<M> = {},
): Promise<Result<M> | undefined> {
  const { ledger, known } = acting;
  ledger.counts.sent += 1;
  const entry = ledger.write(known.name, `${method} ${JSON.stringify(params)}`);
  try {
    const answer = acting.line.call(method, params);
    acting.sent?.(method);
    const result = await answer;
    ledger.counts.acknowledged += 1;
    entry.became = "acknowledged";
    ledger.byMethod.set(method, (ledger.byMethod.get(method) ?? 0) + 1);
    outcome.known?.(result);
    if (!outcome.isRepeated) acting.acknowledged?.(method);
    return result;
  } catch (error) {
    if (error instanceof Refused) {
      entry.became = `refused: ${error.error.data?.kind} ${error.error.data?.reference ?? ""}`;
      noteRefusal(acting, error, outcome);
      return undefined;
    }
    if (!(error instanceof Gone)) {
      ledger.problems.push(String(error));
      throw error;
    }
    ledger.counts.unknown += 1;
    if (outcome.doubt) known.doubts.push(outcome.doubt);
    throw error;
  }
}

function noteRefusal<M extends MethodName>(
  { ledger, known, trouble }: Acting,
  refused: Refused,
  { may, doubt, refused: undo }: Outcome<M>,
): void {
  const kind = String(refused.error.data?.kind);
  ledger.counts.refused += 1;
  ledger.refusals.set(kind, (ledger.refusals.get(kind) ?? 0) + 1);
  if (trouble?.test(kind)) {
    // What is in the files and not in the store is known soon, repeated or not (THR100).
    if (doubt) known.doubts.push(doubt);
    return;
  }
  undo?.();
  if (![may, STOPPING].some((kinds) => kinds?.test(kind)))
    ledger.problems.push(`refused without a reason: ${refused.message}`);
}
