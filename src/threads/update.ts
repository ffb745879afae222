import type { JsonChange, ThreadEnvelope, Thread as ThreadFile } from "../atsf/index.js";
import { unixSeconds } from "../base/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { notifications, threads, workspaces } from "../store/index.js";
import { type Call, getThread, threadToWire, treeChanged } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { threadsError } from "./errors.js";
import { reflect } from "./files/reflect.js";
import { assertWritable, type LocatedThread, withThread } from "./locate.js";
import { ownChanges, ownOf, stampAfter } from "./metadata.js";

type UpdateParams = ParsedParams<"thread/update">;

const MAX_ATTRIBUTES_CHARS = 65_536;

/** Changes what is known of a thread in its file, then in the index. What other programs keep in the file stays. */
export async function updateThread(
  deps: ThreadsDeps,
  params: UpdateParams,
  call: Call,
): Promise<Result<"thread/update">> {
  return withThread(deps, params, async (located, file) => {
    assertWritable(located);
    let takeBack = async () => {};
    await file.change((envelope) => {
      const now = stampAfter(deps.clock.now(), located.row.own_stamp, ownOf(envelope)?.updatedAt);
      const changes = changesOf(envelope, params, now);
      takeBack = () => takeBackFrom(file, { changes, before: envelope, at: now });
      return changes;
    });
    await reflect(deps, located, call).catch(async (error) => {
      // What can't be taken back either is brought to the index later, as any change of the file.
      await takeBack().catch(() => {});
      throw error;
    });
    if (params.granted_tools) await keepGrants(deps, located, params.granted_tools, call);
    return getThread(deps, { workspace_id: located.workspace.id, thread_id: located.thread_id });
  });
}

interface Changed {
  readonly changes: readonly JsonChange[];
  readonly before: ThreadEnvelope;
  readonly at: string;
}

/** Whoever is told that a change was refused must not see it later. Where somebody else has written since, it stays. */
async function takeBackFrom(file: ThreadFile, { changes, before, at }: Changed): Promise<void> {
  if (changes.length === 0) return;
  await file.change((envelope) =>
    ownOf(envelope)?.updatedAt === at
      ? changes.map(({ path }) => ({ path, value: valueAt(before, path) }))
      : [],
  );
}

function valueAt(value: unknown, path: JsonChange["path"]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], value);
}

/** Takes back what was granted for good, but for these. A grant is given where somebody is asked, and only there. */
async function keepGrants(
  deps: ThreadsDeps,
  { workspace: { id: workspace_id }, thread_id }: LocatedThread,
  kept: readonly string[],
  { origin }: Call,
): Promise<void> {
  await deps.store.write({ key: workspace_id, origin }, function* () {
    yield* workspaces.lockWorkspace(workspace_id);
    const [row] = yield* threads.findPlacedThreads(workspace_id, [thread_id]);
    if (!row || row.granted_tools === null) return;
    const left = (JSON.parse(row.granted_tools) as string[]).filter((name) => kept.includes(name));
    const granted_tools = left.length === 0 ? null : JSON.stringify(left);
    if (granted_tools === row.granted_tools) return;
    yield* threads.updateThread(workspace_id, thread_id, { granted_tools });
    const thread = threadToWire({ ...row, granted_tools });
    yield* notifications.announce(workspace_id, unixSeconds(deps.clock), [
      { method: "thread/changed", params: { thread } },
      treeChanged(workspace_id, { threads: [thread] }),
    ]);
  });
}

/** Nothing at all when nothing would be another than it is: then the time of change stays too. */
function changesOf(envelope: ThreadEnvelope, params: UpdateParams, now: string): JsonChange[] {
  const own = ownOf(envelope) ?? {};
  const changes: Record<string, unknown> = {};
  const { title, pinned } = params;
  const renamed = title !== undefined && title !== envelope.title;
  if (renamed && !own.named) changes.named = true;
  if (pinned !== undefined && pinned !== (own.pinnedAt !== undefined))
    changes.pinnedAt = pinned ? now : undefined;
  for (const key of ["attributes", "config"] as const) {
    const merged = merge(own[key], params[key]);
    if (JSON.stringify(merged) !== JSON.stringify(own[key])) changes[key] = merged;
  }
  assertSmall(changes.attributes);
  if (!renamed && Object.keys(changes).length === 0) return [];
  return [
    ...(renamed ? [{ path: ["title"], value: title }] : []),
    ...ownChanges({ ...changes, updatedAt: now }),
  ];
}

/** Changes the given keys; `null` clears one. An object without keys is none. */
function merge(
  stored: Record<string, unknown> | undefined,
  changes: Record<string, unknown> | undefined,
): Record<string, unknown> | undefined {
  if (!changes) return stored;
  const merged = Object.entries({ ...stored, ...changes }).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return merged.length === 0 ? undefined : Object.fromEntries(merged);
}

function assertSmall(attributes: unknown): void {
  if (attributes === undefined || JSON.stringify(attributes).length <= MAX_ATTRIBUTES_CHARS) return;
  throw threadsError(
    { kind: "thread.attributes_too_large", limit: MAX_ATTRIBUTES_CHARS },
    `A thread's attributes may take ${MAX_ATTRIBUTES_CHARS} characters of JSON.`,
  );
}
