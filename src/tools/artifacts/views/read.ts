import { z } from "zod";
import { artifacts, type Unit } from "../../../store/index.js";
import type { ToolDefinition } from "../../tool.js";
import { type Act, type Answer, type ArtifactsDeps, readingTool } from "../define.js";
import { findArtifact } from "../find.js";
import { LIMITS } from "../limits.js";
import { shownItem } from "../lists/item.js";
import { type Asked, askedPage, pageKeys, pageOf, withNext } from "../page.js";
import { lineText, refText } from "../text.js";
import { carryOut, QUERY_WORDS } from "./query.js";

const READ = "views.read";

export function viewsList(deps: ArtifactsDeps): ToolDefinition {
  return readingTool(deps, READ, {
    name: "views_list",
    title: "Views",
    description: "Shows the views of the workspace: saved queries over the items of lists.",
    parameters: z.strictObject({
      deleted: z.boolean().optional().describe("true: those that were deleted and can be restored"),
      ...pageKeys,
    }),
    *work({ deleted, ...given }, { workspace_id }) {
      const page = askedPage(given);
      const rows = yield* artifacts.listArtifacts({ workspace_id, kind: "view", deleted, ...withNext(page) });
      const { shown, next, truncated } = pageOf(rows.map(headOf), page);
      return { value: { views: shown, ...next }, truncated };
    },
  });
}

export function viewsGet(deps: ArtifactsDeps): ToolDefinition {
  return readingTool(deps, READ, {
    name: "views_get",
    title: "Read a view",
    description: "Shows a view with the items that its query finds now.",
    parameters: z.strictObject({ view: refText.describe("its id or exact name"), ...pageKeys }),
    *work({ view: ref, ...given }, act) {
      const view = yield* findArtifact(act, "view", ref);
      return yield* found(act, headOf(view), askedPage(given));
    },
  });
}

export function viewsQuery(deps: ArtifactsDeps): ToolDefinition {
  return readingTool(deps, READ, {
    name: "views_query",
    title: "Find items",
    description: `Finds items of lists by a query, without saving it. ${QUERY_WORDS}`,
    parameters: z.strictObject({ query: lineText(LIMITS.query), ...pageKeys }),
    work: ({ query, ...given }, act) => found(act, { query }, askedPage(given)),
  });
}

export function headOf({ id, name, body }: artifacts.StoredArtifact) {
  return { id, name, query: body };
}

function* found<H extends { readonly query: string }>(act: Act, head: H, page: Asked): Unit<Answer> {
  const rows = yield* carryOut(act, head.query, withNext(page));
  const items = rows.map((row) => ({ ...shownItem(row), list: row.list_name, list_id: row.list_id }));
  const { shown, next, truncated } = pageOf(items, page);
  return { value: { ...head, items: shown, ...next }, truncated };
}
