import { create } from "zustand";
import type { Params } from "../../src/protocol/index.js";
import { call, client, WINDOW_ID } from "./gateway.js";
import { useTree } from "./tree.js";

export type ArtifactKind = "list" | "note" | "view";

/** A list, note or view that is open beside the thread. */
export interface Panel {
  /** `p1`: its own, whatever it shows. */
  readonly id: string;
  readonly kind: ArtifactKind;
  readonly artifact: string;
  /** As it was last called. */
  readonly name: string;
  /** Of a view, as it was last. */
  readonly query?: string | undefined;
}

/** What this window shows of the workspace's artifacts. What is selected is not kept: a window begins with nothing selected. */
export interface Panels {
  readonly ws: string | undefined;
  readonly list: readonly Panel[];
  /** The panel that was touched last: what it shows goes along with messages. */
  readonly selected: string | undefined;
  /** Ids of selected items, by panel. */
  readonly picked: ReadonlyMap<string, readonly string[]>;
}

const NONE: readonly string[] = [];
const nothing = (ws: string | undefined): Panels => ({
  ws,
  list: ws === undefined ? [] : kept(ws),
  selected: undefined,
  picked: new Map(),
});

const KEY = "heddle.panels";
const KINDS: ReadonlySet<unknown> = new Set(["list", "note", "view"]);

function allKept(): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return value !== null && typeof value === "object" ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function kept(ws: string): readonly Panel[] {
  const list = allKept()[ws];
  return Array.isArray(list) ? list.filter(isPanel) : [];
}

function isPanel(value: unknown): value is Panel {
  const { id, kind, artifact, name } = (value ?? {}) as Record<string, unknown>;
  return [id, artifact, name].every((text) => typeof text === "string" && text !== "") && KINDS.has(kind);
}

export const usePanels = create<Panels>()(() => nothing(useTree.getState().ws));

useTree.subscribe(({ ws }) => {
  if (ws !== usePanels.getState().ws) usePanels.setState(nothing(ws), true);
});

usePanels.subscribe((now, before) => {
  if (now.ws === undefined || now.ws !== before.ws || now.list === before.list) return;
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...allKept(), [now.ws]: now.list }));
  } catch {
    // A browser that stores nothing shows them all the same, until the window is closed.
  }
});

/** Opens it, or goes to where it is open. */
export function openPanel(shown: Omit<Panel, "id">): string {
  const { list } = usePanels.getState();
  const known = list.find(({ artifact }) => artifact === shown.artifact);
  const id = known?.id ?? freeId(list);
  usePanels.setState({ list: known ? list : [...list, { id, ...shown }], selected: id });
  return id;
}

function freeId(list: readonly Panel[]): string {
  const taken = new Set(list.map(({ id }) => id));
  let n = 1;
  while (taken.has(`p${n}`)) n++;
  return `p${n}`;
}

/** Closes it and says how to open it again where it was. */
export function closePanel(id: string): () => void {
  const { list, selected, picked } = usePanels.getState();
  const at = list.findIndex((panel) => panel.id === id);
  const panel = list[at];
  const rest = new Map(picked);
  rest.delete(id);
  usePanels.setState({
    list: list.filter((each) => each.id !== id),
    selected: selected === id ? undefined : selected,
    picked: rest,
  });
  return () => {
    const now = usePanels.getState().list;
    if (!panel || now.some(({ artifact }) => artifact === panel.artifact)) return;
    const back = now.some((each) => each.id === id) ? { ...panel, id: freeId(now) } : panel;
    usePanels.setState({ list: now.toSpliced(at, 0, back) });
  };
}

/** Makes a panel the first, which has the full width. */
export function putFirst(id: string): void {
  usePanels.setState(({ list }) => ({
    list: [...list.filter((each) => each.id === id), ...list.filter((each) => each.id !== id)],
  }));
}

/** `undefined`: nothing goes along until a panel is touched again. */
export function selectPanel(id: string | undefined): void {
  if (usePanels.getState().selected !== id) usePanels.setState({ selected: id });
}

export function pickItems(id: string, items: readonly string[]): void {
  const { picked } = usePanels.getState();
  const before = picked.get(id) ?? NONE;
  if (before.length === items.length && before.every((item, at) => item === items[at])) return;
  usePanels.setState({ picked: new Map(picked).set(id, items) });
}

/** What a panel shows is called so now. */
export function renamePanel(id: string, name: string, query?: string): void {
  const { list } = usePanels.getState();
  const panel = list.find((each) => each.id === id);
  if (!panel || (panel.name === name && panel.query === query)) return;
  usePanels.setState({ list: list.map((each) => (each === panel ? { ...panel, name, query } : each)) });
}

export function usePicked(id: string): readonly string[] {
  return usePanels(({ picked }) => picked.get(id) ?? NONE);
}

export function usePanelSelected(id: string): boolean {
  return usePanels(({ selected }) => selected === id);
}

type Inventory = Params<"panel/event">["payload"];
/** As many as the wire takes. */
const MOST_PANELS = 100;
const MOST_PICKED = 1_000;

function inventory({ list, picked, selected }: Panels): Inventory {
  return {
    type: "panel_inventory",
    panels: list.slice(0, MOST_PANELS).map((panel) => ({
      panel_id: panel.id,
      panel_type: `${panel.kind}s`,
      panel_title: panel.name,
      context: contextOf(panel, picked.get(panel.id) ?? NONE),
    })),
    ...(selected !== undefined && { selected_panel_id: selected }),
  };
}

function contextOf({ kind, artifact, name, query }: Panel, picked: readonly string[]) {
  const selection = picked.length > 0 ? { selection: picked.slice(0, MOST_PICKED) } : {};
  if (kind === "view") return { view_name: name, ...(query && { view_query: query }), ...selection };
  return { type: kind, id: artifact, name, ...selection };
}

let isDue = false;
/** A range that is drawn up item by item is told once. */
const SOON_MS = 50;
let told = "";

/** Tells the gateway what this window shows. It forgets with the connection, so each new one is told anew. */
function tell(): void {
  isDue = false;
  const panels = usePanels.getState();
  if (panels.ws === undefined || client.state !== "open") return;
  const payload = inventory(panels);
  const said = JSON.stringify([panels.ws, payload]);
  if (said === told || (told === "" && payload.panels.length === 0)) return;
  told = said;
  call("panel/event", { workspace_id: panels.ws, window_id: WINDOW_ID, payload }).catch(() => {
    told = "";
  });
}

function tellSoon(): void {
  if (!isDue) setTimeout(tell, SOON_MS);
  isDue = true;
}

usePanels.subscribe(tellSoon);
client.onState((state) => {
  if (state !== "open") return;
  told = "";
  tellSoon();
});
