import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { readGitHead } from "../atsf/index.js";
import { type WorkspaceRow, workspaces } from "../store/index.js";
import { type Call, createWorkspace, workspaceNotFound } from "../tree/index.js";
import type { ImportsDeps } from "./deps.js";
import { isWithin } from "./make-thread.js";
import type { FoundSession } from "./session.js";

/** Which workspace a session belongs to. */
export interface Placing {
  /** Undefined: to none that was asked for. */
  of(found: FoundSession): Promise<string | undefined>;
}

interface Asked {
  readonly workspace_id: string;
  /** Sessions of every directory, each into its own workspace. */
  readonly all: boolean;
  /** Only sessions of this directory, each into the workspace it belongs to. */
  readonly directory: string | undefined;
  /** Whoever names one file means it, wherever its agent worked. */
  readonly one: boolean;
  /** Nothing is made: where a workspace would be, Home stands for it. */
  readonly dryRun: boolean;
  readonly call: Call;
}

export async function assertWorkspace(deps: ImportsDeps, workspace_id: string): Promise<void> {
  const found = await deps.store.read(() => workspaces.findWorkspace(workspace_id));
  if (!found) throw workspaceNotFound(workspace_id);
}

const MOST = 10_000;

/** Reads the workspaces once; those it makes are known from then on. */
export async function placing(deps: ImportsDeps, asked: Asked): Promise<Placing> {
  const rows: Pick<WorkspaceRow, "id" | "root_path">[] = await deps.store.read(() =>
    workspaces.listWorkspaces(MOST),
  );
  const home = await deps.store.read(() => workspaces.findHome());
  const known = new Map<string, string | undefined>();
  const nearest = (cwd: string) =>
    rows
      .filter(({ root_path }) => root_path !== null && isWithin(root_path, cwd))
      .sort((a, b) => (b.root_path?.length ?? 0) - (a.root_path?.length ?? 0))[0]?.id;
  const make = async (cwd: string): Promise<string | undefined> => {
    const root_path = await projectOf(cwd);
    if (root_path === undefined || asked.dryRun) return home?.id;
    const { workspace } = await createWorkspace(deps, { name: undefined, root_path }, asked.call);
    rows.push({ id: workspace.id, root_path: workspace.root_path ?? null });
    return workspace.id;
  };
  const open = asked.all || asked.directory !== undefined;
  const workspaceOf = async (cwd: string): Promise<string | undefined> => {
    const real = await realpath(cwd).catch(() => cwd);
    if (asked.directory !== undefined && !isWithin(asked.directory, real)) return undefined;
    return nearest(real) ?? (open ? make(real) : undefined);
  };
  return {
    async of({ cwd }) {
      if (asked.one) return asked.workspace_id;
      if (cwd === undefined) return asked.all ? home?.id : undefined;
      if (!known.has(cwd)) known.set(cwd, await workspaceOf(cwd));
      const found = known.get(cwd);
      return open || found === asked.workspace_id ? found : undefined;
    },
  };
}

/** The project a directory belongs to, if it still exists. Nobody's whole home is a project, nor is what holds homes. */
async function projectOf(cwd: string): Promise<string | undefined> {
  const there = await realpath(cwd).catch(() => undefined);
  if (there === undefined) return undefined;
  const root = readGitHead(there)?.top ?? there;
  return isWithin(root, homedir()) ? undefined : root;
}
