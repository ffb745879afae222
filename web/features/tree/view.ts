import { create } from "zustand";
import { setLayout, usePrefs } from "../../state/prefs.js";
import { useTree } from "../../state/tree.js";
import type { MenuAnchor, MenuItems } from "../../ui/menu.js";

/** What stands over the page and was opened from the tree. */
export type TreeDialog =
  | { readonly kind: "move"; readonly keys: readonly string[] }
  | { readonly kind: "move-here"; readonly folder: string | undefined }
  | { readonly kind: "agent"; readonly folder: string | undefined }
  | { readonly kind: "project" };

/** How this window looks at the tree. */
interface View {
  /** The row that arrows move from. */
  readonly focus: string | undefined;
  /** Rows that were selected on purpose; the row of what is open is not among them. */
  readonly picked: ReadonlySet<string>;
  /** Where a range began. */
  readonly anchor: string | undefined;
  readonly renaming: string | undefined;
  /** Undefined: there is no filter. */
  readonly filter: string | undefined;
  /** What it offers is decided when it opens: it must not change under the pointer. */
  readonly menu: { readonly items: MenuItems; readonly anchor: MenuAnchor } | undefined;
  readonly dialog: TreeDialog | undefined;
  /** A row that was moved: the tree shows where it is now. */
  readonly reveal: string | undefined;
  /** The tree takes the focus as soon as it has a row. */
  readonly grab: boolean;
}

const NONE: ReadonlySet<string> = new Set();

export const useView = create<View>()(() => ({
  focus: undefined,
  picked: NONE,
  anchor: undefined,
  renaming: undefined,
  filter: undefined,
  menu: undefined,
  dialog: undefined,
  reveal: undefined,
  grab: false,
}));

const MOST_KEPT = 200;

export function setFocusRow(key: string): void {
  if (useView.getState().focus === key) return;
  useView.setState({ focus: key });
  keep();
}

export function pick(keys: Iterable<string>, anchor?: string): void {
  useView.setState({ picked: new Set(keys), anchor });
  keep();
}

export function unpick(): void {
  if (useView.getState().picked.size > 0) pick([]);
}

let keeping: ReturnType<typeof setTimeout> | undefined;

/** Soon, and once for many changes: an arrow that is held down must not write to the disk at every row. */
function keep(): void {
  clearTimeout(keeping);
  keeping = setTimeout(keepNow, 200);
}

function keepNow(): void {
  clearTimeout(keeping);
  const { ws } = useTree.getState();
  const { focus, picked } = useView.getState();
  if (ws === undefined || keeping === undefined) return;
  keeping = undefined;
  setLayout(ws, { picked: [...picked].slice(0, MOST_KEPT), ...(focus !== undefined && { focusRow: focus }) });
}
addEventListener("pagehide", keepNow);

/** Takes up where this workspace was left. */
export function restoreView(ws: string): void {
  clearTimeout(keeping);
  keeping = undefined;
  const { picked = [], focusRow } = usePrefs.getState().layout[ws] ?? {};
  useView.setState({
    focus: focusRow,
    picked: new Set(picked),
    anchor: undefined,
    renaming: undefined,
    filter: undefined,
    menu: undefined,
  });
}

export function setOpen(ids: readonly string[], open: boolean): void {
  change("openFolders", ids, open);
}

export function setAgentOpen(id: string, open: boolean): void {
  change("closedAgents", [id], !open);
}

function change(field: "openFolders" | "closedAgents", ids: readonly string[], has: boolean): void {
  const { ws } = useTree.getState();
  if (ws === undefined) return;
  const before = usePrefs.getState().layout[ws]?.[field] ?? [];
  const after = new Set(before);
  for (const id of ids) {
    if (has) after.add(id);
    else after.delete(id);
  }
  if (after.size !== before.length) setLayout(ws, { [field]: [...after] });
}

export function rename(key: string): void {
  useView.setState({ renaming: key, focus: key });
}

export function openDialog(dialog: TreeDialog): void {
  useView.setState({ dialog });
}
