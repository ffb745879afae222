import { z } from "zod";
import { ID_PREFIXES } from "../../../protocol/index.js";
import { type ArtifactItemRow, artifactItems, artifacts, type Unit } from "../../../store/index.js";
import { announce, tagsOf } from "../change.js";
import type { Act } from "../define.js";
import { LIMITS } from "../limits.js";
import { Refusal } from "../refusal.js";
import { lineText, longText, searchText, tagLines, tagsText, urlText } from "../text.js";

export const itemKeys = {
  notes: longText(LIMITS.itemNotes).optional().describe("more about it; empty for none"),
  url: urlText.optional().describe("a link: http, https or mailto; empty for none"),
  tags: tagsText.optional().describe("words to find it by; they take the place of those it has"),
  done: z.boolean().optional(),
};

export const newItem = z.strictObject({ title: lineText(LIMITS.title), ...itemKeys });

export const ITEM_WORDS = 'such as {"title": "Milk"}; notes, url, tags and done where they are wanted';

export const positionKey = z
  .int()
  .min(1)
  .max(LIMITS.itemsOfList)
  .optional()
  .describe("where in the list it comes to stand, from 1; default: at the end");

/** An item as models see it: what it does not have is left out. */
export function shownItem(item: artifactItems.StoredItem) {
  const { id, title, notes, url, done } = item;
  const tags = tagsOf(item);
  return {
    id,
    title,
    done: done === 1,
    ...(tags.length > 0 && { tags }),
    ...(notes !== null && { notes }),
    ...(url !== null && { url }),
  };
}

type ItemFields = z.output<typeof newItem>;

/** What is stored of an item's own fields. */
export function itemColumns({ title, notes = "", url = "", tags = [], done = false }: ItemFields) {
  return {
    title,
    notes: notes === "" ? null : notes,
    url: url === "" ? null : url,
    tags: JSON.stringify(tags),
    done: Number(done),
    tag_search: tagLines(tags),
    search: searchText(title, notes, url, ...tags),
  };
}

/** Adds items to a list, one behind the other. */
export function* addItems(
  act: Act,
  list: { readonly id: string },
  items: readonly ItemFields[],
  at?: number,
): Unit<ArtifactItemRow[]> {
  if (items.length === 0) return [];
  const { workspace_id, now, makeId } = act;
  yield* requireRoomFor(act, list.id, items.length);
  const from = yield* placeFor(list.id, at, items.length);
  const rows = items.map((item, n) => ({
    id: makeId(ID_PREFIXES.item),
    workspace_id,
    list_id: list.id,
    position: from + n,
    ...itemColumns(item),
    created_at: now,
    updated_at: now,
    deleted_at: null,
  }));
  for (const row of rows) yield* artifactItems.insertItem(row);
  return rows;
}

/** A free position for some items, before the one that stands there now. */
export function* placeFor(list_id: string, at: number | undefined, count: number): Unit<number> {
  const [there] =
    at === undefined ? [] : yield* artifactItems.listItems({ list_id, offset: at - 1, limit: 1 });
  if (!there) return yield* artifactItems.endOfList(list_id);
  yield* artifactItems.shiftItems(list_id, there.position, count);
  return there.position;
}

export function* requireRoomFor({ workspace_id }: Act, list_id: string, count: number): Unit<void> {
  const [inList] = yield* artifactItems.countItems([list_id]);
  if ((inList?.items ?? 0) + count > LIMITS.itemsOfList) {
    throw new Refusal(
      `A list has at most ${LIMITS.itemsOfList} items. Remove what is not needed any more, or begin another list.`,
    );
  }
  yield* requireRoomInAll(workspace_id, count);
}

export function* requireRoomInAll(workspace_id: string, count: number): Unit<void> {
  if ((yield* artifactItems.countAllItems(workspace_id)) + count <= LIMITS.items) return;
  throw new Refusal(`The lists of a workspace have at most ${LIMITS.items} items in all. Remove some first.`);
}

/** Lists whose items changed: they were changed too. */
export function* touchLists(act: Act, ids: readonly string[]): Unit<void> {
  const changed = [...new Set(ids)];
  for (const id of changed) yield* artifacts.updateArtifact(id, { updated_at: act.now });
  yield* announce(
    act,
    "list",
    changed.map((id) => ({ id, change: "updated" as const })),
  );
}
