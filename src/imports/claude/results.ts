import type { LineFile, LineRef } from "../line-file.js";
import { isObject, type Json, listOf, objectOf, wordOf } from "../values.js";
import type { Kept } from "./kept.js";

/** What came of a call: the block that answers it, and what Claude Code noted of it. */
interface Result {
  readonly result: Json | undefined;
  readonly detail: Json;
}

/** By the ids of the calls. */
export type Results = ReadonlyMap<string, Result>;

export const NO_RESULT: Result = { result: undefined, detail: {} };

/** Lines with results. One line may answer any number of calls, of one answer or of many: it is not read for each of them. */
export class ResultLines {
  readonly #file: LineFile;
  #last: { readonly offset: number; readonly results: Results } | undefined;

  constructor(file: LineFile) {
    this.#file = file;
  }

  async of({ results }: Kept): Promise<Results> {
    const found = new Map<string, Result>();
    const inOrder = [...results].sort(([, a], [, b]) => (a?.offset ?? 0) - (b?.offset ?? 0));
    for (const [call, ref] of inOrder) {
      const line = ref && (await this.#in(ref));
      found.set(call, line?.get(call) ?? NO_RESULT);
    }
    return found;
  }

  async #in(ref: LineRef): Promise<Results> {
    if (this.#last?.offset !== ref.offset) {
      this.#last = undefined;
      this.#last = { offset: ref.offset, results: resultsIn(await this.#file.read(ref)) };
    }
    return this.#last.results;
  }
}

/** Of two results for one call in a line, the first counts. */
function resultsIn(line: Json): Results {
  const found = new Map<string, Result>();
  const detail = objectOf(line.toolUseResult);
  for (const block of listOf(objectOf(line.message).content).filter(isObject)) {
    const call = wordOf(block.tool_use_id);
    if (block.type === "tool_result" && !found.has(call)) found.set(call, { result: block, detail });
  }
  return found;
}
