import { useEffect, useRef } from "react";
import { useSize } from "../../shell/size.js";
import { AppliesTo } from "./applies-to.js";
import type { DocSession } from "./doc-session.js";
import type { DocState } from "./doc-state.js";
import { type DocRoute, History } from "./history.js";
import { InheritedBlock } from "./inherited.js";
import type { Inherited } from "./use-inherited.js";
import "./about.css";

interface AboutPaneProps {
  readonly session: DocSession;
  readonly state: DocState;
  readonly route: DocRoute;
  readonly inherited: Inherited | undefined;
  onClose(): void;
}

/** Beside the text, or over it where there is no room: what is inherited, who follows it, and what it was. */
export function AboutPane({ session, state, route, inherited, onClose }: AboutPaneProps) {
  const over = useSize() !== "wide";
  const pane = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!over) return;
    const before = document.activeElement;
    pane.current?.querySelector<HTMLElement>("button")?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [over]);
  const hasText = state.mine.trim() !== "";
  return (
    <>
      {over && <button type="button" className="scrim" aria-label="Close" tabIndex={-1} onClick={onClose} />}
      <aside
        ref={pane}
        className="insp doc-about"
        aria-label="About this file"
        onKeyDown={(event) => event.key === "Escape" && over && onClose()}
      >
        <InheritedBlock
          ws={route.ws}
          inherited={inherited}
          isRoot={route.folder === undefined}
          hasText={hasText}
          onClose={over ? onClose : undefined}
        />
        <AppliesTo ws={route.ws} folder={route.folder} version={state.base.version} hasText={hasText} />
        <History session={session} route={route} present={state.base.version} />
      </aside>
    </>
  );
}
