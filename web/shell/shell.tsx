import { Suspense, useEffect, useMemo } from "react";
import { useContextCommands, useOpenForAddress } from "../features/inspector/commands.js";
import { useTab } from "../features/inspector/tab.js";
import { Sidebar } from "../features/tree/sidebar.js";
import { TreeCommands } from "../features/tree/tree-commands.js";
import { useView } from "../features/tree/view.js";
import { type Command, useCommands } from "../state/commands.js";
import { useLink } from "../state/gateway.js";
import { watchOutbox } from "../state/outbox.js";
import { useLayout } from "../state/prefs.js";
import { type Route, type ThreadRoute, useRoute } from "../state/router.js";
import { loadUnderWay } from "../state/runs.js";
import { openTree, useTree } from "../state/tree.js";
import { rememberWorkspace, useWorkspace } from "../state/workspaces.js";
import { ConfirmHost } from "../ui/confirm.js";
import { Toasts } from "../ui/toasts.js";
import { Home } from "./home.js";
import { useKeys } from "./keys.js";
import { OfflineBanner } from "./offline.js";
import { Overlays } from "./overlays.js";
import { focusPane, useLastFocus } from "./pane-focus.js";
import { type Panes, useDrawers, usePanes } from "./panes.js";
import { Resizer } from "./resizer.js";
import { SignedOut } from "./signed-out.js";
import { type Size, useSize } from "./size.js";
import { useTheme } from "./theme.js";
import {
  DocView,
  FolderView,
  FullContext,
  Inspector,
  SettingsView,
  ThreadView,
  useLoadAhead,
} from "./views.js";

/** The whole page: which panes there are at this width, and what stands in them. */
export function Shell() {
  useTheme();
  useKeys();
  useLastFocus();
  useOpenWorkspace();
  useLoadAhead();
  useEffect(watchOutbox, []);
  const { link } = useLink();
  const route = useRoute();
  const panes = usePanes();
  const size = useSize();
  usePaneCommands(panes);
  useContextCommands();
  useOpenForAddress(panes);
  useSideDrawer(route, size === "narrow" && panes.side);
  if (link === "signed_out") return <SignedOut />;
  return (
    <>
      <Frame route={route} panes={panes} size={size} />
      <TreeCommands />
      <Overlays />
      <ConfirmHost />
      <Toasts />
    </>
  );
}

interface FrameProps {
  readonly route: Route;
  readonly panes: Panes;
  readonly size: Size;
}

function Frame({ route, panes, size }: FrameProps) {
  const ws = useTree((tree) => tree.ws);
  const layout = useLayout(ws);
  const shown = shownPanes(route, panes, size);
  const tab = useTab(route);
  const { link } = useLink();
  const style = {
    ...(layout.side && { "--side": `${layout.side}px` }),
    ...(layout.insp && { "--insp": `${layout.insp}px` }),
  } as React.CSSProperties;
  return (
    <div
      className="app"
      data-size={size}
      data-panes={shown.name}
      data-tab={tab}
      data-link={link}
      style={style}
    >
      {shown.side && <Sidebar>{size !== "phone" && <Resizer pane="side" />}</Sidebar>}
      {shown.main && (
        <Suspense fallback={<main className="main" aria-busy="true" />}>
          <MainPane route={route} />
        </Suspense>
      )}
      {shown.insp && (
        <Suspense fallback={<aside className="insp" aria-label="Inspector" aria-busy="true" />}>
          <Inspector route={route as ThreadRoute}>
            {size === "wide" && tab !== "artifacts" && <Resizer pane="insp" />}
          </Inspector>
        </Suspense>
      )}
      {(route.view !== "thread" || route.full || !shown.main) && <OfflineBanner />}
      {size === "narrow" && panes.side && <Scrim />}
      {shown.insp && size !== "wide" && size !== "phone" && <Scrim />}
    </div>
  );
}

/** On a phone the address says which pane is shown; elsewhere the width and the person do. */
function shownPanes(route: Route, panes: Panes, size: Size) {
  const full = route.view === "thread" && route.full === true;
  if (size === "phone") {
    const insp = route.view === "thread" && route.pane !== undefined && !full;
    const side = route.view === "home";
    return { side, main: !side && !insp, insp, name: side ? "tree" : insp ? "insp" : "main" };
  }
  const insp = route.view === "thread" && panes.insp && !full;
  const wide = insp && size === "wide";
  const name = `${panes.side && size !== "narrow" ? "side " : ""}main${wide ? " insp" : ""}`;
  return { side: panes.side, main: true, insp, name };
}

function MainPane({ route }: { readonly route: Route }) {
  if (route.view === "thread" && route.full) return <FullContext route={route} />;
  if (route.view === "thread") return <ThreadView key={route.thread} route={route} />;
  if (route.view === "doc") return <DocView key={route.folder ?? ""} route={route} />;
  if (route.view === "settings") return <SettingsView />;
  if (route.view === "folder") return <FolderView folderId={route.folder} />;
  return <Home />;
}

function Scrim() {
  return <button type="button" className="scrim" aria-label="Close" tabIndex={-1} onClick={closeDrawer} />;
}

/** Who chose something in the sidebar wants to see it; Escape leaves it, and the focus goes in and back. */
function useSideDrawer(route: Route, open: boolean): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the change of the address that closes it
  useEffect(() => {
    if (useDrawers.getState().open === "side") closeDrawer();
  }, [route]);
  useEffect(() => {
    if (!open) return;
    const before = document.activeElement;
    document.querySelector<HTMLElement>(".side button")?.focus();
    useView.setState({ grab: true });
    const leave = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented) closeDrawer();
    };
    addEventListener("keydown", leave);
    return () => {
      removeEventListener("keydown", leave);
      useView.setState({ grab: false });
      if (before instanceof HTMLElement && before.isConnected && document.activeElement === document.body)
        before.focus();
    };
  }, [open]);
}

function closeDrawer(): void {
  useDrawers.setState({ open: undefined });
}

function useOpenWorkspace(): void {
  const workspace = useWorkspace();
  const id = workspace?.id;
  useEffect(() => {
    if (id === undefined) return;
    rememberWorkspace(id);
    void openTree(id);
    void loadUnderWay(id).catch(() => {});
  }, [id]);
}

function usePaneCommands({ toggleSide, toggleInsp }: Panes): void {
  useCommands(
    useMemo<readonly Command[]>(
      () => [
        { id: "inspector", title: "Show or hide the inspector", keys: "mod+i i", run: toggleInsp },
        { id: "sidebar", title: "Show or hide the sidebar", keys: "mod+\\", run: toggleSide },
        {
          id: "next-pane",
          title: "Go to the next pane",
          keys: "f6",
          where: "anywhere",
          run: () => focusPane(1),
        },
        {
          id: "previous-pane",
          title: "Go to the previous pane",
          keys: "shift+f6",
          where: "anywhere",
          run: () => focusPane(-1),
        },
      ],
      [toggleInsp, toggleSide],
    ),
  );
}
