import { z } from "zod";
import { artifactItems } from "../../../store/index.js";
import type { ToolDefinition } from "../../tool.js";
import { createArtifact, deleteArtifact, restoreArtifact, updateArtifact } from "../change.js";
import { type ArtifactsDeps, writingTool } from "../define.js";
import { findArtifact, findDeleted } from "../find.js";
import { LIMITS } from "../limits.js";
import { Refusal } from "../refusal.js";
import { lineText, longText, refText } from "../text.js";
import { addItems, ITEM_WORDS, newItem, requireRoomInAll } from "./item.js";
import { restoreItem } from "./restore-item.js";

const WRITE = "lists.write";
const listRef = refText.describe("its id or exact name");
const description = longText(LIMITS.description).optional().describe("what it is for; empty for none");

export function listsCreate(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "lists_create",
    title: "New list",
    description: "Makes a list, with items if some are given.",
    parameters: z.strictObject({
      name: lineText(LIMITS.name),
      description,
      items: z.array(newItem).max(LIMITS.itemsAtOnce).optional().describe(ITEM_WORDS),
    }),
    *work({ name, description: body = "", items = [] }, act) {
      const list = yield* createArtifact(act, "list", { name, body, tags: [] });
      const added = yield* addItems(act, list, items);
      return {
        value: { id: list.id, name, items: added.map(({ id, title }) => ({ id, title })) },
      };
    },
  });
}

export function listsUpdate(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "lists_update",
    title: "Change a list",
    description: "Changes the name or description of a list.",
    parameters: z.strictObject({ list: listRef, name: lineText(LIMITS.name).optional(), description }),
    *work({ list: ref, name, description: body }, act) {
      const before = yield* findArtifact(act, "list", ref);
      if (name === undefined && body === undefined) {
        throw new Refusal("There is nothing to change: give a name or a description.");
      }
      const after = yield* updateArtifact(act, before, { name, body });
      return {
        value: { id: after.id, name: after.name, ...(after.body !== "" && { description: after.body }) },
      };
    },
  });
}

export function listsDelete(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "lists_delete",
    title: "Delete a list",
    description: "Deletes a list with its items. lists_restore brings it back within 30 days.",
    parameters: z.strictObject({ list: listRef }),
    work: ({ list }, act) => deleteArtifact(act, "list", list),
  });
}

export function listsRestore(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "lists_restore",
    title: "Restore a list or an item",
    description: "Brings back a list that was deleted, or an item that was removed from its list.",
    parameters: z.strictObject({
      id: refText.describe("the id of a list or an item, or the exact name of a deleted list"),
    }),
    *work({ id: ref }, act) {
      const { workspace_id } = act;
      const item = yield* artifactItems.findItem(workspace_id, ref);
      if (item) return yield* restoreItem(act, item);
      const list = yield* findDeleted(act, "list", ref);
      const [counts] = yield* artifactItems.countItems([list.id]);
      yield* requireRoomInAll(workspace_id, counts?.items ?? 0);
      return yield* restoreArtifact(act, "list", list.id);
    },
  });
}
