import { sha256 } from "../../base/index.js";
import type { ProjectConfig } from "../schemas.js";

export interface HooksContent {
  readonly text: string;
  readonly sha256: string;
}

/** What a user trusts, word for word, and its hash; undefined when nothing would be done. */
export function hooksContent(config: ProjectConfig | undefined): HooksContent | undefined {
  const hooks = config?.worktreeHooks;
  const { symlinks = [], postSetupCommands = [], initialPrompt = "" } = hooks ?? {};
  if (symlinks.length === 0 && postSetupCommands.length === 0 && initialPrompt === "") return undefined;
  const text = JSON.stringify(hooks);
  return { text, sha256: sha256(text) };
}
