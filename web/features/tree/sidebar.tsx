import type { ReactNode } from "react";
import { useSize } from "../../shell/size.js";
import { FilterField } from "./filter-field.js";
import { SideFoot } from "./side-foot.js";
import { SideHeader } from "./side-header.js";
import { TreePane } from "./tree-pane.js";
import "./tree.css";
import "./row-edit.css";
import "./side-foot.css";

/** Workspace, tree and what is under way. On a phone it is a pane of its own, and therefore the main one. */
export function Sidebar({ children }: { readonly children?: ReactNode }) {
  const inside = (
    <>
      <SideHeader />
      <FilterField />
      <TreePane />
      <SideFoot />
      {children}
    </>
  );
  if (useSize() !== "phone")
    return (
      <nav className="side" aria-label="Threads">
        {inside}
      </nav>
    );
  return (
    <main className="side">
      <h1 className="sr">Threads</h1>
      {inside}
    </main>
  );
}
