import type { WorkspaceOptions } from "../../options.js";

export interface ToolOptions extends WorkspaceOptions {
  readonly thread?: string;
  readonly arguments?: string;
}
