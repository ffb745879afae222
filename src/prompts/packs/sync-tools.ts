import { canonicalJson, HeddleError, unixSeconds } from "../../base/index.js";
import type { Result } from "../../protocol/index.js";
import { promptPacks } from "../../store/index.js";
import { requireWorkspace } from "../../tree/index.js";
import { writeBlob } from "../blobs/write.js";
import type { PromptsDeps } from "../deps.js";
import { requireThere } from "./target.js";

type ToolsResult = Result<"workspace/sync">["tools"];

/** Lists a workspace's tools again and records the list as a blob: the same tools, in whatever order, are the same blob. */
export async function syncTools(
  deps: PromptsDeps,
  { workspace_id }: { readonly workspace_id: string },
): Promise<ToolsResult> {
  await deps.store.read(() => requireThere(workspace_id));
  try {
    return await recordTools(deps, workspace_id, deps.listTools(workspace_id));
  } catch (error) {
    return { status: "failed", count: 0, error: { reason: reasonOf(deps, error) } };
  }
}

async function recordTools(
  deps: PromptsDeps,
  workspace_id: string,
  tools: readonly object[],
): Promise<ToolsResult> {
  const text = `[${tools.map(canonicalJson).sort(byCodeUnits).join(",")}]`;
  const synced_at = unixSeconds(deps.clock);
  return deps.store.write({ key: workspace_id }, function* () {
    yield* requireWorkspace(workspace_id);
    const before = yield* promptPacks.findToolSync(workspace_id);
    const { ref } = yield* writeBlob(text, synced_at);
    yield* promptPacks.saveToolSync({ workspace_id, ref, tools: tools.length, synced_at });
    return { status: before?.ref === ref ? "unchanged" : "changed", count: tools.length, ref };
  });
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function reasonOf(deps: PromptsDeps, error: unknown): string {
  if (error instanceof HeddleError) return error.message;
  deps.report(error, "the tools of a workspace could not be listed");
  return "The tools could not be listed. The gateway's log says more.";
}
