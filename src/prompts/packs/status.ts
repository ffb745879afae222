import type { ParsedParams, Result } from "../../protocol/index.js";
import { promptPacks, type Unit } from "../../store/index.js";
import type { PromptsDeps } from "../deps.js";
import { type PackRecord, readRecord, recordToWire } from "./state.js";
import { placeOfPacks } from "./target.js";

type StatusParams = ParsedParams<"prompt/status">;

/** What is known of the packs of a workspace; of the one that is named or that a thread uses, also when that is nothing. */
export async function promptStatus(
  deps: Pick<PromptsDeps, "store">,
  params: StatusParams,
): Promise<Result<"prompt/status">> {
  const records = await deps.store.read(() => recordsOf(params));
  return { data: records.map(recordToWire) };
}

function* recordsOf(params: StatusParams): Unit<PackRecord[]> {
  const { workspace, config } = yield* placeOfPacks(params);
  const pack = params.pack ?? config?.default_prompt_pack;
  if (pack !== undefined) return [yield* readRecord(workspace.id, pack)];
  if (params.thread_id !== undefined) return [];
  return (yield* promptPacks.listPacks(workspace.id)).map(({ state }) => JSON.parse(state) as PackRecord);
}
