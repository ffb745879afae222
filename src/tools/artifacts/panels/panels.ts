import type { ParsedParams } from "../../../protocol/index.js";

type Event = ParsedParams<"panel/event">;
type Context = NonNullable<Event["payload"]["panels"][number]["context"]>;

/** A panel that somebody has open. */
export interface ShownPanel {
  readonly window_id: string;
  readonly panel_id: string;
  readonly panel_type: string;
  readonly panel_title?: string;
  readonly selected: boolean;
  readonly context?: { readonly [K in keyof Context]?: NonNullable<Context[K]> };
}

interface Window {
  /** Absent: what it shows is not of one workspace, and counts in each. */
  readonly workspace_id: string | undefined;
  readonly panels: readonly ShownPanel[];
}

/** Windows that one connection tells of at most: the one heard of longest ago goes first. */
const MOST_WINDOWS = 32;

/** Which panels people have open, as their windows last said. Nothing of it outlives the connection it came from. */
export class Panels {
  readonly #windows = new Map<object, Map<string, Window>>();
  /** A message that was under way when its connection closed must not bring its panels back. */
  readonly #gone = new WeakSet<object>();

  /** What a window shows now, in the place of what it showed before. */
  update(connection: object, { workspace_id, window_id, payload }: Event): void {
    if (this.#gone.has(connection)) return;
    const windows = this.#windows.get(connection) ?? new Map<string, Window>();
    windows.delete(window_id);
    if (payload.panels.length > 0) {
      windows.set(window_id, {
        workspace_id,
        panels: payload.panels.map((panel) => shown(window_id, panel, payload.selected_panel_id)),
      });
    }
    for (const [oldest] of windows) {
      if (windows.size <= MOST_WINDOWS) break;
      windows.delete(oldest);
    }
    if (windows.size > 0) this.#windows.set(connection, windows);
    else this.#windows.delete(connection);
  }

  forget(connection: object): void {
    this.#gone.add(connection);
    this.#windows.delete(connection);
  }

  /** The open panels of a workspace, by panel id: the same whoever connected first. */
  open(workspace_id: string): readonly ShownPanel[] {
    return [...this.#windows.values()]
      .flatMap((windows) => [...windows.values()])
      .filter((window) => window.workspace_id === undefined || window.workspace_id === workspace_id)
      .flatMap(({ panels }) => panels)
      .sort((a, b) => compare(a.panel_id, b.panel_id) || compare(a.window_id, b.window_id));
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function shown(
  window_id: string,
  { panel_id, panel_type, panel_title, context }: Event["payload"]["panels"][number],
  selected_panel_id: string | undefined,
): ShownPanel {
  const known = Object.entries(context ?? {}).filter(([, value]) => value !== undefined);
  return {
    window_id,
    panel_id,
    panel_type,
    ...(panel_title !== undefined && { panel_title }),
    selected: panel_id === selected_panel_id,
    ...(known.length > 0 && { context: Object.fromEntries(known) }),
  };
}
