import { isKind } from "../../base/index.js";
import type { ThreadConfig } from "../../protocol/index.js";
import { type Unit, type WorkspaceRow, workspaces } from "../../store/index.js";
import { findThread, threadToWire, workspaceNotFound } from "../../tree/index.js";
import type { PromptsDeps } from "../deps.js";
import { promptsError } from "../errors.js";
import { readIndex } from "./source/index-file.js";
import { openSource } from "./source/resolve.js";

export interface AskedPlace {
  readonly workspace_id: string;
  readonly thread_id?: string | undefined;
}

export interface PlaceOfPacks {
  /** Whose packs are meant: the thread may be bound to those of another workspace. */
  readonly workspace: WorkspaceRow;
  /** Of the thread, where one was named. */
  readonly config?: ThreadConfig;
}

/** Whose packs a workspace, or a thread of it, uses. */
export function* placeOfPacks({ workspace_id, thread_id }: AskedPlace): Unit<PlaceOfPacks> {
  const own = yield* requireThere(workspace_id);
  if (thread_id === undefined) return { workspace: own };
  const { config } = threadToWire(yield* findThread({ workspace_id, thread_id }));
  const bound = config.workspace_binding?.workspace ?? workspace_id;
  const workspace = bound === workspace_id ? own : yield* workspaces.findWorkspace(bound);
  if (workspace) return { workspace, config };
  throw promptsError(
    { kind: "prompt.workspace_not_found", workspace: bound },
    `The thread is bound to the prompt packs of the workspace ${bound}, which is not there. Bind it to another one.`,
  );
}

export function* requireThere(workspace_id: string): Unit<WorkspaceRow> {
  const row = yield* workspaces.findWorkspace(workspace_id);
  if (!row) throw workspaceNotFound(workspace_id);
  return row;
}

/** The pack that is meant when none is named. An index that can't be read says so when the pack is read. */
export async function defaultPackOf(
  deps: PromptsDeps,
  workspace: WorkspaceRow,
  version?: string,
): Promise<string> {
  try {
    const root = await deps.files.ensureDirectory(workspace);
    return (await readIndex(await openSource(root, version))).defaultPack;
  } catch (error) {
    if (isKind(error, "prompt.unreadable") || isKind(error, "workspace.directory_missing")) return "default";
    throw error;
  }
}
