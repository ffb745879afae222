import { isAbsolute, sep } from "node:path";
import type { Workspace } from "../../protocol/index.js";
import { workspaceNotFound } from "../../tree/index.js";
import { gatewayError } from "../rpc/errors.js";
import type { CallMethod } from "./caller.js";

export interface WorkspaceWish {
  /** An id, a name, or a directory. */
  readonly workspace?: string | undefined;
  /** Where the client works: the workspace that holds it is meant, if there is one. */
  readonly directory?: string | undefined;
}

const PAGE = 500;

/** The workspace that is named, else the one that holds the client's directory, else Home. */
export async function chooseWorkspace(call: CallMethod, wish: WorkspaceWish): Promise<Workspace> {
  const all = await listWorkspaces(call);
  const { workspace: named, directory } = wish;
  if (named !== undefined) return findNamed(all, named);
  const holding = directory === undefined ? undefined : holderOf(all, directory);
  // Home is made with the store and can't be deleted, so it is always the oldest.
  return holding ?? (all[0] as Workspace);
}

async function listWorkspaces(call: CallMethod): Promise<Workspace[]> {
  const all: Workspace[] = [];
  let cursor: string | undefined;
  do {
    const page = await call("workspace/list", { limit: PAGE, ...(cursor !== undefined && { cursor }) });
    all.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return all;
}

function findNamed(all: readonly Workspace[], named: string): Workspace {
  const byId = all.find(({ id }) => id === named);
  if (byId) return byId;
  const byName = all.filter(({ name }) => name === named);
  if (byName.length > 1) throw ambiguous(named, byName);
  const found = byName[0] ?? (isAbsolute(named) ? holderOf(all, named) : undefined);
  if (found) return found;
  throw workspaceNotFound(named);
}

function ambiguous(named: string, candidates: readonly Workspace[]) {
  const ids = candidates.map(({ id }) => id).join(", ");
  const message = `${candidates.length} workspaces are called ${named}. Say which by its id: ${ids}.`;
  return gatewayError({ kind: "invalid_params", issues: [{ path: "workspace", message }] }, message);
}

/** The deepest whose directory holds a path. */
function holderOf(all: readonly Workspace[], path: string): Workspace | undefined {
  const isWithin = (root: string) =>
    path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
  return all
    .filter(({ root_path }) => root_path !== undefined && isWithin(root_path))
    .sort((a, b) => (b.root_path?.length ?? 0) - (a.root_path?.length ?? 0))[0];
}

/** The headers by which a client of another protocol says where it works; their values are percent-encoded. */
export function workspaceWish(headers: Headers): WorkspaceWish {
  const read = (name: string) => decoded(headers.get(name));
  return { workspace: read("x-heddle-workspace"), directory: read("x-heddle-directory") };
}

/** A header holds Latin-1 only: what is anything else comes encoded. */
function decoded(value: string | null): string | undefined {
  if (value === null || value === "") return undefined;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
