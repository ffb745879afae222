import type { WorkspaceOptions } from "../../options.js";

export interface ImportOptions extends WorkspaceOptions {
  readonly from?: "claude" | "codex" | "pi" | "opencode";
  readonly all?: boolean;
  readonly dryRun?: boolean;
}

export const TOOL_NAMES = { claude: "Claude Code", codex: "Codex", pi: "pi", opencode: "OpenCode" } as const;
