import { createTwoFilesPatch } from "diff";
import { canonicalJson, sha256 } from "../base/index.js";
import {
  firstBreak,
  type JournalEvent,
  type JournalHead,
  parseEvent,
  readEvents,
  readHead,
  type WrittenEvent,
} from "../journal/index.js";
import {
  COMPILER_VERSION,
  type CompileInputs,
  compilePrefix,
  compileStep,
  encodeValue,
  type FrozenConfig,
  listHash,
} from "../prompts/index.js";
import type { ParsedParams, ReplayResult } from "../protocol/index.js";
import { blobs, history, type RunRow, type Store, type Unit } from "../store/index.js";
import { requireRun } from "./find.js";
import type { PromptCompiled, RunEvent } from "./fold/events.js";
import { reduce as liveReduce, type Reduced, stateHash } from "./fold/reduce.js";
import { IDLE, type RunsState } from "./fold/state.js";
import { packDifference } from "./replay-pack.js";
import { restBefore } from "./session/sessions.js";

type Difference = NonNullable<ReplayResult["first_difference"]>;

/** What replay is made of. Nothing of it can ask a model or call a tool: there is nobody here who could. */
export interface ReplayDeps {
  readonly store: Store;
  /** For tests: another reducer or compiler than the one that ran. */
  readonly reduce?: typeof liveReduce;
  readonly compile?: { prefix: typeof compilePrefix; step: typeof compileStep; version: string };
}

/** Proves a run from its record: nothing was changed, the state follows from the events, the prompts from their inputs. */
export async function replayRun(deps: ReplayDeps, params: ParsedParams<"run/replay">): Promise<ReplayResult> {
  return deps.store.read(() => replay(deps, params));
}

function* replay(deps: ReplayDeps, params: ParsedParams<"run/replay">): Unit<ReplayResult> {
  const row = yield* requireRun(params);
  const record = yield* readRecord(row);
  const parsed = record.events.map(tryParse);
  const own = parsed.filter((event) => event?.run_id === row.id) as unknown as RunEvent[];
  const compiled = own.filter((event) => event.type === "prompt.compiled");
  const pack = yield* packOf(own);
  const integrity =
    (yield* brokenRecord(row, record)) ?? (yield* brokenBlobs(row, parsed, compiled)) ?? pack.integrity;
  // Events that were changed can't be folded: where the record is broken is where the fold breaks too.
  const unreadable = parsed.includes(undefined) ? integrity : undefined;
  const fold = unreadable ?? foldDifference(deps, row, parsed as JournalEvent[]) ?? pack.fold;
  const recompiled = yield* compileDifference(deps, row, compiled);
  const other = recompiled === "other_version";
  const first = integrity ?? fold ?? (other ? undefined : recompiled);
  return {
    verified: first === undefined && !other,
    integrity: integrity ? "failed" : "ok",
    fold: fold ? "failed" : "ok",
    compile: other ? "other_version" : recompiled ? "failed" : "ok",
    events: own.length,
    steps: compiled.length,
    ...(first && { first_difference: first }),
  };
}

/** What is wrong with the journal that the run's base prompt comes from, if it is a pack's. */
function* packOf(events: readonly RunEvent[]): Unit<Partial<Record<Difference["check"], Difference>>> {
  const asked = events.findLast((event) => event.type === "run.requested");
  const found = asked ? yield* blobs.findBlobs([hashOf(asked.config)]) : undefined;
  const config = parsed<FrozenConfig>([...(found?.values() ?? [])][0]?.content);
  const different = config ? yield* packDifference(config) : undefined;
  return different ? { [different.check]: different } : {};
}

interface RunRecord {
  readonly before: JournalHead | undefined;
  readonly events: readonly WrittenEvent[];
}

/** From where the thread was last at rest before the run up to the run's end: all that its state can depend on. */
function* readRecord(row: RunRow): Unit<RunRecord> {
  const from = (yield* restBefore(row, [row])) ?? row.first_seq;
  const to = row.last_seq ?? (yield* readHead(row)).seq;
  const [before] = from > 1 ? yield* readEvents(row, from - 1, from - 1) : [];
  return { before: from > 1 ? before : { seq: 0, hash: "" }, events: yield* readEvents(row, from, to) };
}

function tryParse(event: WrittenEvent): JournalEvent | undefined {
  try {
    return parseEvent(event);
  } catch {
    return undefined;
  }
}

function* brokenRecord(row: RunRow, { before, events }: RunRecord): Unit<Difference | undefined> {
  const to = row.last_seq ?? (yield* readHead(row)).seq;
  const broken = firstBreak(events, before);
  if (broken)
    return difference(
      "integrity",
      `event ${broken.seq}`,
      `Event ${broken.seq} was changed: ${broken.message}.`,
    );
  if (events.at(-1)?.seq === to) return undefined;
  return difference("integrity", `event ${to}`, `The journal ends before event ${to}, the last of this run.`);
}

function difference(check: Difference["check"], where: string, message: string, diff?: string): Difference {
  return { check, where, message, ...(diff !== undefined && { diff }) };
}

/** Every blob that the run's events, its prompts and its history name. */
function* brokenBlobs(
  row: RunRow,
  events: readonly (JournalEvent | undefined)[],
  compiled: readonly PromptCompiled[],
): Unit<Difference | undefined> {
  const own = events.filter((event) => event?.run_id === row.id);
  const named = own.flatMap((event) => namedBy(event as JournalEvent));
  const found = yield* blobs.findBlobs(named.map(hashOf));
  const broken = firstBroken(named, found);
  if (broken) return broken;
  const inside = own.flatMap((event) => namedInside(event as JournalEvent, found));
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

const BLOB_FIELDS = ["config", "input", "inputs", "prefix", "marker", "result"];

/** Only what stands where a ref stands is one: what people and models say may look the same. */
function namedBy(event: JournalEvent): string[] {
  return BLOB_FIELDS.map((field) => event[field]).filter((ref) => typeof ref === "string");
}

/** What prompts are made of is named in what the events name. */
function namedInside({ config, inputs }: JournalEvent, found: FoundBlobs): string[] {
  const at = (ref: unknown) => (typeof ref === "string" ? found.get(hashOf(ref))?.content : undefined);
  const frozen = parsed<FrozenConfig>(at(config));
  const made = parsed<CompileInputs>(at(inputs));
  const parts = made ? [...made.base, ...made.sections].map(({ ref }) => ref) : [];
  return [
    ...(frozen?.prompt.refs ?? []),
    ...(made ? [made.config] : []),
    ...parts,
    ...(made?.tools_ref ? [made.tools_ref] : []),
  ];
}

function blobProblem(ref: string, content: Uint8Array | undefined): Difference | undefined {
  if (!content) return difference("integrity", `blob ${ref}`, `The blob ${ref} is missing.`);
  if (sha256(content) === hashOf(ref)) return undefined;
  return difference("integrity", `blob ${ref}`, `The blob ${ref} was changed: its bytes have another hash.`);
}

function hashOf(ref: string): string {
  return ref.slice("sha256:".length);
}

/** The list of what was told has the hash that each step recorded, and so has every message of it. */
function* brokenHistory(row: RunRow, compiled: readonly PromptCompiled[]): Unit<Difference | undefined> {
  for (const { step, history: list } of lastOfEach(compiled)) {
    const rows = yield* history.toldMessages({ ...row, epoch: list.epoch }, 0, list.to);
    let hash = "";
    for (const [pos, told] of rows.entries()) {
      const problem = blobProblem(`sha256:${told.hash}`, told.content);
      if (problem) return problem;
      hash = listHash(hash, told.hash);
      if (hash !== told.list_hash) return wrongHistory(step, pos);
    }
    if (rows.length !== list.to || hash !== list.list_hash) return wrongHistory(step, rows.length);
  }
  return undefined;
}

/** A later step's list begins with an earlier one's, as long as it is the same list. */
function lastOfEach(compiled: readonly PromptCompiled[]): PromptCompiled[] {
  return [...new Map(compiled.map((one) => [one.history.epoch, one])).values()];
}

function wrongHistory(step: number, pos: number): Difference {
  const message = `What step ${step} was told differs from its record at message ${pos + 1}.`;
  return difference("integrity", `step ${step}, message ${pos + 1}`, message);
}

/** Folds the events again. State and effects must be those that were recorded, after every event. */
function foldDifference(
  { reduce = liveReduce }: ReplayDeps,
  row: RunRow,
  events: readonly JournalEvent[],
): Difference | undefined {
  let state: RunsState = IDLE;
  for (const event of events) {
    const place = { thread_id: row.thread_id, seq: event.seq };
    const reduced: Reduced = reduce(state, event as unknown as RunEvent, place);
    if ("rejected" in reduced)
      return difference(
        "fold",
        `event ${event.seq}`,
        `Event ${event.seq} (${event.type}) does not follow: ${reduced.rejected}.`,
      );
    state = reduced.state;
    if (stateHash(state) !== event.state) {
      const message = `After event ${event.seq} (${event.type}) the state is another than was recorded.`;
      return difference("fold", `event ${event.seq}`, message, canonicalJson(state));
    }
  }
  return undefined;
}

const CURRENT = { prefix: compilePrefix, step: compileStep, version: COMPILER_VERSION };

/** Compiles each step again from its recorded inputs. */
function* compileDifference(
  { compile = CURRENT }: ReplayDeps,
  row: RunRow,
  compiled: readonly PromptCompiled[],
): Unit<Difference | "other_version" | undefined> {
  for (const event of compiled) {
    if (event.compiler_version !== compile.version) return "other_version";
    const found = yield* recompile(compile, row, event);
    if (found) return found;
  }
  return undefined;
}

function* recompile(
  compile: typeof CURRENT,
  row: RunRow,
  event: PromptCompiled,
): Unit<Difference | undefined> {
  const read = yield* blobs.findBlobs([hashOf(event.inputs)]);
  const inputs = parsed<CompileInputs>(read.get(hashOf(event.inputs))?.content);
  const configs = inputs && (yield* blobs.findBlobs([hashOf(inputs.config)]));
  const config = inputs && parsed<FrozenConfig>(configs?.get(hashOf(inputs.config))?.content);
  const where = `step ${event.step}`;
  if (!inputs || !config)
    return difference("compile", where, `What ${where} was compiled from can't be read.`);
  const prefix = compile.prefix(config, inputs);
  const encoded = encodeValue(prefix);
  if (encoded.ref !== event.prefix) {
    const recorded = yield* blobs.findBlobs([hashOf(event.prefix)]);
    const before = parsed<object>(recorded.get(hashOf(event.prefix))?.content) ?? {};
    return difference(
      "compile",
      where,
      `${where} gives another prefix than was recorded.`,
      diffOf(before, prefix),
    );
  }
  const { epoch, start, to, turn, list_hash, from } = event.history;
  const rows = yield* history.toldRows({ ...row, epoch }, Math.max(0, start - 1), to);
  const first = Math.max(0, start - 1);
  const at = (position: number) => rows[position - first] as (typeof rows)[number];
  const again = compile.step(prefix, { start, to, turn, list_hash, at });
  const was = {
    from,
    marker: event.marker,
    tokens_estimate: event.tokens_estimate,
    request_hash: event.request_hash,
  };
  const is = {
    from: again.from,
    marker: again.marker?.ref,
    tokens_estimate: again.tokens_estimate,
    request_hash: again.request_hash,
  };
  if (canonicalJson(was) === canonicalJson(is)) return undefined;
  return difference("compile", where, `${where} gives another request than was recorded.`, diffOf(was, is));
}

function parsed<T>(content: Uint8Array | undefined): T | undefined {
  try {
    return content && (JSON.parse(Buffer.from(content).toString()) as T);
  } catch {
    return undefined;
  }
}

function diffOf(recorded: object, replayed: object): string {
  const text = (value: object) => `${JSON.stringify(value, null, 2)}\n`;
  return createTwoFilesPatch("recorded", "replayed", text(recorded), text(replayed), "", "", { context: 2 });
}
