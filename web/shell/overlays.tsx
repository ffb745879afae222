import { lazy, Suspense } from "react";
import { create } from "zustand";
import { type Command, useCommands } from "../state/commands.js";

const Palette = lazy(() => import("../features/palette/palette.js"));
const KeysSheet = lazy(() => import("../features/palette/keys-sheet.js"));

type Overlay = { readonly kind: "palette"; readonly query?: string } | { readonly kind: "keys" };

export const useOverlay = create<{ readonly open?: Overlay | undefined }>()(() => ({}));

export function openOverlay(open: Overlay): void {
  useOverlay.setState({ open });
}

function close(): void {
  useOverlay.setState({ open: undefined });
}

const COMMANDS: readonly Command[] = [
  {
    id: "palette",
    title: "Search or run",
    keys: "mod+k",
    hidden: true,
    run: () => openOverlay({ kind: "palette" }),
  },
  { id: "keys", title: "Show keyboard shortcuts", keys: "?", run: () => openOverlay({ kind: "keys" }) },
];

/** What stands over the panes, one at a time. */
export function Overlays() {
  const { open } = useOverlay();
  useCommands(COMMANDS);
  return (
    <Suspense>
      {open?.kind === "palette" && <Palette query={open.query ?? ""} onClose={close} />}
      {open?.kind === "keys" && <KeysSheet onClose={close} />}
    </Suspense>
  );
}
