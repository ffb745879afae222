import { z } from "zod";
import { artifactItems, artifacts } from "../../../store/index.js";
import type { ToolDefinition } from "../../tool.js";
import { type ArtifactsDeps, readingTool } from "../define.js";
import { findArtifact } from "../find.js";
import { askedPage, pageKeys, pageOf, withNext } from "../page.js";
import { refText } from "../text.js";
import { shownItem } from "./item.js";

const READ = "lists.read";

/** Which lists there are. */
export function listsList(deps: ArtifactsDeps): ToolDefinition {
  return readingTool(deps, READ, {
    name: "lists_list",
    title: "Lists",
    description: "Shows the lists of the workspace with how many items they have and how many are done.",
    parameters: z.strictObject({
      deleted: z.boolean().optional().describe("true: those that were deleted and can be restored"),
      ...pageKeys,
    }),
    *work({ deleted, ...given }, { workspace_id }) {
      const page = askedPage(given);
      const rows = yield* artifacts.listArtifacts({ workspace_id, kind: "list", deleted, ...withNext(page) });
      const counts = yield* artifactItems.countItems(rows.map(({ id }) => id));
      const byList = new Map(counts.map(({ list_id, items, done }) => [list_id, { items, done }]));
      const lists = rows.map(({ id, name, body }) => ({
        id,
        name,
        ...(body !== "" && { description: body }),
        ...(byList.get(id) ?? { items: 0, done: 0 }),
      }));
      const { shown, next, truncated } = pageOf(lists, page);
      return { value: { lists: shown, ...next }, truncated };
    },
  });
}

/** A list and its items in their order. */
export function listsGet(deps: ArtifactsDeps): ToolDefinition {
  return readingTool(deps, READ, {
    name: "lists_get",
    title: "Read a list",
    description: "Shows a list and its items in their order. Positions count from 1.",
    parameters: z.strictObject({
      list: refText.describe("its id or exact name"),
      removed: z.boolean().optional().describe("true: the items that were removed and can be restored"),
      ...pageKeys,
    }),
    *work({ list: ref, removed, ...given }, act) {
      const list = yield* findArtifact(act, "list", ref);
      const page = askedPage(given);
      const rows = yield* artifactItems.listItems({ list_id: list.id, deleted: removed, ...withNext(page) });
      const items = rows.map((row, n) => ({
        ...(!removed && { position: page.offset + n + 1 }),
        ...shownItem(row),
      }));
      const { shown, next, truncated } = pageOf(items, page);
      const { id, name, body } = list;
      const head = { id, name, ...(body !== "" && { description: body }) };
      return { value: { ...head, items: shown, ...next }, truncated };
    },
  });
}
