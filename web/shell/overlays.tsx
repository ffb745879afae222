import { lazy, Suspense, useEffect } from "react";
import { create } from "zustand";
import { useProgressIn } from "../features/first-visit/progress.js";
import { type Command, useCommands } from "../state/commands.js";
import { noteVisit } from "../state/recents.js";
import { type Route, useRoute } from "../state/router.js";
import { useTree } from "../state/tree.js";
import { useSize } from "./size.js";
import { TypedAhead } from "./typed-ahead.js";

const loadPalette = () => import("../features/palette/palette.js");
const Palette = lazy(loadPalette);
const KeysSheet = lazy(() => import("../features/palette/keys-sheet.js"));
const FirstSteps = lazy(() => import("../features/first-visit/first-steps.js"));
const ImportDialog = lazy(() => import("../features/import/import-dialog.js"));

type Overlay =
  | { readonly kind: "palette"; readonly query?: string; readonly entered?: boolean }
  | { readonly kind: "keys" }
  | { readonly kind: "import" };

export const useOverlay = create<{ readonly open?: Overlay | undefined }>()(() => ({}));

export function openOverlay(open: Overlay): void {
  useOverlay.setState({ open });
}

function close(): void {
  useOverlay.setState({ open: undefined });
}

function typeAhead(typed: { readonly query: string } | { readonly entered: true }): void {
  useOverlay.setState(({ open }) => ({ open: open?.kind === "palette" ? { ...open, ...typed } : open }));
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
  { id: "import", title: "Import sessions…", run: () => openOverlay({ kind: "import" }) },
];

/** What stands over the panes, one at a time. */
export function Overlays() {
  const { open } = useOverlay();
  const route = useRoute();
  useCommands(COMMANDS);
  useEffect(() => noteVisit(route), [route]);
  useEffect(() => whenIdle(loadPalette), []);
  const steps = useFirstSteps(route);
  return (
    <Suspense fallback={open?.kind === "palette" && <Ahead />}>
      {open?.kind === "palette" && (
        <Palette query={open.query ?? ""} entered={open.entered ?? false} onClose={close} />
      )}
      {open?.kind === "keys" && <KeysSheet onClose={close} />}
      {open?.kind === "import" && <ImportDialog onClose={close} />}
      {steps && <FirstSteps />}
    </Suspense>
  );
}

function Ahead() {
  return (
    <TypedAhead
      onType={(query) => typeAhead({ query })}
      onEnter={() => typeAhead({ entered: true })}
      onClose={close}
    />
  );
}

/** Safari has no idle callbacks. A part that can't be had yet is asked for again when it is needed. */
function whenIdle(load: () => Promise<unknown>): void {
  const begin = () => void load().catch(() => {});
  if ("requestIdleCallback" in globalThis) requestIdleCallback(begin);
  else setTimeout(begin, 1_000);
}

/** A phone shows no first visit beside the tree, so that the steps are all there is of it. */
function useFirstSteps(route: Route): boolean {
  const ws = useTree((tree) => tree.ws);
  const empty = useTree((tree) => tree.state === "ready" && tree.threads.size === 0);
  const { along } = useProgressIn(ws);
  const phone = useSize() === "phone";
  if (route.view === "home") return phone && (along ?? empty);
  return along === true;
}
