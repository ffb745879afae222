import { Funnel } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { type Panel, renamePanel } from "../../state/panels.js";
import { IconButton } from "../../ui/button.js";
import { count, counted } from "../../ui/format.js";
import { Menu } from "../../ui/menu.js";
import { problemIn, useList } from "./data.js";
import { markDone, putItem, removeItems } from "./item-actions.js";
import { ItemDialog } from "./item-dialog.js";
import { ItemEditor } from "./item-editor.js";
import type { ItemActs } from "./item-keys.js";
import { ItemList } from "./item-list.js";
import { itemMenu, listMenu } from "./item-menu.js";
import { AddFoot, SelectionFoot } from "./list-foot.js";
import { PanelFrame } from "./panel-frame.js";
import { PanelLoading, PanelProblem } from "./panel-states.js";
import { useSelection } from "./selection.js";
import type { Item, List } from "./tools.js";

export function ListPanel({ panel }: { readonly panel: Panel }) {
  const read = useList(panel.artifact);
  const list = read.data;
  const [openOnly, setOpenOnly] = useState(false);
  useEffect(() => {
    if (list) renamePanel(panel.id, list.name);
  }, [panel.id, list]);
  const open = list?.items.filter(({ done }) => !done).length ?? 0;
  const about = list && `${counted(list.items.length, "item")}, ${count(open)} open`;
  const filter = (
    <IconButton
      icon={Funnel}
      label="Only open items"
      small
      className={openOnly ? "on" : ""}
      aria-pressed={openOnly}
      onClick={() => setOpenOnly(!openOnly)}
    />
  );
  const problem = problemIn(read);
  return (
    <PanelFrame panel={panel} about={problem === undefined ? about : undefined} actions={filter}>
      {problem !== undefined ? (
        <PanelProblem panel={panel} error={problem} />
      ) : list ? (
        <ListBody panel={panel} list={list} openOnly={openOnly} />
      ) : (
        <PanelLoading />
      )}
    </PanelFrame>
  );
}

interface ListBodyProps {
  readonly panel: Panel;
  readonly list: List;
  readonly openOnly: boolean;
}

function ListBody({ panel, list, openOnly }: ListBodyProps) {
  const shown = useMemo(
    () => (openOnly ? list.items.filter(({ done }) => !done) : list.items),
    [list.items, openOnly],
  );
  const selection = useSelection(panel.id, list.items);
  const edits = useItemEdits(list.id);
  const act: ItemActs = {
    done: (items, done) => void markDone(items, done),
    remove: (items) => void removeItems(items),
    put: (item, at) => void putItem(item, at),
    edit: edits.edit,
  };
  return (
    <>
      {shown.length === 0 && (
        <p className="panel-none ink-3">
          {list.items.length > 0 ? "Everything is done." : "Nothing here yet. Add the first item below."}
        </p>
      )}
      <ItemList
        panelId={panel.id}
        label={list.name}
        items={shown}
        selection={selection}
        act={act}
        editing={edits.editing}
        editor={edits.editor}
        menu={(items) =>
          itemMenu({ items, all: shown, act, details: edits.details, moveTo: () => edits.moveTo(items) })
        }
      />
      {edits.dialogs}
      {selection.items.length > 0 ? (
        <SelectionFoot selection={selection} list={list.id} />
      ) : (
        <AddFoot list={list.id} />
      )}
    </>
  );
}

/** What is being edited, in its place or with all it has. */
export function useItemEdits(list: string | undefined) {
  const [editing, setEditing] = useState<string | undefined>();
  const [detailed, setDetailed] = useState<Item | undefined>();
  const [moving, setMoving] = useState<readonly Item[] | undefined>();
  const from = list ?? moving?.[0]?.list_id ?? "";
  return {
    editing,
    edit: (item: Item) => setEditing(item.id),
    details: setDetailed,
    moveTo: setMoving,
    editor: (item: Item) => <ItemEditor key={item.id} item={item} onLeave={() => setEditing(undefined)} />,
    dialogs: (
      <>
        {detailed && <ItemDialog item={detailed} onClose={() => setDetailed(undefined)} />}
        {moving && (
          <Menu
            label="Move to"
            items={listMenu(moving, from)}
            anchor={{ x: innerWidth / 2, y: innerHeight / 3 }}
            onClose={() => setMoving(undefined)}
          />
        )}
      </>
    ),
  };
}
