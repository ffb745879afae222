/** The tree and its documents as a plain in-memory model: what the gateway must agree with. */

export interface ModelDoc {
  content: string;
  version: number;
}

export interface Effective {
  readonly scope: string | null;
  readonly content: string;
}

export interface DocChange {
  readonly folder_id: string | null;
  readonly doc: { readonly version: number; readonly status: string } | null;
  readonly effective: Effective | null;
  readonly effective_changed: boolean;
}

const isActive = (doc: ModelDoc | undefined): doc is ModelDoc =>
  doc !== undefined && doc.content.trim() !== "";

export class TreeModel {
  /** Folders by parent, in order; null is the root. */
  readonly folders = new Map<string | null, string[]>([[null, []]]);
  readonly parents = new Map<string, string | null>();
  readonly names = new Map<string, string>();
  /** Threads by folder, in order. */
  readonly threads = new Map<string | null, string[]>([[null, []]]);
  readonly docs = new Map<string | null, ModelDoc>();

  folderIds(): string[] {
    return [...this.parents.keys()];
  }

  threadIds(): string[] {
    return [...this.threads.values()].flat();
  }

  folderOf(thread: string): string | null {
    for (const [folder, ids] of this.threads) if (ids.includes(thread)) return folder;
    throw new Error(`no thread ${thread}`);
  }

  /** From a folder up to, and without, the root. */
  ancestry(folder: string | null): string[] {
    const way: string[] = [];
    for (let at = folder; at !== null; at = this.parents.get(at) ?? null) way.push(at);
    return way;
  }

  path(folder: string | null): string[] {
    return this.ancestry(folder)
      .map((id) => this.names.get(id) as string)
      .reverse();
  }

  effective(folder: string | null): Effective | null {
    for (const scope of [...this.ancestry(folder), null]) {
      const doc = this.docs.get(scope);
      if (isActive(doc)) return { scope, content: doc.content };
    }
    return null;
  }

  addFolder(id: string, name: string, parent: string | null, after: string | null | undefined): void {
    this.names.set(id, name);
    this.parents.set(id, parent);
    this.folders.set(id, []);
    this.threads.set(id, []);
    insert(this.folders.get(parent) as string[], id, after, "last");
  }

  canMove(folder: string, parent: string | null): boolean {
    return !this.ancestry(parent).includes(folder);
  }

  moveFolder(folder: string, parent: string | null, after: string | null | undefined): DocChange | null {
    const before = this.effective(folder);
    remove(this.folders.get(this.parents.get(folder) ?? null) as string[], folder);
    this.parents.set(folder, parent);
    insert(this.folders.get(parent) as string[], folder, after, "last");
    const effective = this.effective(folder);
    if (same(before, effective)) return null;
    return { folder_id: folder, doc: this.#told(folder), effective, effective_changed: true };
  }

  deleteFolder(folder: string): DocChange | null {
    const parent = this.parents.get(folder) ?? null;
    const before = this.effective(folder);
    const doc = this.docs.get(folder);
    for (const child of this.folders.get(folder) ?? []) this.parents.set(child, parent);
    remove(this.folders.get(parent) as string[], folder);
    this.folders.get(parent)?.push(...(this.folders.get(folder) ?? []));
    this.threads.get(parent)?.push(...(this.threads.get(folder) ?? []));
    for (const map of [this.folders, this.threads, this.docs, this.parents, this.names] as Map<
      unknown,
      unknown
    >[]) {
      map.delete(folder);
    }
    if (!doc) return null;
    const archived = { version: doc.version + 1, status: "archived" };
    return { folder_id: folder, doc: archived, effective: null, effective_changed: before !== null };
  }

  addThread(id: string, folder: string | null): void {
    insert(this.threads.get(folder) as string[], id, undefined, "first");
  }

  moveThread(id: string, folder: string | null, after: string | null | undefined): void {
    remove(this.threads.get(this.folderOf(id)) as string[], id);
    insert(this.threads.get(folder) as string[], id, after, "first");
  }

  deleteThread(id: string): void {
    remove(this.threads.get(this.folderOf(id)) as string[], id);
  }

  /** Undefined: the expected version is not the current one. Null: nothing changed. */
  save(folder: string | null, content: string, expected: number | undefined): DocChange | null | undefined {
    const doc = this.docs.get(folder);
    if (expected !== undefined && expected !== (doc?.version ?? 0)) return undefined;
    if (doc?.content === content) return null;
    const before = this.effective(folder);
    this.docs.set(folder, { content, version: (doc?.version ?? 0) + 1 });
    const effective = this.effective(folder);
    const effective_changed = !same(before, effective);
    return { folder_id: folder, doc: this.#told(folder), effective, effective_changed };
  }

  /** Null: there was no file. */
  archive(folder: string | null): DocChange | null {
    const doc = this.docs.get(folder);
    if (!doc) return null;
    const before = this.effective(folder);
    this.docs.delete(folder);
    const effective = this.effective(folder);
    const archived = { version: doc.version + 1, status: "archived" };
    return { folder_id: folder, doc: archived, effective, effective_changed: !same(before, effective) };
  }

  #told(folder: string | null): DocChange["doc"] {
    const doc = this.docs.get(folder);
    return doc ? { version: doc.version, status: isActive(doc) ? "active" : "draft" } : null;
  }
}

function same(a: Effective | null, b: Effective | null): boolean {
  return a?.scope === b?.scope && a?.content === b?.content;
}

function remove(list: string[], id: string): void {
  list.splice(list.indexOf(id), 1);
}

function insert(
  list: string[],
  id: string,
  after: string | null | undefined,
  otherwise: "first" | "last",
): void {
  if (after === null || (after === undefined && otherwise === "first")) list.unshift(id);
  else if (after === undefined) list.push(id);
  else list.splice(list.indexOf(after) + 1, 0, id);
}
