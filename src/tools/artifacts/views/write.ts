import { z } from "zod";
import type { ToolDefinition } from "../../tool.js";
import { createArtifact, deleteArtifact, restoreArtifact, updateArtifact } from "../change.js";
import { type ArtifactsDeps, writingTool } from "../define.js";
import { findArtifact } from "../find.js";
import { LIMITS } from "../limits.js";
import { Refusal } from "../refusal.js";
import { lineText, refText } from "../text.js";
import { filterOf, QUERY_WORDS } from "./query.js";
import { headOf } from "./read.js";

const WRITE = "views.write";
const viewRef = refText.describe("its id or exact name");

export function viewsCreate(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "views_create",
    title: "New view",
    description: `Saves a query over the items of lists as a view. ${QUERY_WORDS}`,
    parameters: z.strictObject({ name: lineText(LIMITS.name), query: lineText(LIMITS.query) }),
    *work({ name, query: body }, act) {
      yield* filterOf(act, body);
      return { value: headOf(yield* createArtifact(act, "view", { name, body, tags: [] })) };
    },
  });
}

export function viewsUpdate(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "views_update",
    title: "Change a view",
    description: "Changes the name or query of a view.",
    parameters: z.strictObject({
      view: viewRef,
      name: lineText(LIMITS.name).optional(),
      query: lineText(LIMITS.query).optional(),
    }),
    *work({ view: ref, name, query: body }, act) {
      const before = yield* findArtifact(act, "view", ref);
      if (name === undefined && body === undefined) {
        throw new Refusal("There is nothing to change: give a name or a query.");
      }
      if (body !== undefined) yield* filterOf(act, body);
      return { value: headOf(yield* updateArtifact(act, before, { name, body })) };
    },
  });
}

export function viewsDelete(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "views_delete",
    title: "Delete a view",
    description: "Deletes a view; the items it shows stay. views_restore brings it back within 30 days.",
    parameters: z.strictObject({ view: viewRef }),
    work: ({ view }, act) => deleteArtifact(act, "view", view),
  });
}

export function viewsRestore(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "views_restore",
    title: "Restore a view",
    description: "Brings back a view that was deleted.",
    parameters: z.strictObject({ view: refText.describe("the id or exact name of a deleted view") }),
    work: ({ view }, act) => restoreArtifact(act, "view", view),
  });
}
