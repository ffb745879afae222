import { Plus, X } from "lucide-react";
import { type KeyboardEvent, useRef } from "react";
import { Button } from "../../ui/button.js";
import { isComposing } from "../../ui/composing.js";
import { count } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { MenuButton } from "../../ui/menu-button.js";
import { useJustNamed } from "./artifact-actions.js";
import { addItem, markDone, removeItems } from "./item-actions.js";
import { listMenu } from "./item-menu.js";
import type { Selection } from "./selection.js";

/** What can be done with what is selected. */
export function SelectionFoot({
  selection,
  list,
}: {
  readonly selection: Selection;
  readonly list?: string;
}) {
  const { items } = selection;
  const open = items.some(({ done }) => !done);
  return (
    <div className="pfoot">
      <b className="label num" role="status">
        {count(items.length)} selected
      </b>
      <span className="grow" />
      <Button small kind="quiet" onClick={() => void markDone(items, open)}>
        {open ? "Mark done" : "Mark open"}
      </Button>
      {list && (
        <MenuButton className="btn quiet sm" label="Move to…" items={() => listMenu(items, list)}>
          Move to…
        </MenuButton>
      )}
      <Button small kind="quiet" onClick={() => void removeItems(items)}>
        Delete
      </Button>
      <Button small kind="quiet" keys="escape" className="clear" onClick={() => selection.clear()}>
        <Icon of={X} size={14} />
        <span>Clear</span>
      </Button>
    </div>
  );
}

/** A new item at the end. What could not be added stays in the field. */
export function AddFoot({ list }: { readonly list: string }) {
  const busy = useRef(false);
  const field = useRef<HTMLInputElement>(null);
  useJustNamed(list, () => field.current?.focus());
  const key = async (event: KeyboardEvent<HTMLInputElement>) => {
    const field = event.currentTarget;
    const title = field.value.trim();
    if (event.key !== "Enter" || isComposing(event) || title === "" || busy.current) return;
    busy.current = true;
    const given = field.value;
    if ((await addItem(list, title)) && field.value === given) field.value = "";
    busy.current = false;
  };
  return (
    <label className="pfoot add">
      <Icon of={Plus} size={14} />
      <input ref={field} aria-label="Add an item" placeholder="Add an item" maxLength={500} onKeyDown={key} />
    </label>
  );
}
