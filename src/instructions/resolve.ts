import { Lru, unixSeconds } from "../base/index.js";
import type { Result } from "../protocol/index.js";
import { agentsDocs, Generations, type Store, type Unit } from "../store/index.js";
import { folderNotFound, threadNotFound, workspaceNotFound } from "../tree/index.js";
import type { InstructionsDeps } from "./deps.js";
import { effectiveField } from "./wire.js";

/** Walks from a scope or thread that must exist. */
export function* walkScope(workspace_id: string, from: agentsDocs.WalkFrom): Unit<agentsDocs.Walk> {
  const walk = yield* agentsDocs.walkToRoot(workspace_id, from);
  if (!walk) throw workspaceNotFound(workspace_id);
  if (walk.subject !== null) return walk;
  throw "thread_id" in from ? threadNotFound(from.thread_id) : folderNotFound(from.folder_id ?? "");
}

/** Characters of documents kept in memory. */
const CACHE_CHARS = 8_000_000;
const ENTRY_OVERHEAD = 1_000;

/** Resolves what is in effect for threads, and remembers it until the tree or a document of that workspace changes. */
export class Resolver {
  readonly #store: Store;
  readonly #walks = new Lru<string, agentsDocs.Walk>(CACHE_CHARS);
  readonly #generations: Generations;

  constructor(store: Store) {
    this.#store = store;
    this.#generations = new Generations(
      store,
      ({ method, params }) => method === "thread/tree/changed" && !isThreadAlone(params),
    );
  }

  async walkForThread(workspace_id: string, thread_id: string): Promise<agentsDocs.Walk> {
    if (!this.#store.exclusive()) return this.#store.read(() => walkScope(workspace_id, { thread_id }));
    const key = `${this.#generations.of(workspace_id)} ${thread_id}`;
    const known = this.#walks.get(key);
    if (known) return known;
    const walk = await this.#store.read(() => walkScope(workspace_id, { thread_id }));
    this.#walks.set(key, walk, (walk.nearest?.doc.content.length ?? 0) + ENTRY_OVERHEAD);
    return walk;
  }

  close(): void {
    this.#generations.close();
  }
}

/**
 * A thread that changes where it stands changes nothing that is in effect, and every message changes its thread. Looked for
 * at the beginning of the text: what people write stands behind it.
 */
function isThreadAlone(params: string): boolean {
  return (
    /^\{"workspace_id":"[^"]*","changes":\{"threads":\[/.test(params) &&
    !/"placements":\[|"removed_ids":\[/.test(params)
  );
}

export async function resolveForThread(
  deps: InstructionsDeps & { readonly resolver: Resolver },
  params: { workspace_id: string; thread_id: string },
): Promise<Result<"thread/agents_doc/resolve_for_thread">> {
  const walk = await deps.resolver.walkForThread(params.workspace_id, params.thread_id);
  return effectiveField(walk, unixSeconds(deps.clock));
}
