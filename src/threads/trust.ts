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
import { trust, workspaces } from "../store/index.js";
import { workspaceNotFound, workspaceToWire } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { threadsError } from "./errors.js";

/** Remembers that the user allows exactly this content. What is there now must be what the user saw. */
export async function trustContent(
  deps: ThreadsDeps,
  { workspace_id, kind, content_sha256 }: ParsedParams<"workspace/trust">,
): Promise<Result<"workspace/trust">> {
  const found = await readConfigFile(await rootOf(deps, workspace_id)).catch(() => undefined);
  const now = kind === "worktree_hooks" ? hooksContent(found?.config) : undefined;
  if (!now || ![now.sha256, found?.sha256].includes(content_sha256)) {
    const told = now
      ? "It is another now than the one that was shown"
      : "There is nothing of this kind to trust";
    throw threadsError(
      { kind: "trust.content_changed", trust_kind: kind, ...(now && { content_sha256: now.sha256 }) },
      `${told}: look at it again before you trust it.`,
    );
  }
  const trusted_at = unixSeconds(deps.clock);
  await deps.store.write({ key: workspace_id }, function* () {
    if (!(yield* workspaces.lockWorkspace(workspace_id))) throw workspaceNotFound(workspace_id);
    yield* trust.saveTrust({ workspace_id, kind, content_sha256, trusted_at });
  });
  return { trusted: true };
}

/** A workspace with what its project would have run here, and what is wrong with its configuration. */
export async function describeWorkspace(
  deps: ThreadsDeps,
  { workspace_id }: ParsedParams<"workspace/get">,
): Promise<Result<"workspace/get">> {
  const row = await deps.store.read(() => workspaces.findWorkspace(workspace_id));
  if (!row) throw workspaceNotFound(workspace_id);
  const workspace = workspaceToWire(row);
  const root = deps.files.directoryOf(row);
  try {
    const found = await readConfigFile(root);
    const secret = findSecret(found?.config);
    const hooks = hooksContent(found?.config);
    const states = found && hooks ? [await hooksState(deps, workspace_id, found, hooks)] : [];
    return {
      workspace,
      ...(states.length > 0 && { trust: states }),
      ...(secret !== undefined && {
        warnings: [
          `${secret} in .agent/config.json looks like a key or token. Move it out: others can read it.`,
        ],
      }),
    };
  } catch (error) {
    return { workspace, warnings: [error instanceof Error ? error.message : String(error)] };
  }
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

async function rootOf(deps: ThreadsDeps, workspace_id: string): Promise<string> {
  const row = await deps.store.read(() => workspaces.findWorkspace(workspace_id));
  if (!row) throw workspaceNotFound(workspace_id);
  return deps.files.directoryOf(row);
}

/** A project's configuration, with the hash of the very bytes it was read from. */
export async function readHashedConfig(
  root: string,
): Promise<{ config: ProjectConfig | undefined; configSha256: string | undefined }> {
  const found = await readConfigFile(root);
  return { config: found?.config, configSha256: found?.sha256 };
}
