import type { HeddleConfig } from "../agents/index.js";
import type { Plugin, ToolRegistry } from "../tools/index.js";

/** What `plugins` of the configuration may name, besides one server of many as `mcp-<server>`. */
export const PLUGIN_IDS: readonly string[] = [
  "agents",
  "artifacts",
  "bash",
  "files",
  "lists",
  "mcp",
  "notes",
  "panels",
  "views",
];

/** Registers the built-in plugins that the configuration leaves enabled; called again, it brings them to another configuration. */
export function installPlugins(
  tools: ToolRegistry,
  plugins: readonly Plugin[],
  config: HeddleConfig | undefined,
): void {
  const settings = config?.plugins.open() ?? {};
  const enabled = (id: string) => settings[id]?.enabled !== false;
  for (const plugin of plugins) {
    if (enabled(plugin.id) && enabled(GROUPS[plugin.id] ?? plugin.id)) tools.setPlugin(plugin);
    else tools.removePlugin(plugin.id);
  }
}

/** `plugins.artifacts.enabled: false` removes all of these. */
const GROUPS: Readonly<Record<string, string>> = {
  lists: "artifacts",
  notes: "artifacts",
  views: "artifacts",
  panels: "artifacts",
};
