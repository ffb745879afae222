import type { Plugin } from "../../plugin.js";
import type { ArtifactsDeps } from "../define.js";
import { QUERY_WORDS } from "./query.js";
import { viewsGet, viewsList, viewsQuery } from "./read.js";
import { viewsCreate, viewsDelete, viewsRestore, viewsUpdate } from "./write.js";

export function viewsPlugin(deps: ArtifactsDeps): Plugin {
  const make = [viewsList, viewsGet, viewsQuery, viewsCreate, viewsUpdate, viewsDelete, viewsRestore];
  return {
    id: "views",
    title: "Views",
    description: "Saved queries over the items of lists.",
    tools: make.map((tool) => tool(deps)),
    guide: `A view is a saved query; \`views_get\` shows what it finds now, \`views_query\` tries one without saving it.\n\n${QUERY_WORDS}\n`,
  };
}
