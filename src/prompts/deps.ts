import type { ThreadsDeps } from "../threads/index.js";
import type { PackTurns } from "./packs/turns.js";

export interface PromptsDeps extends ThreadsDeps {
  /** Every tool of a workspace as it is described to models. */
  listTools(workspace_id: string): readonly object[];
  readonly packs: PackTurns;
}
