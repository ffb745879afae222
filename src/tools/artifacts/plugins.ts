import type { Plugin } from "../plugin.js";
import type { ArtifactsDeps } from "./define.js";
import { listsPlugin } from "./lists/plugin.js";
import { notesPlugin } from "./notes/plugin.js";
import type { Panels } from "./panels/panels.js";
import { panelsPlugin } from "./panels/plugin.js";
import { viewsPlugin } from "./views/plugin.js";

/** Lists, notes, views and panels: four plugins, so that an agent can be given some of them. */
export function artifactPlugins(deps: ArtifactsDeps, panels: Panels): Plugin[] {
  return [listsPlugin(deps), notesPlugin(deps), viewsPlugin(deps), panelsPlugin(panels)];
}
