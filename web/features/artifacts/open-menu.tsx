import { Plus } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { type Command, useCommands } from "../../state/commands.js";
import { usePanels } from "../../state/panels.js";
import { Icon } from "../../ui/icon.js";
import type { MenuItems } from "../../ui/menu.js";
import { MenuButton } from "../../ui/menu-button.js";
import { createArtifact, ICONS, openNamed } from "./artifact-actions.js";
import { useNames } from "./data.js";
import { FindArtifact } from "./find-artifact.js";
import type { Named } from "./tools.js";

/** More than these are found by their name. */
const MOST_SHOWN = 12;

/** Opens a list, note or view, or makes one. */
export function OpenMenu() {
  const { data: names = [] } = useNames();
  const [finding, setFinding] = useState(false);
  const find = useCallback(() => setFinding(true), []);
  useCommands(
    useMemo<readonly Command[]>(
      () => [
        { id: "artifact-open", title: "Open a list, note or view", run: find },
        { id: "artifact-new-list", title: "New list", run: () => void createArtifact("list") },
        { id: "artifact-new-note", title: "New note", run: () => void createArtifact("note") },
        { id: "artifact-new-view", title: "New view", run: () => void createArtifact("view") },
      ],
      [find],
    ),
  );
  return (
    <>
      <MenuButton className="btn quiet" label="Open a list, note or view" items={() => menuOf(names, find)}>
        <Icon of={Plus} size={14} />
        <span className="open-word">Open</span>
      </MenuButton>
      {finding && <FindArtifact names={names} onClose={() => setFinding(false)} />}
    </>
  );
}

function menuOf(names: readonly Named[], find: () => void): MenuItems {
  const open = new Set(usePanels.getState().list.map(({ artifact }) => artifact));
  const closed = names.filter(({ id }) => !open.has(id));
  const more = closed.length > MOST_SHOWN;
  return [
    ...closed.slice(0, MOST_SHOWN).map((named) => ({
      label: named.name,
      icon: ICONS[named.kind],
      run: () => void openNamed(named),
    })),
    ...(more ? [{ label: "Find another…", run: () => setTimeout(find) }] : []),
    ...(closed.length > 0 ? [null] : []),
    { label: "New list", icon: ICONS.list, run: () => void createArtifact("list") },
    { label: "New note", icon: ICONS.note, run: () => void createArtifact("note") },
    { label: "New view", icon: ICONS.view, run: () => void createArtifact("view") },
  ];
}
