import { ArrowLeft, Maximize2, PanelRight } from "lucide-react";
import { type KeyboardEvent, lazy, type ReactNode, Suspense, useEffect, useRef } from "react";
import { usePanes } from "../../shell/panes.js";
import { useSize } from "../../shell/size.js";
import { navigate, type Pane, type ThreadRoute } from "../../state/router.js";
import { useThread } from "../../state/tree.js";
import { IconButton } from "../../ui/button.js";
import { toggleFull } from "./commands.js";
import { ContextTab } from "./context-tab.js";
import { useShownRun } from "./data.js";
import { RunsTab } from "./runs-tab.js";
import { useFollow } from "./steps.js";
import { openTab, useTab } from "./tab.js";
import "./inspector.css";
import "./parts.css";

const ArtifactPanels = lazy(() => import("../artifacts/artifact-panels.js"));

interface InspectorProps {
  readonly route: ThreadRoute;
  /** Its border, where that can be dragged. */
  readonly children?: ReactNode;
}

/** What the agent was told, the thread's runs, and its artifacts. */
export default function Inspector({ route, children }: InspectorProps) {
  const size = useSize();
  const tab = useTab(route);
  const shown = useShownRun(route.ws, route.thread, route.run);
  const thread = useThread(route.thread);
  const drawer = size === "mid" || size === "narrow";
  const { toggleInsp } = usePanes();
  const pane = useDrawerFocus(drawer);
  useFollow(route.ws, route.thread);
  const leave = (event: KeyboardEvent) => {
    if (!drawer || event.key !== "Escape" || event.defaultPrevented) return;
    event.preventDefault();
    toggleInsp();
  };
  // On a phone it is the pane that is shown, so it is the page's main one.
  const Landmark = size === "phone" ? "main" : "aside";
  return (
    <Landmark className="insp" aria-label="Inspector" ref={pane} onKeyDown={leave}>
      {size === "phone" && <h1 className="sr">Context of {thread?.title ?? "the thread"}</h1>}
      <Head route={route} tab={tab} />
      <div className="insp-tab" role="tabpanel" id="insp-panel" aria-labelledby={`insp-${tab}`}>
        {tab === "context" && <ContextTab key={route.thread} route={route} shown={shown} />}
        {tab === "runs" && <RunsTab key={route.thread} route={route} shown={shown} />}
        {tab === "artifacts" && (
          <Suspense fallback={null}>
            <ArtifactPanels threadId={route.thread} />
          </Suspense>
        )}
      </div>
      {children}
    </Landmark>
  );
}

/** A drawer takes the focus when it opens and gives it back when it closes. */
function useDrawerFocus(drawer: boolean) {
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!drawer) return;
    const before = document.activeElement;
    pane.current?.querySelector<HTMLElement>("[role=tab][aria-selected=true]")?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [drawer]);
  return pane;
}

const TABS: readonly (readonly [Pane, string])[] = [
  ["context", "Context"],
  ["runs", "Runs"],
  ["artifacts", "Artifacts"],
];

function Head({ route, tab }: { readonly route: ThreadRoute; readonly tab: Pane }) {
  const size = useSize();
  const { toggleInsp } = usePanes();
  const back = () => navigate({ view: "thread", ws: route.ws, thread: route.thread });
  return (
    <div className="bar">
      {size === "phone" && <IconButton icon={ArrowLeft} label="Back to the thread" onClick={back} />}
      <div className="tabs grow" role="tablist" aria-label="Inspector" onKeyDown={moveTab}>
        {TABS.map(([id, words]) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`insp-${id}`}
            aria-selected={tab === id}
            aria-controls="insp-panel"
            tabIndex={tab === id ? 0 : -1}
            onClick={() => openTab(route, id)}
          >
            {words}
          </button>
        ))}
      </div>
      <span id="insp-actions" className="row-x" />
      <IconButton
        icon={Maximize2}
        label="Full width"
        keys="shift+i"
        size={14}
        onClick={() => toggleFull(route)}
      />
      {size !== "phone" && (
        <IconButton icon={PanelRight} label="Close the inspector" keys="mod+i" onClick={toggleInsp} />
      )}
    </div>
  );
}

function moveTab(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  event.preventDefault();
  const tabs = [...event.currentTarget.querySelectorAll<HTMLElement>("[role=tab]")];
  const at = tabs.indexOf(document.activeElement as HTMLElement);
  const next = tabs[(at + step + tabs.length) % tabs.length];
  next?.focus();
  next?.click();
}
