import type { Plugin } from "../../plugin.js";
import type { ArtifactsDeps } from "../define.js";
import { listsItemAdd, listsItemMove, listsItemRemove, listsItemUpdate } from "./items.js";
import { listsGet, listsList } from "./read.js";
import { listsCreate, listsDelete, listsRestore, listsUpdate } from "./write.js";

export function listsPlugin(deps: ArtifactsDeps): Plugin {
  const make = [
    listsList,
    listsGet,
    listsCreate,
    listsUpdate,
    listsDelete,
    listsRestore,
    listsItemAdd,
    listsItemUpdate,
    listsItemRemove,
    listsItemMove,
  ];
  return {
    id: "lists",
    title: "Lists",
    description: "Lists of items, shared by people and agents: tasks, groceries, things to read.",
    tools: make.map((tool) => tool(deps)),
    guide: GUIDE,
  };
}

const GUIDE = `A list and an item can be named by id or by exact name; where a name is not unique, give the id.

- Look first: \`lists_list\`, then \`lists_get\` for the items of one.
- \`lists_item_add\` takes several items at once. \`lists_item_update\` with \`done: true\` checks one off.
- What was deleted or removed by mistake comes back with \`lists_restore\`.
- To find items across lists, use \`views_query\`.
`;
