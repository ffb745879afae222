import { canonicalJson } from "../../base/index.js";
import {
  type CompileInputs,
  type compilePrefix,
  type compileStep,
  encodeValue,
  type FrozenConfig,
  type Prefix,
} from "../../prompts/index.js";
import type { ReplayResult } from "../../protocol/index.js";
import { blobs, history, type RunRow, type Unit } from "../../store/index.js";
import type { PromptCompiled } from "../fold/events.js";
import { type Difference, difference, diffOf, hashOf, parsed } from "./difference.js";

export interface Compiler {
  readonly prefix: typeof compilePrefix;
  readonly step: typeof compileStep;
  readonly version: string;
}

export interface Recompiled {
  readonly outcome: ReplayResult["compile"];
  readonly difference?: Difference;
}

/** Compiles each step again from its recorded inputs. */
export function* recompile(
  compiler: Compiler,
  row: RunRow,
  compiled: readonly PromptCompiled[],
): Unit<Recompiled> {
  for (const event of compiled) {
    const where = `step ${event.step}`;
    const { compiler_version: recorded } = event;
    if (recorded !== compiler.version) {
      const message = `${where} was compiled by version ${recorded} of the compiler; this is version ${compiler.version}.`;
      return { outcome: "other_version", difference: difference("compile", where, message) };
    }
    const found = yield* stepDifference(compiler, row, event);
    if (found) return { outcome: "failed", difference: found };
  }
  return { outcome: "ok" };
}

/** Inputs that were changed may have any shape, and no compiler copes with that. */
function* stepDifference(
  compiler: Compiler,
  row: RunRow,
  event: PromptCompiled,
): Unit<Difference | undefined> {
  const where = `step ${event.step}`;
  const failed = (why: string) => difference("compile", where, `${where} can't be compiled again: ${why}.`);
  if (!isReadable(event)) return failed("its event was changed");
  try {
    return (yield* prefixDifference(compiler, event)) ?? (yield* requestDifference(compiler, row, event));
  } catch (error) {
    return failed((error as Error).message);
  }
}

/** No store can be asked for what is not even a number. */
function isReadable({ inputs, prefix, history: list }: PromptCompiled): boolean {
  const numbers = [list?.epoch, list?.start, list?.from, list?.to, list?.turn];
  const inRange = numbers.every((number) => Number.isInteger(number) && number >= 0 && number < LARGEST);
  return inRange && [inputs, prefix, list.list_hash].every((text) => typeof text === "string");
}

const LARGEST = 2 ** 31;

function* prefixDifference(compiler: Compiler, event: PromptCompiled): Unit<Difference | undefined> {
  const prefix = yield* compilePrefixAgain(compiler, event);
  if (encodeValue(prefix).ref === event.prefix) return undefined;
  const recorded = (yield* valueAt<object>(event.prefix)) ?? {};
  const where = `step ${event.step}`;
  const message = `${where} gives another prefix than was recorded.`;
  return difference("compile", where, message, diffOf(recorded, prefix));
}

function* compilePrefixAgain(compiler: Compiler, { inputs: ref }: PromptCompiled): Unit<Prefix> {
  const inputs = yield* valueAt<CompileInputs>(ref);
  const config = inputs && (yield* valueAt<FrozenConfig>(inputs.config));
  if (!inputs || !config) throw new Error("what it was compiled from can't be read");
  return compiler.prefix(config, inputs);
}

function* valueAt<T>(ref: string): Unit<T | undefined> {
  const found = yield* blobs.findBlobs([hashOf(ref)]);
  return parsed<T>(found.get(hashOf(ref))?.content);
}

function* requestDifference(
  compiler: Compiler,
  row: RunRow,
  event: PromptCompiled,
): Unit<Difference | undefined> {
  const { epoch, start, to, turn, list_hash, from } = event.history;
  const first = Math.max(0, start - 1);
  const rows = yield* history.toldRows({ ...row, epoch }, first, to);
  const at = (position: number) => rows[position - first] as (typeof rows)[number];
  const again = compiler.step(yield* compilePrefixAgain(compiler, event), { start, to, turn, list_hash, at });
  const { marker, tokens_estimate, request_hash } = event;
  const was = { from, marker, tokens_estimate, request_hash };
  const is = {
    from: again.from,
    marker: again.marker?.ref,
    tokens_estimate: again.tokens_estimate,
    request_hash: again.request_hash,
  };
  if (canonicalJson(was) === canonicalJson(is)) return undefined;
  const where = `step ${event.step}`;
  return difference("compile", where, `${where} gives another request than was recorded.`, diffOf(was, is));
}
