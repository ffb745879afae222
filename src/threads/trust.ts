import {
  type ConfigFile,
  findSecret,
  type HooksContent,
  hooksContent,
  type ProjectConfig,
  readConfigFile,
} from "../atsf/index.js";
import { unixSeconds } from "../base/index.js";
import type { ParsedParams, Result, TrustState } from "../protocol/index.js";
import { trust, type WorkspaceRow, workspaces } from "../store/index.js";
import { workspaceNotFound, workspaceToWire } from "../tree/index.js";
import type { ProjectFile, ThreadsDeps } from "./deps.js";
import { threadsError } from "./errors.js";

/** Remembers that the user allows exactly this content, or forgets it. What is there now must be what the user saw. */
export async function trustContent(
  deps: ThreadsDeps,
  { workspace_id, kind, content_sha256, revoke }: ParsedParams<"workspace/trust">,
): Promise<Result<"workspace/trust">> {
  const row = await requireRow(deps, workspace_id);
  if (!revoke) await assertSeen(deps, row, { kind, content_sha256 });
  const trusted_at = unixSeconds(deps.clock);
  await deps.store.write({ key: workspace_id }, function* () {
    if (!(yield* workspaces.lockWorkspace(workspace_id))) throw workspaceNotFound(workspace_id);
    if (revoke || content_sha256 === undefined) yield* trust.removeTrust(workspace_id, kind);
    else yield* trust.saveTrust({ workspace_id, kind, content_sha256, trusted_at });
  });
  await deps.project.refresh(workspace_id);
  return { trusted: !revoke };
}

interface Seen {
  readonly kind: TrustState["kind"];
  readonly content_sha256: string | undefined;
}

/** Refuses the hash of anything but what is there at this moment. */
async function assertSeen(
  deps: ThreadsDeps,
  row: WorkspaceRow,
  { kind, content_sha256 }: Seen,
): Promise<void> {
  const [now, ...others] = await hashesNow(deps, row, kind);
  if (now !== undefined && content_sha256 !== undefined && [now, ...others].includes(content_sha256)) return;
  const told =
    now === undefined
      ? "There is nothing of this kind to trust"
      : "It is another now than the one that was shown";
  throw threadsError(
    { kind: "trust.content_changed", trust_kind: kind, ...(now !== undefined && { content_sha256: now }) },
    `${told}: look at it again before you trust it.`,
  );
}

/** The hash that is shown comes first. */
async function hashesNow(deps: ThreadsDeps, row: WorkspaceRow, kind: TrustState["kind"]): Promise<string[]> {
  if (kind !== "worktree_hooks") {
    return filesOf(deps, row)
      .files.filter((file) => file.kind === kind)
      .map(({ sha256 }) => sha256);
  }
  const found = await readConfigFile(deps.files.directoryOf(row)).catch(() => undefined);
  const hooks = hooksContent(found?.config);
  return found && hooks ? [hooks.sha256, found.sha256] : [];
}

/** A workspace with what its project would have run here, and what is wrong with its files. */
export async function describeWorkspace(
  deps: ThreadsDeps,
  { workspace_id }: ParsedParams<"workspace/get">,
): Promise<Result<"workspace/get">> {
  const row = await requireRow(deps, workspace_id);
  const parts = [await describeHooks(deps, row), await describeFiles(deps, row)];
  const states = parts.flatMap((part) => part.states);
  const warnings = parts.flatMap((part) => part.warnings);
  return {
    workspace: workspaceToWire(row),
    ...(states.length > 0 && { trust: states }),
    ...(warnings.length > 0 && { warnings }),
  };
}

interface Described {
  readonly states: TrustState[];
  readonly warnings: string[];
}

async function describeHooks(deps: ThreadsDeps, row: WorkspaceRow): Promise<Described> {
  try {
    const found = await readConfigFile(deps.files.directoryOf(row));
    const secret = findSecret(found?.config);
    const hooks = hooksContent(found?.config);
    return {
      states: found && hooks ? [await hooksState(deps, row.id, found, hooks)] : [],
      warnings:
        secret === undefined
          ? []
          : [`${secret} in .agent/config.json looks like a key or token. Move it out: others can read it.`],
    };
  } catch (error) {
    return { states: [], warnings: [error instanceof Error ? error.message : String(error)] };
  }
}

async function describeFiles(deps: ThreadsDeps, row: WorkspaceRow): Promise<Described> {
  const { files, warnings } = filesOf(deps, row);
  const described = await Promise.all(files.map((file) => describeFile(deps, row.id, file)));
  return {
    states: described.map(({ state }) => state),
    warnings: [...described.flatMap(({ warning }) => warning ?? []), ...warnings],
  };
}

/** What was trusted once and is another now is not used; whoever does not know that would look for the reason elsewhere. */
async function describeFile(
  deps: ThreadsDeps,
  workspace_id: string,
  { kind, content, sha256 }: ProjectFile,
): Promise<{ state: TrustState; warning?: string }> {
  const { trusted, before } = await deps.store.read(function* () {
    return {
      trusted: yield* trust.isTrusted(workspace_id, kind, [sha256]),
      before: yield* trust.wasTrusted(workspace_id, kind),
    };
  });
  const state: TrustState = { kind, content_sha256: sha256, trusted, content };
  if (trusted || !before) return { state };
  const warning = `${FILES[kind]} has changed since you trusted it, so it is not used. \`heddle trust\` shows what it says now.`;
  return { state, warning };
}

const FILES = { config: "heddle.config.json", mcp: ".mcp.json" } as const;

function filesOf(deps: ThreadsDeps, { root_path }: WorkspaceRow): ReturnType<ThreadsDeps["project"]["read"]> {
  return root_path === null ? { files: [], warnings: [] } : deps.project.read(root_path);
}

async function hooksState(
  deps: ThreadsDeps,
  workspace_id: string,
  file: ConfigFile,
  { text: content, sha256: content_sha256 }: HooksContent,
): Promise<TrustState> {
  const trusted = await areHooksTrusted(deps, workspace_id, [content_sha256, file.sha256]);
  return { kind: "worktree_hooks", content_sha256, trusted, content };
}

/** By the hash of the hooks alone, or of the whole file that holds them: either is exactly what the user saw. */
export async function areHooksTrusted(
  deps: ThreadsDeps,
  workspace_id: string,
  hashes: readonly string[],
): Promise<boolean> {
  return deps.store.read(function* () {
    for (const hash of hashes) {
      if (yield* trust.isTrusted(workspace_id, "worktree_hooks", [hash])) return true;
    }
    return false;
  });
}

async function requireRow(deps: ThreadsDeps, workspace_id: string): Promise<WorkspaceRow> {
  const row = await deps.store.read(() => workspaces.findWorkspace(workspace_id));
  if (!row) throw workspaceNotFound(workspace_id);
  return row;
}

/** A project's configuration, with the hash of the very bytes it was read from. */
export async function readHashedConfig(
  root: string,
): Promise<{ config: ProjectConfig | undefined; configSha256: string | undefined }> {
  const found = await readConfigFile(root);
  return { config: found?.config, configSha256: found?.sha256 };
}
