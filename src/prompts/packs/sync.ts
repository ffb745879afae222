import { canonicalJson, contentRef, HeddleError, isKind, unixSeconds } from "../../base/index.js";
import type { ParsedParams, PromptSnapshot, Result } from "../../protocol/index.js";
import type { Unit, WorkspaceRow } from "../../store/index.js";
import { updateThread } from "../../threads/index.js";
import { type Call, findThread, requireWorkspace } from "../../tree/index.js";
import { writeBlob } from "../blobs/write.js";
import type { PromptsDeps } from "../deps.js";
import type { SyncStage } from "../errors.js";
import type { PackEvent } from "./events.js";
import { recordEvent } from "./record.js";
import { isKnown, type PackEffect } from "./reduce.js";
import { type ResolvedPack, resolvePack } from "./source/resolve.js";
import { type PackRecord, readRecord, recordToWire } from "./state.js";
import { defaultPackOf, requireThere } from "./target.js";

type SyncParams = ParsedParams<"prompt/sync">;
type SyncResult = Result<"prompt/sync">;

/** Reads a pack into a pending snapshot. Nothing uses it until it is applied. */
export async function syncPrompt(deps: PromptsDeps, params: SyncParams, call: Call): Promise<SyncResult> {
  const workspace = await deps.store.read(() => placeToSync(params));
  const pack = params.pack ?? (await defaultPackOf(deps, workspace, params.version));
  return deps.packs.run({ workspace_id: workspace.id, pack }, async () => {
    const effect = await request(deps, workspace, { ...params, pack });
    const answer = await resolve(deps, workspace, effect);
    const { result, snapshot } = await settle(deps, { workspace, effect, answer, call });
    if (snapshot && params.thread_id !== undefined) await bindThread(deps, params.thread_id, snapshot, call);
    return result;
  });
}

/** Refused before anything is written when the workspace or the thread is not there. */
export function* placeToSync({ workspace_id, thread_id }: SyncParams): Unit<WorkspaceRow> {
  const workspace = yield* requireThere(workspace_id);
  if (thread_id !== undefined) yield* findThread({ workspace_id, thread_id });
  return workspace;
}

/** Durable before anything is read: a crash in between leaves it open, and the next sync supersedes it. */
async function request(
  deps: PromptsDeps,
  { id }: WorkspaceRow,
  { pack, version, thread_id }: SyncParams & { pack: string },
): Promise<PackEffect> {
  const event: PackEvent = {
    type: "prompt.sync_requested",
    at: deps.clock.now(),
    pack,
    ...(version !== undefined && { version }),
    ...(thread_id !== undefined && { thread_id }),
  };
  const { effects } = await deps.store.write({ key: id }, function* () {
    yield* requireWorkspace(id);
    return yield* recordEvent(deps, id, event);
  });
  return effects[0] as PackEffect;
}

interface SyncFailure {
  readonly stage: SyncStage;
  readonly reason: string;
}

async function resolve(
  deps: PromptsDeps,
  workspace: WorkspaceRow,
  effect: PackEffect,
): Promise<ResolvedPack | SyncFailure> {
  try {
    return await resolvePack(await deps.files.ensureDirectory(workspace), effect);
  } catch (error) {
    if (isKind(error, "prompt.unreadable")) return error.data as unknown as SyncFailure;
    if (isKind(error, "workspace.directory_missing")) return { stage: "resolve", reason: error.message };
    throw error;
  }
}

interface Settling {
  readonly workspace: WorkspaceRow;
  readonly effect: PackEffect;
  readonly answer: ResolvedPack | SyncFailure;
  readonly call: Call;
}

interface Settled {
  readonly result: SyncResult;
  /** Absent when the sync failed. */
  readonly snapshot?: PromptSnapshot;
}

async function settle(deps: PromptsDeps, settling: Settling): Promise<Settled> {
  const { workspace, effect, answer, call } = settling;
  const write = (unit: () => Unit<Settled>) =>
    deps.store.write({ key: workspace.id, origin: call.origin }, unit);
  const fail = (failure: SyncFailure) => write(() => recordFailure(deps, settling, failure));
  if ("stage" in answer) return fail(answer);
  try {
    return await write(() => recordSnapshot(deps, settling, answer));
  } catch (error) {
    if (!(error instanceof HeddleError) || !error.kind.startsWith("store.")) throw error;
    const failure = { stage: "store", reason: error.message } as const;
    // A store that can't even take the failure leaves the sync open: whoever asked learns it all the same.
    return fail(failure).catch(() => ({ result: { status: "failed", pack: effect.pack, error: failure } }));
  }
}

function* recordSnapshot(
  deps: PromptsDeps,
  { workspace, effect }: Settling,
  resolved: ResolvedPack,
): Unit<Settled> {
  yield* requireWorkspace(workspace.id);
  const snapshot = yield* takeSnapshot(deps, { workspace, effect }, resolved);
  const { pack, intent_id } = effect;
  const at = deps.clock.now();
  const same = isKnown(yield* readRecord(workspace.id, pack), snapshot.root_hash);
  const event: PackEvent = same
    ? { type: "prompt.unchanged", at, pack, intent_id, root_hash: snapshot.root_hash }
    : { type: "prompt.synced", at, pack, intent_id, snapshot };
  const { record } = yield* recordEvent(deps, workspace.id, event);
  return { result: resultOf(same ? "unchanged" : "pending", record), snapshot };
}

/** Named by everything it is made of: the same files at the same version have the same root. */
function* takeSnapshot(
  deps: PromptsDeps,
  { workspace, effect }: Pick<Settling, "workspace" | "effect">,
  { version, index, content }: ResolvedPack,
): Unit<PromptSnapshot> {
  const taken_at = unixSeconds(deps.clock);
  const root = {
    ...(version !== undefined && { version }),
    ...(index && { index_ref: (yield* writeBlob(index, taken_at)).ref }),
    prompt_pack: effect.pack,
    prompt_pack_ref: (yield* writeBlob(content, taken_at)).ref,
  };
  return { workspace: workspace.id, ...root, root_hash: contentRef(canonicalJson(root)), taken_at };
}

function* recordFailure(
  deps: PromptsDeps,
  { workspace, effect: { pack, intent_id } }: Settling,
  { stage, reason }: SyncFailure,
): Unit<Settled> {
  yield* requireWorkspace(workspace.id);
  const event: PackEvent = {
    type: "prompt.sync_failed",
    at: deps.clock.now(),
    pack,
    intent_id,
    stage,
    reason,
  };
  const { record } = yield* recordEvent(deps, workspace.id, event);
  return { result: resultOf("failed", record) };
}

function resultOf(status: SyncResult["status"], record: PackRecord): SyncResult {
  const { pack, active, pending, error } = recordToWire(record);
  return {
    status,
    pack,
    ...(pending && { pending }),
    ...(active && { active }),
    ...(error && { error }),
  };
}

async function bindThread(
  deps: PromptsDeps,
  thread_id: string,
  { workspace, version, prompt_pack }: PromptSnapshot,
  call: Call,
): Promise<void> {
  const config = { workspace_binding: { workspace, version }, default_prompt_pack: prompt_pack };
  const kept = { title: undefined, pinned: undefined, attributes: undefined, granted_tools: undefined };
  await updateThread(deps, { workspace_id: workspace, thread_id, config, ...kept }, call);
}
