import { sha256 } from "../../base/index.js";
import type { JournalEvent } from "../../journal/index.js";
import {
  type CompileInputs,
  encodeMessage,
  endOf,
  type FrozenConfig,
  type ListEnd,
  type Told,
  tell,
} from "../../prompts/index.js";
import type { PromptMessage } from "../../providers/index.js";
import { blobs, history, type RunRow, type Unit } from "../../store/index.js";
import type { EffectProgress, ProgramWorked, PromptCompiled } from "../fold/events.js";
import { type Difference, difference, hashOf, parsed } from "./difference.js";

/** Every blob that the run's events, its prompts and its history name. */
export function* brokenBlobs(
  row: RunRow,
  own: readonly JournalEvent[],
  compiled: readonly PromptCompiled[],
): Unit<Difference | undefined> {
  const named = own.flatMap(namedBy);
  const found = yield* blobs.findBlobs(named.map(hashOf));
  const broken = firstBroken(named, found);
  if (broken) return broken;
  const inside = own.flatMap((event) => namedInside(event, found));
  return (
    firstBroken(inside, yield* blobs.findBlobs(inside.map(hashOf))) ?? (yield* brokenHistory(row, compiled))
  );
}

type FoundBlobs = ReadonlyMap<string, { readonly content: Uint8Array }>;

function firstBroken(refs: readonly string[], found: FoundBlobs): Difference | undefined {
  for (const ref of refs) {
    const problem = blobProblem(ref, found.get(hashOf(ref))?.content);
    if (problem) return problem;
  }
  return undefined;
}

const BLOB_FIELDS = ["config", "input", "inputs", "prefix", "marker", "result", "request", "given"];

/** Only what stands where a ref stands is one: what people and models say may look the same. */
function namedBy(event: JournalEvent): string[] {
  const { messages = [], calls = [] } =
    event.type === "program.worked" ? (event as Partial<ProgramWorked>) : {};
  const { begun = [], ended = [] } =
    event.type === "effect.progress" ? (event as Partial<EffectProgress>) : {};
  const worked = [...messages, ...[...calls, ...ended].map(({ diffs }) => diffs)];
  const underWay = [...begun, ...ended.map(({ message }) => message)];
  return [...BLOB_FIELDS.map((field) => event[field]), ...worked, ...underWay].filter(
    (ref) => typeof ref === "string",
  );
}

/** What prompts are made of is named in what the events name. */
function namedInside({ config, inputs }: JournalEvent, found: FoundBlobs): string[] {
  const at = (ref: unknown) => (typeof ref === "string" ? found.get(hashOf(ref))?.content : undefined);
  const frozen = parsed<FrozenConfig>(at(config));
  const made = parsed<CompileInputs>(at(inputs));
  const cut = made?.sections.flatMap(({ cut_ref = [] }) => cut_ref) ?? [];
  const parts = made ? [...[...made.base, ...made.sections].map(({ ref }) => ref), ...cut] : [];
  return [
    ...(frozen?.prompt.refs ?? []),
    ...(made ? [made.config] : []),
    ...parts,
    ...(made?.tools_ref ? [made.tools_ref] : []),
  ];
}

export function blobProblem(ref: string, content: Uint8Array | undefined): Difference | undefined {
  if (!content) return difference("integrity", `blob ${ref}`, `The blob ${ref} is missing.`);
  if (sha256(content) === hashOf(ref)) return undefined;
  return difference("integrity", `blob ${ref}`, `The blob ${ref} was changed: its bytes have another hash.`);
}

/** The list of what was told follows from its messages alone, and has the hash that each step recorded. */
function* brokenHistory(row: RunRow, compiled: readonly PromptCompiled[]): Unit<Difference | undefined> {
  for (const { step, history: list } of lastOfEach(compiled)) {
    const rows = yield* history.toldMessages({ ...row, epoch: list.epoch }, 0, list.to);
    let end = endOf(undefined);
    for (const [pos, told] of rows.entries()) {
      const problem = blobProblem(`sha256:${told.hash}`, told.content);
      if (problem) return problem;
      const again = toldAgain(end, told);
      if (!again || !FOLLOWING.every((key) => again[key] === told[key])) return wrongHistory(step, pos);
      end = endOf({ ...again, pos });
    }
    if (rows.length !== list.to || end.list_hash !== list.list_hash) return wrongHistory(step, rows.length);
  }
  return undefined;
}

/** A later step's list begins with an earlier one's, as long as it is the same list. */
function lastOfEach(compiled: readonly PromptCompiled[]): PromptCompiled[] {
  return [...new Map(compiled.map((one) => [one.history.epoch, one])).values()];
}

/** What of a row follows from its message and the rows before it. */
const FOLLOWING = ["list_hash", "role", "chars", "tokens"] as const;

function toldAgain(end: ListEnd, { content, message_id }: history.ToldMessage): Told | undefined {
  const message = parsed<PromptMessage>(content);
  return message && tell(end, [{ encoded: encodeMessage(message), message_id }])[0];
}

function wrongHistory(step: number, pos: number): Difference {
  const message = `What step ${step} was told differs from its record at message ${pos + 1}.`;
  return difference("integrity", `step ${step}, message ${pos + 1}`, message);
}
