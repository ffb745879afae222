import { EntryNames } from "./ids.js";

/** A message of a session: where it stands in the tree, and whatever its reader keeps of it. */
export interface TreeNode<T> {
  /** What its entry is called; of several entries of one name, each has another. */
  readonly id: string;
  readonly parent: TreeNode<T> | undefined;
  readonly children: TreeNode<T>[];
  readonly data: T;
}

/** One way from the root to a leaf. */
export interface Way<T> {
  readonly key: string;
  readonly parentKey: string | undefined;
  nodes(): readonly TreeNode<T>[];
}

/** More than anyone made by hand; each would be a thread. */
const MOST_WAYS = 200;

/**
 * The messages of a session by what they answer. Entries that are no messages stand for the message before them. An entry
 * can only answer one that came earlier in the file, so there are no circles, whatever the file says.
 */
export class MessageTree<T> {
  readonly #byEntry = new Map<string, TreeNode<T> | undefined>();
  readonly #roots: TreeNode<T>[] = [];
  readonly #names = new EntryNames();
  #last: TreeNode<T> | undefined;

  /** Entries whose parent is nowhere: they were put behind the last message before them. */
  strays = 0;

  /** The message an entry stands for. */
  at(entry: string): TreeNode<T> | undefined {
    return this.#byEntry.get(entry);
  }

  /** The message that was added last. */
  get last(): TreeNode<T> | undefined {
    return this.#last;
  }

  /** A message. Without a parent it begins the conversation; undefined means that nobody said whom it answers. */
  add(entry: string, parent: string | null | undefined, data: T): TreeNode<T> {
    return this.addBehind(entry, this.#answered(parent), data);
  }

  /** The same behind a message that is known. */
  addBehind(entry: string, parent: TreeNode<T> | undefined, data: T): TreeNode<T> {
    const node: TreeNode<T> = { id: this.#names.of(entry), parent, children: [], data };
    (parent?.children ?? this.#roots).push(node);
    this.#byEntry.set(entry, node);
    this.#last = node;
    return node;
  }

  /** An entry that is no message. What answers it answers the message it stands for. */
  alias(entry: string, parent: string | null | undefined, of?: TreeNode<T>): void {
    if (!this.#byEntry.has(entry)) this.#byEntry.set(entry, of ?? this.#answered(parent));
  }

  /**
   * The trunk, and a way for each message that is another answer to what had one already. The first answer stays the
   * trunk: what was imported once keeps its thread, however the session branches later.
   */
  ways(): { readonly ways: Way<T>[]; readonly leftOut: number } {
    const ways: Way<T>[] = [];
    let leftOut = 0;
    const open: { from: TreeNode<T>; key: string; parentKey: string | undefined }[] = [];
    const meet = (from: TreeNode<T>, key: string, parentKey: string | undefined) => {
      if (ways.length + open.length < MOST_WAYS) open.push({ from, key, parentKey });
      else leftOut += 1;
    };
    for (const [at, root] of this.#roots.entries())
      meet(root, at === 0 ? "" : root.id, at === 0 ? undefined : "");
    for (let next = open.shift(); next; next = open.shift()) {
      const { from, key, parentKey } = next;
      ways.push({ key, parentKey, nodes: () => nodesThrough(from) });
      for (let node: TreeNode<T> | undefined = from; node; node = node.children[0])
        for (const other of node.children.slice(1)) meet(other, other.id, key);
    }
    return { ways, leftOut };
  }

  #answered(parent: string | null | undefined): TreeNode<T> | undefined {
    if (parent === null) return undefined;
    if (parent !== undefined && this.#byEntry.has(parent)) return this.#byEntry.get(parent);
    if (parent !== undefined) this.strays += 1;
    return this.#last;
  }
}

/** From the root to a message, and on from there by its first answers. */
function nodesThrough<T>(from: TreeNode<T>): TreeNode<T>[] {
  const before: TreeNode<T>[] = [];
  for (let node = from.parent; node; node = node.parent) before.push(node);
  const nodes = before.reverse();
  for (let node: TreeNode<T> | undefined = from; node; node = node.children[0]) nodes.push(node);
  return nodes;
}
