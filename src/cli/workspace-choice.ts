import { realpathSync } from "node:fs";
import { isAbsolute, resolve, sep } from "node:path";
import type { Client } from "../client/node.js";
import type { Workspace } from "../protocol/index.js";
import { cliError, UsageError } from "./errors.js";

const PAGE = 500;

export async function listWorkspaces(client: Client): Promise<Workspace[]> {
  const all: Workspace[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.call("workspace/list", {
      limit: PAGE,
      ...(cursor !== undefined && { cursor }),
    });
    all.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== undefined);
  return all;
}

/** The workspace whose directory holds the current one, the deepest if several do; else Home. */
export function chooseWorkspace(workspaces: readonly Workspace[]): Workspace {
  // Home is made with the store and can't be deleted, so it is always the oldest.
  return holding(workspaces, ".") ?? (workspaces[0] as Workspace);
}

/** The workspace of an id, a name, or a directory. A variable that is not set must not name the one around here. */
export function findWorkspace(workspaces: readonly Workspace[], given: string): Workspace {
  if (given === "") throw new UsageError("The workspace's name is empty");
  const byId = workspaces.find(({ id }) => id === given);
  if (byId) return byId;
  const byName = workspaces.filter(({ name }) => name === given);
  if (byName.length > 1) throw ambiguous(given, byName);
  const found = byName[0] ?? holding(workspaces, given);
  if (found) return found;
  const isId = given.startsWith("ws_");
  throw cliError(
    { kind: "workspace.unknown", workspace: given },
    isId
      ? `There is no workspace ${given}. \`heddle workspaces\` lists the ones there are.`
      : `No workspace is called ${given}, and none has that directory. \`heddle workspaces\` lists the ones there are, \`heddle workspaces create ${given}\` makes one for a directory.`,
  );
}

function ambiguous(given: string, candidates: readonly Workspace[]) {
  const workspace_ids = candidates.map(({ id }) => id);
  return cliError(
    { kind: "workspace.ambiguous", workspace: given, workspace_ids },
    `${candidates.length} workspaces are called ${given}. Say which by its id: ${workspace_ids.join(", ")}.`,
  );
}

function holding(workspaces: readonly Workspace[], directory: string): Workspace | undefined {
  const path = realPath(directory);
  const depth = (root: string) => root.split(sep).length;
  let deepest: (Workspace & { root_path: string }) | undefined;
  for (const { root_path, ...rest } of workspaces) {
    if (root_path === undefined || !isWithin(path, root_path)) continue;
    if (!deepest || depth(root_path) > depth(deepest.root_path)) deepest = { ...rest, root_path };
  }
  return deepest;
}

export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** Links resolved, as the gateway does with a workspace's directory. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // Not there, as the current directory is when someone deleted it.
    return isAbsolute(path) ? resolve(path) : path;
  }
}
