import type { NotificationParams } from "../../protocol/index.js";
import { ID_PREFIXES } from "../../protocol/index.js";
import { type ArtifactRow, artifacts, notifications, type Unit } from "../../store/index.js";
import { quoted } from "../quoted.js";
import type { Act, Answer } from "./define.js";
import { findArtifact, findDeleted } from "./find.js";
import { LIMITS } from "./limits.js";
import { Refusal } from "./refusal.js";
import { searchText } from "./text.js";

type Kind = ArtifactRow["kind"];
type Change = NotificationParams<"artifact/changed">["change"];

/** Tells clients, in the same commit. */
export function* announce(
  { workspace_id, now }: Act,
  kind: Kind,
  changed: readonly { readonly id: string; readonly change: Change }[],
): Unit<void> {
  const announcements = changed.map(({ id, change }) => ({
    method: "artifact/changed",
    params: { workspace_id, kind, id, change },
  }));
  yield* notifications.announce(workspace_id, now, announcements);
}

export interface Fields {
  readonly name: string;
  readonly body: string;
  readonly tags: readonly string[];
}

export function* createArtifact(act: Act, kind: Kind, fields: Fields): Unit<artifacts.StoredArtifact> {
  yield* requireRoom(act, kind);
  const { workspace_id, now, makeId } = act;
  const row = {
    id: makeId(ID_PREFIXES[kind]),
    workspace_id,
    kind,
    ...columnsOf(fields),
    version: 1,
    created_at: now,
    updated_at: now,
    deleted_at: null,
  };
  yield* artifacts.insertArtifact(row);
  yield* announce(act, kind, [{ id: row.id, change: "created" }]);
  return row;
}

/** Changes the fields that are given. One that changes nothing raises no version and tells nobody. */
export function* updateArtifact(
  act: Act,
  before: artifacts.StoredArtifact,
  given: { readonly [K in keyof Fields]?: Fields[K] | undefined },
): Unit<artifacts.StoredArtifact> {
  const columns = columnsOf({
    name: given.name ?? before.name,
    body: given.body ?? before.body,
    tags: given.tags ?? tagsOf(before),
  });
  if (columns.name === before.name && columns.body === before.body && columns.tags === before.tags)
    return before;
  const changes = { ...columns, version: before.version + 1, updated_at: act.now };
  const after = yield* artifacts.updateArtifact(before.id, changes);
  yield* announce(act, before.kind, [{ id: before.id, change: "updated" }]);
  return after;
}

export function* deleteArtifact(act: Act, kind: Kind, ref: string): Unit<Answer> {
  const { id, name } = yield* findArtifact(act, kind, ref);
  yield* artifacts.updateArtifact(id, { deleted_at: act.now, updated_at: act.now });
  yield* announce(act, kind, [{ id, change: "deleted" }]);
  return { value: { id, ...named(kind, name), deleted: true, restore_with: `${kind}s_restore` } };
}

export function* restoreArtifact(act: Act, kind: Kind, ref: string): Unit<Answer> {
  const { id, name, deleted_at } = yield* findDeleted(act, kind, ref);
  if (deleted_at === null) throw new Refusal(`The ${kind} ${quoted(name)} is not deleted.`);
  yield* requireRoom(act, kind);
  yield* artifacts.updateArtifact(id, { deleted_at: null, updated_at: act.now });
  yield* announce(act, kind, [{ id, change: "created" }]);
  return { value: { id, ...named(kind, name), restored: true } };
}

/** Notes have titles, the others names. */
export function named(kind: Kind, name: string): { readonly name: string } | { readonly title: string } {
  return kind === "note" ? { title: name } : { name };
}

export function tagsOf({ tags }: { readonly tags: string }): string[] {
  return JSON.parse(tags) as string[];
}

function columnsOf({ name, body, tags }: Fields) {
  return { name, body, tags: JSON.stringify(tags), search: searchText(name, ...tags, body) };
}

function* requireRoom({ workspace_id }: Act, kind: Kind): Unit<void> {
  const most = LIMITS[`${kind}s`];
  if ((yield* artifacts.countArtifacts(workspace_id, kind)) < most) return;
  throw new Refusal(`A workspace has at most ${most} ${kind}s. Delete one that is not needed any more.`);
}
