export type { ListedTool } from "./accept.js";
export { builtInTools } from "./built-in.js";
export type { ListedPlugin, Plugin } from "./plugin.js";
export { ToolRegistry } from "./registry.js";
export {
  defineBuiltInTool,
  defineTool,
  type ToolContext,
  type ToolDefinition,
  type ToolOutcome,
} from "./tool.js";
