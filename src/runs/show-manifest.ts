import type { RunsDeps } from "./deps.js";
import type { ActiveRun } from "./fold/state.js";
import { readManifest } from "./manifest.js";
import type { ThreadSession } from "./session/session.js";

/**
 * Shows the hooks what a run is about to be told. One that fails closed keeps it from being sent; after a crash they are
 * asked again, since nobody knows what they said.
 */
export async function showManifest(deps: RunsDeps, session: ThreadSession, run: ActiveRun): Promise<void> {
  if (run.step !== 1 || !deps.hooks.listens("turn.post_prompt_compile")) return;
  await session.durable;
  const { key, stop } = session;
  const { run_id } = run;
  const { workspace_id } = key;
  const { manifest } = await readManifest(deps, { workspace_id, run_id, step: 1 });
  const { agent_id } = manifest;
  await deps.hooks.run(
    "turn.post_prompt_compile",
    { ...key, run_id, agent_id, manifest },
    { signal: stop.signal },
  );
}
