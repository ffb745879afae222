import type { AgentsDocSummary, Folder, Result } from "../protocol/index.js";
import { cliError, UsageError } from "./errors.js";

export type Tree = Result<"thread/tree">;

/** Names joined by `/`; within a name `/` is written `\/` and `\` before either of them `\\`. `/` alone is the root. */
export function parseFolderPath(text: string): string[] {
  const names: string[] = [];
  let name = "";
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    const next = text.charAt(i + 1);
    if (char === "\\" && (next === "/" || next === "\\")) {
      name += next;
      i++;
    } else if (char === "/") {
      names.push(name);
      name = "";
    } else {
      name += char;
    }
  }
  return [...names, name].filter((each) => each !== "");
}

export function formatFolderPath(names: readonly string[]): string {
  return names.length === 0 ? "/" : names.map(formatName).join("/");
}

/** A name as it stands in a path. */
export function formatName(name: string): string {
  // A backslash needs one before it only where the parser would take it for an escape.
  return name.replace(/\\(?=[\\/]|$)/g, "\\\\").replace(/\//g, "\\/");
}

/** The folders of a workspace, by parent and by path. `undefined` stands for the root. */
export class Folders {
  readonly #byId = new Map<string, Folder>();
  readonly #children = new Map<string | undefined, Folder[]>();

  constructor(folders: readonly Folder[]) {
    for (const folder of folders) this.add(folder);
  }

  add(folder: Folder): void {
    this.#byId.set(folder.id, folder);
    const siblings = this.#children.get(folder.parent_folder_id);
    if (siblings) siblings.push(folder);
    else this.#children.set(folder.parent_folder_id, [folder]);
  }

  children(id: string | undefined): readonly Folder[] {
    return this.#children.get(id) ?? [];
  }

  /** Every folder, each after its parent, in display order. */
  *all(below?: string): Generator<Folder> {
    for (const folder of this.children(below)) {
      yield folder;
      yield* this.all(folder.id);
    }
  }

  /** Names from the root down to a folder. */
  pathOf(id: string | undefined): string[] {
    return this.wayUp(id)
      .map(({ name }) => name)
      .reverse();
  }

  /** A folder and those it stands in, up to the root. */
  wayUp(id: string | undefined): Folder[] {
    const way: Folder[] = [];
    for (let at = this.#get(id); at; at = this.#get(at.parent_folder_id)) way.push(at);
    return way;
  }

  /** The folder an id or a path names; undefined for the root. */
  find(text: string): Folder | undefined {
    // A variable that is not set must not name the root.
    if (text === "") throw new UsageError("The folder's name is empty; the root is `/`");
    const byId = this.#byId.get(text);
    if (byId) return byId;
    const path = parseFolderPath(text);
    const { folder, missing } = this.follow(path);
    if (missing.length === 0) return folder;
    const known = path.slice(0, path.length - missing.length);
    const where = known.length === 0 ? "" : `, only ${formatFolderPath(known)}`;
    throw cliError(
      { kind: "folder.unknown", path },
      /^fld_[0-9A-Z]{26}$/.test(text)
        ? `There is no folder ${text} in this workspace. \`heddle folders\` lists the ones there are.`
        : `There is no folder ${formatFolderPath(path)}${where}. \`heddle tree\` shows the ones there are, \`heddle folders create\` makes one.`,
    );
  }

  /** Walks down a path as far as it exists. */
  follow(path: readonly string[]): { folder: Folder | undefined; missing: readonly string[] } {
    let folder: Folder | undefined;
    for (const [index, name] of path.entries()) {
      const found = this.children(folder?.id).filter((each) => each.name === name);
      if (found.length > 1) throw ambiguous(path.slice(0, index + 1), found);
      if (!found[0]) return { folder, missing: path.slice(index) };
      folder = found[0];
    }
    return { folder, missing: [] };
  }

  #get(id: string | undefined): Folder | undefined {
    return id === undefined ? undefined : this.#byId.get(id);
  }
}

function ambiguous(path: readonly string[], folders: readonly Folder[]) {
  const folder_ids = folders.map(({ id }) => id);
  return cliError(
    { kind: "folder.ambiguous", path: [...path], folder_ids },
    `${folders.length} folders are called ${formatFolderPath(path)}. Say which by its id: ${folder_ids.join(", ")}.`,
  );
}

/** The documents of a tree by their folder; `undefined` for the root's. */
export function docsByFolder(tree: Tree): Map<string | undefined, AgentsDocSummary> {
  return new Map(tree.agents_docs.map((doc) => [doc.folder_id, doc]));
}
