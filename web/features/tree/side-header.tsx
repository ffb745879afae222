import { ChevronsUpDown, FolderOpen, Search, Settings2, SquarePen } from "lucide-react";
import { openOverlay } from "../../shell/overlays.js";
import { shownKeys } from "../../state/commands.js";
import { navigate } from "../../state/router.js";
import { useTree } from "../../state/tree.js";
import { readWorkspacesAgain, useWorkspaces } from "../../state/workspaces.js";
import { IconButton } from "../../ui/button.js";
import { Icon, Mark } from "../../ui/icon.js";
import type { MenuItems } from "../../ui/menu.js";
import { MenuButton } from "../../ui/menu-button.js";
import { newThread } from "./actions.js";
import { folderHere } from "./things.js";
import { openDialog } from "./view.js";

/** The mark, the workspace that is open, and a new thread. */
export function SideHeader() {
  const ws = useTree((tree) => tree.ws);
  const workspaces = useWorkspaces();
  const name = workspaces.find(({ id }) => id === ws)?.name ?? "";
  const items = (): MenuItems => [
    ...workspaces.map(({ id, name, root_path }) => ({
      label: name,
      checked: id === ws,
      ...(root_path !== undefined && { hint: shortPath(root_path) }),
      run: () => navigate({ view: "home", ws: id }),
    })),
    null,
    { label: "Open a project…", icon: FolderOpen, run: () => openDialog({ kind: "project" }) },
    {
      label: "Settings",
      icon: Settings2,
      run: () => ws !== undefined && navigate({ view: "settings", ws }),
    },
  ];
  return (
    <>
      <header className="bar">
        <Mark />
        <MenuButton
          label={`Workspace ${name}`}
          items={items}
          onOpen={() => void readWorkspacesAgain()}
          className="pick side-pick"
        >
          <span className="strong cut">{name}</span>
          <Icon of={ChevronsUpDown} size={12} />
        </MenuButton>
        <span className="grow" />
        <IconButton
          icon={SquarePen}
          label="New thread"
          keys="mod+shift+o"
          disabled={ws === undefined}
          onClick={() => void newThread({ folder: folderHere() })}
        />
      </header>
      <button type="button" className="find" onClick={() => openOverlay({ kind: "palette" })}>
        <Icon of={Search} size={14} />
        <span>Search or run</span>
        <kbd aria-hidden="true">{shownKeys("mod+k")}</kbd>
      </button>
    </>
  );
}

/** The end of a path, which is what tells projects apart. */
function shortPath(path: string): string {
  const parts = path.split("/").filter(Boolean);
  return parts.length > 2 ? `…/${parts.slice(-2).join("/")}` : path;
}
