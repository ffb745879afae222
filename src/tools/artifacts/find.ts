import { type ArtifactRow, artifactItems, artifacts, type Unit } from "../../store/index.js";
import { nearest } from "../nearest.js";
import { quoted } from "../quoted.js";
import type { Act } from "./define.js";
import { Refusal } from "./refusal.js";

type Kind = ArtifactRow["kind"];

/** As many of one name as are told of. */
const MOST_NAMED = 10;
const MOST_COMPARED = 64;

/** The list, note or view of an id or an exact name. */
export function* findArtifact(act: Act, kind: Kind, ref: string): Unit<artifacts.StoredArtifact> {
  const { workspace_id } = act;
  const byId = yield* artifacts.findArtifact(workspace_id, kind, ref);
  if (byId?.deleted_at === null) return byId;
  if (byId)
    throw new Refusal(`The ${kind} ${quoted(byId.name)} was deleted. ${kind}s_restore brings it back.`);
  const found = yield* artifacts.artifactsNamed({ workspace_id, kind, name: ref, limit: MOST_NAMED + 1 });
  const [only, ...others] = found;
  if (only && others.length === 0) return only;
  if (only) throw ambiguous(`${kind}s`, ref, found);
  throw new Refusal(`There is no ${kind} ${quoted(ref)} here. ${yield* adviceOn(act, kind, ref)}`);
}

/** The same among those that were deleted. */
export function* findDeleted(act: Act, kind: Kind, ref: string): Unit<artifacts.StoredArtifact> {
  const { workspace_id } = act;
  const byId = yield* artifacts.findArtifact(workspace_id, kind, ref);
  if (byId) return byId;
  const found = yield* artifacts.artifactsNamed({
    workspace_id,
    kind,
    name: ref,
    deleted: true,
    limit: MOST_NAMED + 1,
  });
  const [only, ...others] = found;
  if (only && others.length === 0) return only;
  if (only) throw ambiguous(`deleted ${kind}s`, ref, found);
  throw new Refusal(
    `There is no deleted ${kind} ${quoted(ref)} here. ${kind}s_list with deleted: true shows what can be restored.`,
  );
}

/** The item of an id or an exact title, in a list or in any. */
export function* findItem(act: Act, ref: string, list: string | undefined): Unit<artifactItems.StoredItem> {
  const { workspace_id } = act;
  const within = list === undefined ? undefined : yield* findArtifact(act, "list", list);
  const byId = yield* artifactItems.findItem(workspace_id, ref);
  if (byId) return yield* livingItem(act, byId, within);
  const list_id = within?.id;
  const found = yield* artifactItems.itemsTitled({
    workspace_id,
    title: ref,
    list_id,
    limit: MOST_NAMED + 1,
  });
  const [only, ...others] = found;
  if (only && others.length === 0) return only;
  if (only) throw ambiguous("items", ref, found);
  const where = within ? `in the list ${quoted(within.name)}` : "here";
  throw new Refusal(`There is no item ${quoted(ref)} ${where}. lists_get shows the items of a list.`);
}

function* livingItem(
  act: Act,
  item: artifactItems.StoredItem,
  within: artifacts.StoredArtifact | undefined,
): Unit<artifactItems.StoredItem> {
  if (item.deleted_at !== null) {
    throw new Refusal(`The item ${quoted(item.title)} was removed. lists_restore brings it back.`);
  }
  if (within && within.id !== item.list_id) {
    throw new Refusal(`The item ${quoted(item.title)} stands in another list. Leave the list out.`);
  }
  yield* findArtifact(act, "list", item.list_id);
  return item;
}

function ambiguous(what: string, ref: string, found: readonly { readonly id: string }[]): Refusal {
  const ids = found.slice(0, MOST_NAMED).map(({ id }) => id);
  const more = found.length > MOST_NAMED ? ", …" : "";
  return new Refusal(
    `There are several ${what} ${quoted(ref)}: ${ids.join(", ")}${more}. Give the id of one.`,
  );
}

function* adviceOn({ workspace_id }: Act, kind: Kind, ref: string): Unit<string> {
  const named = (yield* artifacts.artifactNames({ workspace_id })).filter((one) => one.kind === kind);
  const byName = new Map(named.map(({ name, id }) => [name.slice(0, MOST_COMPARED), { name, id }]));
  const near = byName.get(nearest(ref, byName.keys()) ?? "");
  if (!near) return `There are no ${kind}s yet: ${kind}s_create makes one.`;
  return `The nearest is ${quoted(near.name)} (${near.id}); ${kind}s_list shows them all.`;
}
