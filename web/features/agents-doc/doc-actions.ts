import { Copy, Download, FileDown, Trash2 } from "lucide-react";
import { askForEditor, type TextPlace } from "../../state/editor-asked.js";
import { isUnderWay, useRuns } from "../../state/runs.js";
import { toast, toastProblem, toastUndo } from "../../state/toasts.js";
import { docName, useTree } from "../../state/tree.js";
import { confirm } from "../../ui/confirm.js";
import { counted } from "../../ui/format.js";
import type { MenuItems } from "../../ui/menu.js";
import { followersOf } from "./applies.js";
import type { DocSession } from "./doc-session.js";
import type { Inherited } from "./use-inherited.js";
import { nameInText } from "./words.js";

export function docMenu(session: DocSession, inherited: Inherited | undefined): MenuItems {
  const { mine = "", base } = session.state ?? {};
  const empty = mine === "" ? "There is no text" : undefined;
  return [
    {
      label: "Start from the inherited text",
      icon: FileDown,
      off: whyNotInherited(inherited, mine),
      run: () => startFromInherited(session, inherited),
    },
    { label: "Copy", icon: Copy, off: empty, run: () => void copy(mine) },
    { label: "Download", icon: Download, off: empty, run: () => download(mine) },
    null,
    {
      label: "Delete AGENTS.md…",
      icon: Trash2,
      off: base?.version === 0 ? "There is no file" : undefined,
      run: () => void remove(session, inherited),
    },
  ];
}

function whyNotInherited(inherited: Inherited | undefined, mine: string): string | undefined {
  if (!inherited?.content) return "Nothing is inherited";
  return mine.trim() === "" ? undefined : "This file has text";
}

export function startFromInherited(session: DocSession, inherited: Inherited | undefined): void {
  if (!inherited?.content) return;
  const before = session.state?.mine ?? "";
  session.edit(inherited.content);
  toastUndo(`Started from ${nameInText(useTree.getState(), inherited.doc)}`, async () =>
    session.edit(before),
  );
}

export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied the text");
  } catch {
    toast("The browser did not allow copying. Select the text and copy it by hand.");
  }
}

export function download(text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
  link.download = "AGENTS.md";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
}

async function remove(session: DocSession, inherited: Inherited | undefined): Promise<void> {
  const name = docName(useTree.getState(), session.folder);
  const text = whatChanges(session.folder, inherited);
  if (!(await confirm({ title: `Delete ${name}?`, text, yes: "Delete AGENTS.md" }))) return;
  try {
    const { id, version } = await session.remove();
    toastUndo(`Deleted ${name}`, async () => id !== undefined && session.restore(id, version));
  } catch (error) {
    toastProblem(error);
  }
}

/** `9 threads then follow the root AGENTS.md v7.` */
function whatChanges(folder: string | undefined, inherited: Inherited | undefined): string {
  const tree = useTree.getState();
  const { threads } = followersOf(tree, folder);
  if (threads.length === 0) return "No thread follows it now. Its versions stay in the history.";
  const one = threads.length === 1;
  const then = inherited
    ? `then ${one ? "follows" : "follow"} ${nameInText(tree, inherited.doc)}.`
    : `then ${one ? "has" : "have"} no standing instructions.`;
  const ids = new Set(threads.map(({ id }) => id));
  const running = [...useRuns.getState().byId.values()].some(
    (run) => ids.has(run.thread_id) && isUnderWay(run),
  );
  return `${counted(threads.length, "thread")} ${then}${running ? " What runs now keeps its version until it ends." : ""}`;
}

/** A conflict or a loss ends with this text, and whoever decided writes on in it. */
export function decide(session: DocSession, text: string, place?: TextPlace): void {
  askForEditor(session.ws, session.folder, place);
  void session.decide(text);
}

/** Gives up what is unsaved for what was saved elsewhere; for a moment it can be had back. */
export function takeTheirs(session: DocSession): void {
  const { mine = "", theirs } = session.state ?? {};
  if (!theirs) return;
  decide(session, theirs.content);
  const what = theirs.version === 0 ? "Let the file go" : `Took v${theirs.version}`;
  toastUndo(what, async () => session.edit(mine));
}
