import { useEffect, useMemo, useRef } from "react";
import { type Panes, usePanes } from "../../shell/panes.js";
import { useSize } from "../../shell/size.js";
import { goToNextMatter, useAttention } from "../../state/attention.js";
import { type Command, useCommands } from "../../state/commands.js";
import { currentRoute, navigate } from "../../state/router.js";
import { useTree } from "../../state/tree.js";
import { newFolder, newThread, openDoc } from "./actions.js";
import { TreeDialogs } from "./dialogs.js";
import { startFilter } from "./filter-field.js";
import { toggleGrouping } from "./side-foot.js";
import { folderHere, rowsMeant } from "./things.js";
import { rowOfRoute, useNoteLeft } from "./use-rows.js";
import { openDialog, useView } from "./view.js";

/** What the tree offers by name and key, whether the sidebar is shown or not; and what keeps an eye on runs. */
export function TreeCommands() {
  useAttention();
  useNoteLeft();
  const ws = useTree((tree) => tree.ws);
  const phone = useSize() === "phone";
  const panes = usePanes();
  const latest = useRef<Panes>(panes);
  useEffect(() => {
    latest.current = panes;
  });
  const commands = useMemo(() => {
    const showTree = () => {
      if (phone) navigate({ view: "home", ws });
      else if (!latest.current.side) latest.current.toggleSide();
    };
    return ws === undefined ? [] : commandsOf(showTree);
  }, [ws, phone]);
  useCommands(commands);
  return <TreeDialogs />;
}

function commandsOf(showTree: () => void): readonly Command[] {
  return [
    {
      id: "new-thread",
      title: "New thread",
      keys: "c mod+shift+o",
      run: () => void newThread({ folder: folderHere() }),
    },
    {
      id: "new-thread-with",
      title: "New thread with another agent…",
      keys: "shift+c",
      run: () => openDialog({ kind: "agent", folder: folderHere() }),
    },
    {
      id: "agents-doc-here",
      title: "AGENTS.md of this folder",
      keys: "e",
      run: () => openDoc(folderHere()),
    },
    { id: "next-waiting", title: "Go to the next thing that waits for you", keys: "w", run: goToNextMatter },
    {
      id: "filter-tree",
      title: "Filter the tree",
      keys: "/",
      run: () => {
        showTree();
        startFilter();
      },
    },
    {
      id: "new-folder",
      title: "New folder",
      run: () => {
        showTree();
        void newFolder(folderHere());
      },
    },
    { id: "move-to", title: "Move to…", keys: "m", run: moveOpen },
    { id: "group-by-agent", title: "Group threads by agent, or by folder", run: toggleGrouping },
    { id: "open-project", title: "Open a project…", run: () => openDialog({ kind: "project" }) },
  ];
}

/** Moves what is open: a thread elsewhere; into a folder that is open, threads from elsewhere. */
function moveOpen(): void {
  const route = currentRoute();
  const key = rowOfRoute(route);
  if (route.view === "folder") openDialog({ kind: "move-here", folder: route.folder });
  else if (route.view === "thread" && key) openDialog({ kind: "move", keys: rowsMeant(key) });
  else if (useView.getState().picked.size > 0)
    openDialog({ kind: "move", keys: [...useView.getState().picked] });
}
