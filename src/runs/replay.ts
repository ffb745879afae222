import type { JournalEvent } from "../journal/index.js";
import { COMPILER_VERSION, compilePrefix, compileStep, type FrozenConfig } from "../prompts/index.js";
import type { ParsedParams, ReplayResult } from "../protocol/index.js";
import { blobs, type Store, type Unit } from "../store/index.js";
import { requireRun } from "./find.js";
import type { RunEvent } from "./fold/events.js";
import { reduce as liveReduce } from "./fold/reduce.js";
import { blobProblem, brokenBlobs } from "./replay/blobs.js";
import { type Compiler, recompile } from "./replay/compile.js";
import { type Difference, hashOf, parsed } from "./replay/difference.js";
import { foldDifference } from "./replay/fold.js";
import { brokenRecord, readRecord, tryParse } from "./replay/record.js";
import { packDifference } from "./replay-pack.js";

/** What replay is made of. Nothing of it can ask a model or call a tool: there is nobody here who could. */
export interface ReplayDeps {
  readonly store: Store;
  /** For tests: another reducer or compiler than the one that ran. */
  readonly reduce?: typeof liveReduce;
  readonly compile?: Compiler;
}

const CURRENT: Compiler = { prefix: compilePrefix, step: compileStep, version: COMPILER_VERSION };

/** Proves a run from its record: nothing was changed, the state follows from the events, the prompts from their inputs. */
export async function replayRun(deps: ReplayDeps, params: ParsedParams<"run/replay">): Promise<ReplayResult> {
  return deps.store.read(() => replay(deps, params));
}

function* replay(deps: ReplayDeps, params: ParsedParams<"run/replay">): Unit<ReplayResult> {
  const { reduce = liveReduce, compile = CURRENT } = deps;
  const row = yield* requireRun(params);
  const record = yield* readRecord(row);
  const events = record.events.map(tryParse);
  const own = events.filter((event): event is JournalEvent => event?.run_id === row.id);
  const happened = own as unknown as RunEvent[];
  const compiled = happened.filter((event) => event.type === "prompt.compiled");
  const pack = yield* packOf(happened);
  const integrity = brokenRecord(record) ?? (yield* brokenBlobs(row, own, compiled)) ?? pack.integrity;
  // Events that were changed can't be folded: where the record is broken is where the fold breaks too.
  const unreadable = events.includes(undefined) ? integrity : undefined;
  const fold = unreadable ?? foldDifference(reduce, row, events as JournalEvent[]) ?? pack.fold;
  const recompiled = yield* recompile(compile, row, compiled);
  const first = integrity ?? fold ?? recompiled.difference;
  return {
    verified: first === undefined,
    integrity: integrity ? "failed" : "ok",
    fold: fold ? "failed" : "ok",
    compile: recompiled.outcome,
    events: own.length,
    steps: compiled.length,
    ...(first && { first_difference: first }),
  };
}

/** What is wrong with the journal that the run's base prompt comes from, if it is a pack's. */
function* packOf(events: readonly RunEvent[]): Unit<Partial<Record<Difference["check"], Difference>>> {
  const { config: ref } = events.findLast((event) => event.type === "run.requested") ?? {};
  if (typeof ref !== "string") return {};
  const content = (yield* blobs.findBlobs([hashOf(ref)])).get(hashOf(ref))?.content;
  // A configuration that was changed says nothing of its pack; that it was is told by itself.
  const config = blobProblem(ref, content) ? undefined : parsed<FrozenConfig>(content);
  const different = config ? yield* packDifference(config) : undefined;
  return different ? { [different.check]: different } : {};
}
