import { useEffect } from "react";
import { type Panel, renamePanel } from "../../state/panels.js";
import { count } from "../../ui/format.js";
import { problemIn, useView } from "./data.js";
import { markDone, removeItems } from "./item-actions.js";
import type { ItemActs } from "./item-keys.js";
import { ItemList } from "./item-list.js";
import { itemMenu } from "./item-menu.js";
import { SelectionFoot } from "./list-foot.js";
import { useItemEdits } from "./list-panel.js";
import { PanelFrame } from "./panel-frame.js";
import { PanelLoading, PanelProblem } from "./panel-states.js";
import { QueryLine } from "./query-line.js";
import { useSelection } from "./selection.js";
import type { View } from "./tools.js";

export function ViewPanel({ panel }: { readonly panel: Panel }) {
  const read = useView(panel.artifact);
  const view = read.data;
  const problem = problemIn(read);
  useEffect(() => {
    if (view) renamePanel(panel.id, view.name, view.query);
  }, [panel.id, view]);
  const query = view?.query ?? panel.query;
  return (
    <PanelFrame panel={panel} about={view && problem === undefined ? count(view.items.length) : undefined}>
      {query !== undefined && <QueryLine view={panel.artifact} query={query} />}
      {problem !== undefined ? (
        <PanelProblem panel={panel} error={problem} />
      ) : view ? (
        <Found panel={panel} view={view} />
      ) : (
        <PanelLoading />
      )}
    </PanelFrame>
  );
}

/** What the query finds. Its order is that of the lists, so nothing is moved here. */
function Found({ panel, view }: { readonly panel: Panel; readonly view: View }) {
  const selection = useSelection(panel.id, view.items);
  const edits = useItemEdits(undefined);
  const act: ItemActs = {
    done: (items, done) => void markDone(items, done),
    remove: (items) => void removeItems(items),
    edit: edits.edit,
  };
  return (
    <>
      {view.items.length === 0 && <p className="panel-none ink-3">Nothing matches this query.</p>}
      <ItemList
        panelId={panel.id}
        label={view.name}
        items={view.items}
        selection={selection}
        act={act}
        slim
        editing={edits.editing}
        editor={edits.editor}
        menu={(items) =>
          itemMenu({ items, all: view.items, act, details: edits.details, moveTo: () => edits.moveTo(items) })
        }
      />
      {edits.dialogs}
      {selection.items.length > 0 ? (
        <SelectionFoot selection={selection} />
      ) : (
        <div className="pfoot ink-3">Saved query, live</div>
      )}
    </>
  );
}
