import { usePrefs } from "../../state/prefs.js";
import { dismiss, show } from "../../state/toasts.js";
import { ROOT, type Tree, useTree } from "../../state/tree.js";
import { unmovedBefore } from "./drop.js";
import { moveRows, type Spot, threadsByRank } from "./move.js";
import { folderKey, threadKey } from "./rows.js";
import { type Things, thingsOf, topmost } from "./things.js";
import { useView } from "./view.js";
import { named, quoted } from "./words.js";

/** Up or down, by one place. */
export type Step = -1 | 1;

type Stepped =
  | { readonly keys: readonly string[]; readonly to: Spot; readonly words: string }
  | { readonly off: string };

let before: Promise<unknown> = Promise.resolve();
let busy = 0;
let refusal: number | undefined;

/** Moves rows by one place among their siblings. Steps are taken one after the other; those of a key held down may be left out. */
export function stepRows(key: string, keys: readonly string[], step: Step, held = false): void {
  if (held && busy > 0) return;
  busy++;
  before = before.then(() => take(key, keys, step)).finally(() => busy--);
}

async function take(key: string, keys: readonly string[], step: Step): Promise<void> {
  const stepped = stepOf(useTree.getState(), keys, step);
  if (refusal !== undefined) dismiss(refusal);
  if ("off" in stepped) {
    refusal = show(`Not moved: ${stepped.off}.`);
    return;
  }
  await moveRows(stepped.keys, stepped.to, { words: stepped.words, again: true });
  useView.setState({ reveal: key });
}

/** Where rows come to stand by one step, or why they can't take it. */
export function stepOf(tree: Tree, keys: readonly string[], step: Step): Stepped {
  const things = topmost(tree, thingsOf(keys));
  const off = whyFixed(tree, things);
  if (off !== undefined) return { off };
  const [folder] = homesOf(tree, things);
  const folders = foldersStep(tree, things.folders, folder, step);
  const threads = threadsStep(tree, things.threads, folder, step);
  const moved: Things = {
    folders: folders ? things.folders : [],
    threads: threads ? things.threads : [],
    docs: [],
  };
  const past = folders && threads ? undefined : (folders ?? threads)?.past;
  if (!folders && !threads) return { off: atEnd(things, step) };
  return {
    keys: [...moved.folders.map(folderKey), ...moved.threads.map(threadKey)],
    to: { folder, afterFolder: folders?.after, afterThread: threads?.after },
    words: stepWords(tree, moved, past, step),
  };
}

function whyFixed(tree: Tree, things: Things): string | undefined {
  const { threads, folders } = things;
  if (threads.length + folders.length === 0) return "it has no order of its own";
  if (usePrefs.getState().groupBy === "agent") return "the tree is grouped by agent";
  if ((useView.getState().filter ?? "").trim() !== "") return "the tree is filtered";
  if (homesOf(tree, things).size > 1) return "they stand in different folders";
  // Pinned threads stand in the order they were pinned in.
  if (!threads.some((id) => tree.threads.get(id)?.pinned_at !== undefined)) return undefined;
  return threads.length === 1 ? "it is pinned" : "some are pinned";
}

function homesOf(tree: Tree, { threads, folders }: Things): Set<string | undefined> {
  return new Set([
    ...threads.map((id) => tree.places.get(id)?.folder_id),
    ...folders.map((id) => tree.folders.get(id)?.parent_folder_id),
  ]);
}

function atEnd({ threads, folders }: Things, step: Step): string {
  const they = threads.length + folders.length === 1 ? "it is" : "they are";
  return `${they} ${step < 0 ? "first" : "last"}`;
}

interface Place {
  readonly after: string | null;
  /** The sibling that was passed; undefined: they only came together at the end. */
  readonly past: string | undefined;
}

function foldersStep(tree: Tree, moved: readonly string[], home: string | undefined, step: Step) {
  const all = tree.children.get(home ?? ROOT)?.folders ?? [];
  return placeOf(all, all, moved, step);
}

function threadsStep(tree: Tree, moved: readonly string[], home: string | undefined, step: Step) {
  const all = threadsByRank(tree, home);
  const unpinned = all.filter((id) => tree.threads.get(id)?.pinned_at === undefined);
  return placeOf(all, unpinned, moved, step);
}

/** `all` as they are ranked, `open` those of them that can be passed. */
function placeOf(
  all: readonly string[],
  open: readonly string[],
  moved: readonly string[],
  step: Step,
): Place | undefined {
  const places = moved.map((id) => open.indexOf(id));
  const first = Math.min(...places);
  const last = Math.max(...places);
  const past = step < 0 ? open[first - 1] : open[last + 1];
  const apart = last - first >= moved.length;
  const beside = past ?? (apart ? open[step < 0 ? first : last] : undefined);
  if (moved.length === 0 || beside === undefined) return undefined;
  return { past, after: unmovedBefore(all, moved, { id: beside, look: step < 0 ? "before" : "after" }) };
}

function stepWords(tree: Tree, moved: Things, past: string | undefined, step: Step): string {
  const name =
    past === undefined ? undefined : (tree.threads.get(past)?.title ?? tree.folders.get(past)?.name);
  if (name === undefined) return `Moved ${named(moved)} ${step < 0 ? "up" : "down"}`;
  return `Moved ${named(moved)} ${step < 0 ? "above" : "below"} ${quoted(name)}`;
}
