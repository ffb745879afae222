import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findSecret, hooksContent, type ProjectConfig, readConfig } from "../atsf/index.js";
import { sha256, unixSeconds } from "../base/index.js";
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
  const { trust: found } = await describeWorkspace(deps, { workspace_id });
  const now = found?.find((each) => each.kind === kind);
  const root = await rootOf(deps, workspace_id);
  if (now?.content_sha256 !== content_sha256 && (!now || configHash(root) !== content_sha256)) {
    const told = now
      ? "It is another now than the one that was shown"
      : "There is nothing of this kind to trust";
    throw threadsError(
      { kind: "trust.content_changed", trust_kind: kind, ...(now && { content_sha256: now.content_sha256 }) },
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
    const config = await readConfig(root);
    const secret = findSecret(config);
    const hooks = hooksContent(config);
    const states: TrustState[] = hooks ? [await hooksState(deps, workspace_id, root, hooks)] : [];
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
  root: string,
  { text: content, sha256: content_sha256 }: { text: string; sha256: string },
): Promise<TrustState> {
  const file = configHash(root);
  const trusted = await deps.store.read(function* () {
    for (const hash of [content_sha256, file]) {
      if (hash !== undefined && (yield* trust.isTrusted(workspace_id, "worktree_hooks", [hash]))) return true;
    }
    return false;
  });
  return { kind: "worktree_hooks", content_sha256, trusted, content };
}

async function rootOf(deps: ThreadsDeps, workspace_id: string): Promise<string> {
  const row = await deps.store.read(() => workspaces.findWorkspace(workspace_id));
  if (!row) throw workspaceNotFound(workspace_id);
  return deps.files.directoryOf(row);
}

/** A project's configuration, with the hash of the file it came from; without one where that changed meanwhile. */
export async function readHashedConfig(
  root: string,
): Promise<{ config: ProjectConfig | undefined; configSha256: string | undefined }> {
  const before = configHash(root);
  const config = await readConfig(root);
  const same = before !== undefined && before === configHash(root);
  return { config, configSha256: same ? before : undefined };
}

/** The hash of `config.json` as it stands on disk. */
function configHash(root: string): string | undefined {
  try {
    return sha256(readFileSync(join(root, ".agent", "config.json")));
  } catch {
    return undefined;
  }
}
