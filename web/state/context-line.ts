import { useMemo } from "react";
import { writeContextLine } from "./context-text.js";
import { type ArtifactKind, type Panels, selectPanel, usePanels } from "./panels.js";
import { usePrefs } from "./prefs.js";

export { type ContextLine, splitContextLine } from "./context-text.js";

/** What goes along with the next message, in a few words. */
interface GoesAlong {
  readonly kind: ArtifactKind;
  readonly name: string;
  /** How many of its items are selected. */
  readonly selected: number;
}

/** The line that goes along with the next message of this window; undefined: none does. */
export function contextLine(): string | undefined {
  return lineOf(usePanels.getState(), usePrefs.getState().brief);
}

/** The same, kept up to date. */
export function useContextLine(): string | undefined {
  const panels = usePanels();
  const brief = usePrefs((prefs) => prefs.brief);
  return useMemo(() => lineOf(panels, brief), [panels, brief]);
}

/** What the line tells of, for whoever writes the message; undefined: no panel is selected. */
export function useGoesAlong(): GoesAlong | undefined {
  const panels = usePanels();
  return useMemo(() => {
    const panel = selectedPanel(panels);
    return (
      panel && {
        kind: panel.kind,
        name: panel.name,
        selected: panels.picked.get(panel.id)?.length ?? 0,
      }
    );
  }, [panels]);
}

/** Nothing of the panels goes along, until one is touched again. */
export function leaveOut(): void {
  selectPanel(undefined);
}

function selectedPanel({ list, selected }: Panels) {
  return selected === undefined ? undefined : list.find(({ id }) => id === selected);
}

function lineOf(panels: Panels, brief: boolean): string | undefined {
  const panel = selectedPanel(panels);
  const mode = brief ? "brief" : undefined;
  if (!panel) return writeContextLine({ mode });
  const { id, kind, artifact, name, query } = panel;
  const shown =
    kind === "view" ? { "view-name": name, "view-query": query } : { type: kind, id: artifact, name };
  return writeContextLine({
    "panel-id": id,
    "panel-type": `${kind}s`,
    "panel-title": name,
    ...shown,
    selection: panels.picked.get(id)?.join(","),
    mode,
  });
}
