import type { AgentsDocSummary, Workspace } from "../../../protocol/index.js";
import { docsByFolder, Folders, formatFolderPath, type Tree } from "../../folder-path.js";
import type { Session } from "../../session.js";

/** Where a document stands, as the command line names it, with the tree around it. */
export interface Scope {
  readonly workspace: Workspace;
  readonly tree: Tree;
  readonly folders: Folders;
  /** What every call about this scope takes. */
  readonly params: { readonly workspace_id: string; readonly folder_id?: string };
  readonly path: readonly string[];
  /** The path for people: names joined by `/`, the root as `/`. */
  readonly name: string;
  /** The scope's own document, draft or active. */
  readonly own: AgentsDocSummary | undefined;
}

export async function findScope(session: Session, given = "/"): Promise<Scope> {
  const workspace = await session.workspace();
  const tree = await session.call("thread/tree", { workspace_id: workspace.id });
  const folder_id = new Folders(tree.folders).find(given)?.id;
  return scopeOf(workspace, tree, folder_id);
}

export function scopeOf(workspace: Workspace, tree: Tree, folder_id: string | undefined): Scope {
  const folders = new Folders(tree.folders);
  const path = folders.pathOf(folder_id);
  return {
    workspace,
    tree,
    folders,
    params: { workspace_id: workspace.id, ...(folder_id !== undefined && { folder_id }) },
    path,
    name: formatFolderPath(path),
    own: docsByFolder(tree).get(folder_id),
  };
}

/** A document on the way from a scope to the root. */
export interface DocAbove {
  readonly path: readonly string[];
  readonly doc: AgentsDocSummary;
}

/** The documents with text from a scope up to the root, nearest first: the first is in effect, it overrides the others. */
export function activeUpwards({ tree, folders, params }: Scope): DocAbove[] {
  const docs = docsByFolder(tree);
  const ids = [...folders.wayUp(params.folder_id).map(({ id }) => id), undefined];
  return ids.flatMap((id) => {
    const doc = docs.get(id);
    return doc?.status === "active" ? [{ path: folders.pathOf(id), doc }] : [];
  });
}

/** A folder as an argument on a command line, quoted where a shell would split or change it. */
export function asArgument(name: string): string {
  return /^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
}
