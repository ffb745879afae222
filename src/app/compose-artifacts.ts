import type { RunsDeps } from "../runs/index.js";
import type { ThreadsDeps } from "../threads/index.js";
import { ArtifactItems, artifactPlugins, Panels, type Plugin } from "../tools/index.js";

export interface ArtifactParts extends Pick<RunsDeps["surroundings"], "artifacts" | "panels"> {
  /** What windows tell of is kept here. */
  readonly open: Panels;
  readonly plugins: readonly Plugin[];
  close(): void;
}

/** Lists, notes, views and panels: their tools, and what prompts are told of them. */
export function composeArtifacts(deps: Pick<ThreadsDeps, "store" | "clock" | "makeId">): ArtifactParts {
  const open = new Panels();
  const items = new ArtifactItems(deps.store);
  return {
    open,
    plugins: artifactPlugins(deps, open),
    artifacts: (workspace_id) => items.of(workspace_id),
    panels: (workspace_id) => open.open(workspace_id),
    close: () => items.close(),
  };
}
