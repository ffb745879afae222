export type { ListedTool } from "./accept.js";
export { type ArtifactItem, ArtifactItems } from "./artifacts/items.js";
export { Panels, type ShownPanel } from "./artifacts/panels/panels.js";
export { artifactPlugins } from "./artifacts/plugins.js";
export { purgeArtifacts } from "./artifacts/purge.js";
export { builtInTools } from "./built-in.js";
export { filesPlugin } from "./files/plugin.js";
export type { McpServerEntry } from "./mcp/entry.js";
export { type McpServerStatus, McpServers } from "./mcp/servers.js";
export { nearest } from "./nearest.js";
export type { ListedPlugin, Plugin } from "./plugin.js";
export { ToolRegistry } from "./registry.js";
export { bashPlugin } from "./shell/bash.js";
export { optionRemarks, optionUsage } from "./skills/option-text.js";
export { type CommandOption, commandOptions } from "./skills/options.js";
export {
  commandDirectory,
  type Skill,
  type SkillsPlace,
  tidySkills,
  writeCommand,
  writeSkills,
} from "./skills/write.js";
export {
  defineBuiltInTool,
  defineTool,
  type ToolContext,
  type ToolDefinition,
  type ToolOutcome,
} from "./tool.js";
