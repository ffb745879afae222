import { useEffect, useMemo, useRef } from "react";
import type { Panes } from "../../shell/panes.js";
import { type Command, useCommands } from "../../state/commands.js";
import { currentRoute, navigate, pathOf, type ThreadRoute, useRoute } from "../../state/router.js";

/** The context of a thread at full width, and back: both keep the run that is looked at. */
export function toggleFull(route: ThreadRoute): void {
  if (route.full) leaveFull(route);
  else navigate({ ...route, message: undefined, pane: "context", full: true });
}

export function leaveFull({ ws, thread, run, step }: ThreadRoute): void {
  navigate({ view: "thread", ws, thread, pane: "context", run, step });
}

/** Offered wherever a thread is open, also while the inspector is not. */
export function useContextCommands(): void {
  const inThread = useRoute().view === "thread";
  useCommands(
    useMemo<readonly Command[]>(
      () => [
        {
          id: "context-full",
          title: "Show the context at full width",
          keys: "shift+i",
          off: inThread ? undefined : "No thread is open",
          run: () => {
            const route = currentRoute();
            if (route.view === "thread") toggleFull(route);
          },
        },
      ],
      [inThread],
    ),
  );
}

/** An address that names what the inspector shows opens it, once: whoever closes it then wants it closed. */
export function useOpenForAddress({ insp, toggleInsp }: Panes): void {
  const route = useRoute();
  const named = route.view === "thread" && route.pane && !route.full ? pathOf(route) : undefined;
  const now = useRef({ insp, toggleInsp });
  now.current = { insp, toggleInsp };
  useEffect(() => {
    if (named !== undefined && !now.current.insp) now.current.toggleInsp();
  }, [named]);
}
