import type { NotificationParams, Result } from "../../src/protocol/index.js";

type Tree = Result<"thread/tree">;

type Known = { [K in "folders" | "threads" | "placements" | "agents_docs"]?: Tree[K] | undefined };

/** A client that reads the tree once and then only applies what notifications say: it must stay equal to the tree. */
export class TreeMirror {
  readonly #folders = new Map<string, Tree["folders"][number]>();
  readonly #threads = new Map<string, Tree["threads"][number]>();
  readonly #placements = new Map<string, Tree["placements"][number]>();
  readonly #docs = new Map<string, Tree["agents_docs"][number]>();

  constructor(tree: Tree) {
    this.#apply(tree);
  }

  hear({ changes }: NotificationParams<"thread/tree/changed">): void {
    if (!changes) throw new Error("the tree changed without saying how");
    this.#apply(changes);
    for (const id of changes.removed_ids ?? []) {
      for (const map of [this.#folders, this.#threads, this.#placements, this.#docs]) map.delete(id);
    }
  }

  /** The tree as this client sees it, comparable with `treeShape`. */
  shape(): object {
    return shapeOf({
      folders: [...this.#folders.values()],
      threads: [...this.#threads.values()],
      placements: [...this.#placements.values()],
      agents_docs: [...this.#docs.values()],
    });
  }

  #apply(changes: Known): void {
    for (const folder of changes.folders ?? []) this.#folders.set(folder.id, folder);
    for (const thread of changes.threads ?? []) this.#threads.set(thread.id, thread);
    for (const placement of changes.placements ?? []) this.#placements.set(placement.thread_id, placement);
    for (const doc of changes.agents_docs ?? []) this.#docs.set(doc.id, doc);
  }
}

export function shapeOf(tree: Pick<Tree, "folders" | "threads" | "placements" | "agents_docs">): object {
  const byKey = <T>(items: T[], key: (item: T) => string) =>
    Object.fromEntries(items.map((item) => [key(item), item]).sort());
  return {
    folders: byKey(tree.folders, ({ id }) => id),
    threads: byKey(tree.threads, ({ id }) => id),
    placements: byKey(tree.placements, ({ thread_id }) => thread_id),
    agents_docs: byKey(tree.agents_docs, ({ id }) => id),
  };
}
