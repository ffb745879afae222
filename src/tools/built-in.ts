import { filesRead } from "./files/read.js";
import { systemTime } from "./system/time.js";
import type { ToolDefinition } from "./tool.js";

export const builtInTools: readonly ToolDefinition[] = [filesRead, systemTime];
