import { useEffect } from "react";
import { create } from "zustand";

/** A place in a text: where somebody wrote, or is to write on. */
export interface TextPlace {
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

interface Asked {
  /** The scope whose text is to take the focus as soon as it can. */
  readonly scope?: string | undefined;
  readonly place?: TextPlace | undefined;
}

export const useEditorAsked = create<Asked>()(() => ({}));

const scopeOf = (ws: string, folder: string | undefined): string => `${ws} ${folder ?? ""}`;

/** Somebody wants to write in this scope's AGENTS.md: its editor takes the focus, once. */
export function askForEditor(ws: string, folder: string | undefined, place?: TextPlace): void {
  useEditorAsked.setState({ scope: scopeOf(ws, folder), place });
}

// Who goes back wanted to see, not to write; who presses elsewhere before it is there has gone on.
for (const name of ["popstate", "pointerdown"])
  addEventListener(name, () => useEditorAsked.setState({ scope: undefined }), true);

/** Calls `take` when this scope's text was asked for; nothing that is being written elsewhere loses the focus. */
export function useAskedFor(ws: string, folder: string | undefined, take: (place?: TextPlace) => void): void {
  const scope = scopeOf(ws, folder);
  const asked = useEditorAsked((state) => state.scope === scope);
  useEffect(() => {
    if (!asked) return;
    const { place } = useEditorAsked.getState();
    useEditorAsked.setState({ scope: undefined, place: undefined });
    const at = document.activeElement;
    const elsewhere = at?.closest("dialog, input, textarea, [contenteditable=true]");
    if (!elsewhere) take(place);
  }, [asked, take]);
}
