import { z } from "zod";
import { artifactItems } from "../../../store/index.js";
import type { ToolDefinition } from "../../tool.js";
import { tagsOf } from "../change.js";
import { type ArtifactsDeps, writingTool } from "../define.js";
import { findArtifact, findItem } from "../find.js";
import { LIMITS } from "../limits.js";
import { Refusal } from "../refusal.js";
import { lineText, refText } from "../text.js";
import {
  addItems,
  ITEM_WORDS,
  itemColumns,
  itemKeys,
  newItem,
  placeFor,
  positionKey,
  requireRoomFor,
  shownItem,
  touchLists,
} from "./item.js";

const WRITE = "lists.write";
const listRef = refText.describe("the id or exact name of the list");
const itemRef = {
  item: refText.describe("its id or exact title"),
  list: listRef.optional().describe("the list it stands in, where its title alone does not tell"),
};

export function listsItemAdd(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "lists_item_add",
    title: "Add items",
    description: "Adds items to a list, at its end or at a position.",
    parameters: z.strictObject({
      list: listRef,
      items: z.array(newItem).min(1).max(LIMITS.itemsAtOnce).describe(ITEM_WORDS),
      position: positionKey,
    }),
    *work({ list: ref, items, position }, act) {
      const list = yield* findArtifact(act, "list", ref);
      const added = yield* addItems(act, list, items, position);
      yield* touchLists(act, [list.id]);
      return {
        value: { list: list.name, list_id: list.id, added: added.map(({ id, title }) => ({ id, title })) },
      };
    },
  });
}

export function listsItemUpdate(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "lists_item_update",
    title: "Change an item",
    description: "Changes an item of a list; done: true checks it off. What is left out stays as it is.",
    parameters: z.strictObject({ ...itemRef, title: lineText(LIMITS.title).optional(), ...itemKeys }),
    *work({ item: ref, list, ...given }, act) {
      const before = yield* findItem(act, ref, list);
      if (Object.values(given).every((value) => value === undefined)) {
        throw new Refusal("There is nothing to change: give a title, notes, url, tags or done.");
      }
      const after = yield* artifactItems.updateItem(before.id, {
        ...itemColumns({
          title: given.title ?? before.title,
          notes: given.notes ?? before.notes ?? undefined,
          url: given.url ?? before.url ?? undefined,
          tags: given.tags ?? tagsOf(before),
          done: given.done ?? before.done === 1,
        }),
        updated_at: act.now,
      });
      yield* touchLists(act, [before.list_id]);
      return { value: { ...shownItem(after), list_id: before.list_id } };
    },
  });
}

export function listsItemRemove(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "lists_item_remove",
    title: "Remove an item",
    description: "Removes an item from its list. lists_restore brings it back within 30 days.",
    parameters: z.strictObject(itemRef),
    *work({ item: ref, list }, act) {
      const { id, title, list_id } = yield* findItem(act, ref, list);
      yield* artifactItems.updateItem(id, { deleted_at: act.now, updated_at: act.now });
      yield* touchLists(act, [list_id]);
      return { value: { id, title, list_id, removed: true, restore_with: "lists_restore" } };
    },
  });
}

export function listsItemMove(deps: ArtifactsDeps): ToolDefinition {
  return writingTool(deps, WRITE, {
    name: "lists_item_move",
    title: "Move an item",
    description: "Moves an item to a position in its list, or to another list.",
    parameters: z.strictObject({
      ...itemRef,
      to_list: listRef.optional().describe("the list it moves to; default: it stays in its own"),
      position: positionKey,
    }),
    *work({ item: ref, list, to_list, position }, act) {
      const item = yield* findItem(act, ref, list);
      const target = yield* findArtifact(act, "list", to_list ?? item.list_id);
      // Out of the way first: its own place must not count when the position is looked for.
      yield* artifactItems.updateItem(item.id, { deleted_at: act.now });
      if (target.id !== item.list_id) yield* requireRoomFor(act, target.id, 1);
      const to = yield* placeFor(target.id, position, 1);
      const moved = { list_id: target.id, position: to, deleted_at: null, updated_at: act.now };
      yield* artifactItems.updateItem(item.id, moved);
      yield* touchLists(act, [item.list_id, target.id]);
      return { value: { id: item.id, title: item.title, list: target.name, list_id: target.id } };
    },
  });
}
