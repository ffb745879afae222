import { firstPlace } from "../../shell/pane-focus.js";
import { arrivalFrom, isStillHere } from "../../state/arrival.js";
import { askForEditor } from "../../state/editor-asked.js";
import { command } from "../../state/gateway.js";
import { currentRoute, navigate } from "../../state/router.js";
import { toastProblem, toastUndo } from "../../state/toasts.js";
import { docInEffect, docName, ROOT, type Tree, useTree } from "../../state/tree.js";
import { confirm } from "../../ui/confirm.js";
import { focusSoon } from "../../ui/focus-soon.js";
import { counted } from "../../ui/format.js";
import { folderKey, threadsInOrder } from "./rows.js";
import { type Things, thingsOf, topmost } from "./things.js";
import { rename, setOpen } from "./view.js";
import { docWords, folderName, named, quoted } from "./words.js";

type Start = { readonly folder?: string | undefined; readonly agent?: string | undefined };

/** The workspace that is open; commands are offered only when one is. */
function here(): string {
  return useTree.getState().ws as string;
}

/** Makes a thread and goes there. */
export async function newThread({ folder, agent }: Start): Promise<void> {
  const ws = here();
  const arrive = arrivalFrom();
  try {
    const { thread } = await command("thread/start", {
      workspace_id: ws,
      folder_id: folder,
      agent_id: agent,
    });
    if (folder !== undefined) setOpen([folder], true);
    arrive({ view: "thread", ws, thread: thread.id }, "Made a new thread");
  } catch (error) {
    toastProblem(error);
  }
}

/** Makes a folder and lets its name be typed. */
export async function newFolder(parent: string | undefined): Promise<void> {
  const isHere = isStillHere();
  try {
    const params = { workspace_id: here(), name: "New folder", parent_folder_id: parent };
    const { folder } = await command("thread/folder/create", params);
    if (parent !== undefined) setOpen([parent], true);
    if (isHere()) rename(folderKey(folder.id));
  } catch (error) {
    toastProblem(error);
  }
}

export function openDoc(folder: string | undefined): void {
  const ws = here();
  askForEditor(ws, folder);
  navigate({ view: "doc", ws, folder });
}

/** Gives a thread or folder another name. A refusal is the caller's to show, where the name was typed. */
export async function renameRow(key: string, name: string): Promise<void> {
  const tree = useTree.getState();
  const id = key.slice(2);
  const give = key.startsWith("t:") ? setTitle : setFolderName;
  const before = key.startsWith("t:") ? tree.threads.get(id)?.title : tree.folders.get(id)?.name;
  if (before === undefined || before === name) return;
  await give(here(), id, name);
  toastUndo(`Renamed to ${quoted(name)}`, () => give(here(), id, before));
}

const setTitle = (workspace_id: string, thread_id: string, title: string): Promise<unknown> =>
  command("thread/update", { workspace_id, thread_id, title });

const setFolderName = (workspace_id: string, folder_id: string, name: string): Promise<unknown> =>
  command("thread/folder/rename", { workspace_id, folder_id, name });

/** Does the same to each, and what could be done can be taken back. */
async function forEach(ids: readonly string[], act: (id: string) => Promise<unknown>): Promise<string[]> {
  const done: string[] = [];
  try {
    for (const id of ids) {
      await act(id);
      done.push(id);
    }
  } catch (error) {
    toastProblem(error);
  }
  return done;
}

/** Takes back what was done to each. What fails is the offer's to say. */
async function undoEach(ids: readonly string[], act: (id: string) => Promise<unknown>): Promise<void> {
  for (const id of ids) await act(id);
}

const only = (threads: readonly string[]): Things => ({ threads, folders: [], docs: [] });

export async function pinThreads(ids: readonly string[], pinned: boolean): Promise<void> {
  const ws = here();
  const set = (to: boolean) => (thread_id: string) =>
    command("thread/update", { workspace_id: ws, thread_id, pinned: to });
  const done = await forEach(ids, set(pinned));
  if (done.length > 0)
    toastUndo(`${pinned ? "Pinned" : "Unpinned"} ${named(only(done))}`, () => undoEach(done, set(!pinned)));
}

/** Empty ones are left out: undone, they would get back what somebody cleared long ago. */
export async function clearThreads(given: readonly string[]): Promise<void> {
  const ws = here();
  const { threads } = useTree.getState();
  const countOf = (id: string) => threads.get(id)?.message_count ?? 0;
  const ids = given.filter((id) => countOf(id) > 0);
  const messages = ids.reduce((sum, id) => sum + countOf(id), 0);
  const done = await forEach(ids, (thread_id) => command("thread/clear", { workspace_id: ws, thread_id }));
  if (done.length === 0) return;
  const words =
    done.length === ids.length ? `${named(only(ids))}, ${counted(messages, "message")}` : named(only(done));
  toastUndo(`Cleared ${words}`, () =>
    undoEach(done, (thread_id) => command("thread/unclear", { workspace_id: ws, thread_id })),
  );
}

/** Threads can come back; folders and documents are asked for first. */
export async function deleteRows(keys: readonly string[]): Promise<void> {
  const things = topmost(useTree.getState(), thingsOf(keys));
  const [doc] = things.docs;
  if (doc !== undefined && things.threads.length + things.folders.length === 0) return deleteDoc(doc);
  if (things.folders.length > 0 && !(await confirm(folderQuestion(useTree.getState(), things)))) return;
  const ws = here();
  const folders = await forEach(things.folders, (folder_id) =>
    command("thread/folder/delete", { workspace_id: ws, folder_id }),
  );
  leave({ ...things, threads: [], folders });
  await deleteThreads(ws, things.threads);
}

async function deleteThreads(ws: string, ids: readonly string[]): Promise<void> {
  const words = named(only(ids));
  const done = await forEach(ids, (thread_id) => command("thread/delete", { workspace_id: ws, thread_id }));
  if (done.length === 0) return;
  leave(only(done));
  toastUndo(`Deleted ${done.length === ids.length ? words : counted(done.length, "thread")}`, () =>
    undoEach(done.toReversed(), (thread_id) => command("thread/undelete", { workspace_id: ws, thread_id })),
  );
}

/** What is gone can't stay open. */
function leave({ threads, folders }: Things): void {
  const route = currentRoute();
  const gone =
    (route.view === "thread" && threads.includes(route.thread)) ||
    (route.view !== "thread" && "folder" in route && folders.includes(route.folder ?? ROOT));
  if (!gone) return;
  navigate({ view: "home", ws: here() }, { replace: true });
  // The tree hears of it after the answer: a row that is about to go is no place for the focus.
  const isGone = ({ threads: left, folders: kept }: Tree) =>
    !threads.some((id) => left.has(id)) && !folders.some((id) => kept.has(id));
  focusSoon(() => (isGone(useTree.getState()) ? firstPlace() : undefined));
}

function folderQuestion(tree: Tree, things: Things) {
  const { folders, threads } = things;
  const parents = new Set(folders.map((id) => tree.folders.get(id)?.parent_folder_id));
  const to = parents.size === 1 ? folderName(tree, [...parents][0]) : "the folders above";
  const inside = folders.map((id) => tree.children.get(id));
  const held = {
    threads: inside.reduce((sum, each) => sum + (each?.threads.length ?? 0), 0),
    folders: inside.reduce((sum, each) => sum + (each?.folders.length ?? 0), 0),
  };
  const facts = [
    ...(held.threads > 0 ? [counted(held.threads, "thread")] : []),
    ...(held.folders > 0 ? [counted(held.folders, "folder")] : []),
  ];
  const moves = facts.length > 0 ? `${facts.join(" and ")} in it move up to ${to}.` : "It is empty.";
  const docs = folders.filter((id) => tree.docs.has(id)).map((id) => docName(tree, id));
  const archived = docs.length > 0 ? ` ${docs.join(", ")} goes with it.` : "";
  const kept = threads.length > 0 ? ` ${counted(threads.length, "thread")} can be brought back.` : "";
  return {
    title: `Delete ${named(things)}?`,
    text: `${moves}${archived}${kept}`,
    yes: folders.length + threads.length === 1 ? "Delete folder" : "Delete them",
  };
}

async function deleteDoc(folder: string): Promise<void> {
  const tree = useTree.getState();
  const doc = tree.docs.get(folder);
  if (!doc) return;
  const above = folder === ROOT ? undefined : tree.folders.get(folder)?.parent_folder_id;
  const next = folder === ROOT ? undefined : docInEffect(tree, above);
  const followers = followersOf(tree, folder).length;
  const name = docName(tree, doc.folder_id);
  const yes = await confirm({
    title: `Delete ${name}?`,
    text: `${counted(followers, "thread")} then ${followers === 1 ? "follows" : "follow"} ${docWords(tree, next)}.`,
    yes: "Delete AGENTS.md",
  });
  if (!yes) return;
  const route = currentRoute();
  const workspace_id = here();
  try {
    await command("thread/agents_doc/archive", { workspace_id, folder_id: doc.folder_id });
    if (route.view === "doc" && (route.folder ?? ROOT) === folder)
      navigate({ view: "home", ws: workspace_id });
    const { id: doc_id, version } = doc;
    // What somebody wrote there in the meantime is not written over.
    const back = { workspace_id, doc_id, version, expected_version: 0 };
    toastUndo(`Deleted ${name}`, () => command("thread/agents_doc/restore", back));
  } catch (error) {
    toastProblem(error);
  }
}

/** The threads for which a folder's document is the one in effect. */
export function followersOf(tree: Tree, folder: string): string[] {
  const doc = tree.docs.get(folder);
  if (doc?.status !== "active") return [];
  const known = new Map<string, boolean>();
  const follows = (at: string | undefined) => {
    const key = at ?? ROOT;
    const answer = known.get(key) ?? docInEffect(tree, at)?.id === doc.id;
    known.set(key, answer);
    return answer;
  };
  return threadsInOrder(tree.children, folder).filter((id) => follows(tree.places.get(id)?.folder_id));
}
