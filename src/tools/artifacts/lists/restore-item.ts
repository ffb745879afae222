import { artifactItems, type Unit } from "../../../store/index.js";
import { quoted } from "../../quoted.js";
import type { Act, Answer } from "../define.js";
import { findArtifact } from "../find.js";
import { Refusal } from "../refusal.js";
import { requireRoomFor, shownItem, touchLists } from "./item.js";

/** Puts an item back where it stood. */
export function* restoreItem(act: Act, item: artifactItems.StoredItem): Unit<Answer> {
  const list = yield* findArtifact(act, "list", item.list_id);
  if (item.deleted_at === null) throw new Refusal(`The item ${quoted(item.title)} is not removed.`);
  yield* requireRoomFor(act, list.id, 1);
  const after = yield* artifactItems.updateItem(item.id, { deleted_at: null, updated_at: act.now });
  yield* touchLists(act, [list.id]);
  return { value: { ...shownItem(after), list: list.name, list_id: list.id, restored: true } };
}
