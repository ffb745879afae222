import { systemTime } from "./system/time.js";
import type { ToolDefinition } from "./tool.js";

/** Those that come with no plugin: no configuration takes them away. */
export const builtInTools: readonly ToolDefinition[] = [systemTime];
