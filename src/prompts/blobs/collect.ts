import { unixSeconds } from "../../base/index.js";
import { blobs, promptPacks, runs, type Unit } from "../../store/index.js";
import type { PromptsDeps } from "../deps.js";

type CollectDeps = Pick<PromptsDeps, "store" | "clock">;

const BATCH = 200;

/** Removes blobs that nothing refers to and that nobody has put for a day, a batch at a time. Answers how many went. */
export async function collectUnused(deps: CollectDeps): Promise<number> {
  const now = await deps.store.read(() => sparing(unixSeconds(deps.clock)));
  let settings = await deps.store.read(() => refsInSettings(NOTHING_KNOWN));
  let removed = 0;
  let after: blobs.UnusedBlob | undefined;
  for (;;) {
    const unused = await deps.store.read(() => blobs.listUnused(now, after, BATCH));
    const batch = await collect(deps, { unused, settings, now });
    removed += batch.removed;
    settings = batch.settings;
    after = unused.at(-1);
    if (unused.length < BATCH) return removed;
  }
}

/**
 * What a run has said is held by nothing until it is told with the next step, and a run may wait for days: of what was put
 * since the oldest one began, nothing goes.
 */
function* sparing(now: number): Unit<number> {
  const began = yield* runs.oldestUnderWay();
  return began === undefined ? now : Math.min(now, began + blobs.KEPT_SECONDS);
}

/** What threads' settings name. */
interface Settings {
  /** The last notification of each workspace when its settings were read. */
  readonly seqs: ReadonlyMap<string, number>;
  readonly refs: ReadonlyMap<string, ReadonlySet<string>>;
}

const NOTHING_KNOWN: Settings = { seqs: new Map(), refs: new Map() };

interface Batch {
  readonly unused: readonly blobs.UnusedBlob[];
  readonly settings: Settings;
  readonly now: number;
}

interface Collected {
  readonly removed: number;
  readonly settings: Settings;
}

/** With every workspace's turn, so that no thread's settings can come to name a blob while it goes. */
async function collect(deps: CollectDeps, batch: Batch): Promise<Collected> {
  if (batch.unused.length === 0) return { removed: 0, settings: batch.settings };
  const key = ["workspaces", ...batch.settings.seqs.keys()];
  const collected = await deps.store.write({ key }, () => collectBatch(batch));
  if (collected.removed !== undefined) return { removed: collected.removed, settings: collected.settings };
  // A workspace was made meanwhile: its turn is needed too.
  return collect(deps, { ...batch, settings: collected.settings });
}

function* collectBatch({
  unused,
  settings: known,
  now,
}: Batch): Unit<Partial<Collected> & { settings: Settings }> {
  const settings = yield* refsInSettings(known);
  if ([...settings.seqs.keys()].some((id) => !known.seqs.has(id))) return { settings };
  const named = [...settings.refs.values(), yield* refsInSnapshots()];
  const free = unused.filter(({ hash }) => !named.some((refs) => refs.has(hash))).map(({ id }) => id);
  return { removed: yield* blobs.collectBlobs(free, now), settings };
}

/** Only the workspaces in which something happened since are read again. */
function* refsInSettings(known: Settings): Unit<Settings> {
  const seqs = yield* blobs.workspaceSeqs();
  const refs = new Map<string, ReadonlySet<string>>();
  for (const [id, seq] of seqs) {
    const before = known.seqs.get(id) === seq ? known.refs.get(id) : undefined;
    refs.set(id, before ?? hashesIn(yield* blobs.configsWithRefs(id)));
  }
  return { seqs, refs };
}

function* refsInSnapshots(): Unit<Set<string>> {
  return hashesIn([...(yield* promptPacks.allPackStates()), ...(yield* promptPacks.allToolSyncRefs())]);
}

function hashesIn(texts: readonly string[]): Set<string> {
  const found = texts.flatMap((text) => [...text.matchAll(/sha256:([0-9a-f]{64})/g)]);
  return new Set(found.map(([, hash]) => hash as string));
}
