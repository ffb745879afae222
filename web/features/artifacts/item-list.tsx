import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useSize } from "../../shell/size.js";
import { Menu, type MenuAnchor, type MenuItems } from "../../ui/menu.js";
import { type ItemActs, itemKey } from "./item-keys.js";
import { ItemRow } from "./item-row.js";
import type { Selection } from "./selection.js";
import type { Item } from "./tools.js";

const ROW = 31;
const ROW_TOUCH = 44;

interface ItemListProps {
  readonly panelId: string;
  readonly label: string;
  readonly items: readonly Item[];
  readonly selection: Selection;
  readonly act: ItemActs;
  /** Of a view: title and one column. */
  readonly slim?: boolean;
  menu(items: readonly Item[]): MenuItems;
  /** What stands over the item that is edited. */
  editor(item: Item): ReactNode;
  readonly editing: string | undefined;
}

/** Items as one tab stop, of which only what is seen is drawn. */
export function ItemList(props: ItemListProps) {
  const { panelId, label, items, selection, act, slim = false, editor, editing } = props;
  const row = useSize() === "phone" ? ROW_TOUCH : ROW;
  const box = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const [active, setActive] = useState<string | undefined>();
  const [menu, setMenu] = useState<{ anchor: MenuAnchor; items: readonly Item[] } | undefined>();
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => row,
    overscan: 10,
  });
  const at = Math.max(
    0,
    items.findIndex(({ id }) => id === active),
  );
  const here = items[at];
  const go = (to: number) => {
    setActive(items[to]?.id);
    virtual.scrollToIndex(to);
  };
  const openMenu = (anchor: MenuAnchor, item: Item) =>
    setMenu({ anchor, items: selection.ids.has(item.id) ? selection.items : [item] });
  useFocusBack(list, editing);
  const edited = items.findIndex(({ id }) => id === editing);
  const editedItem = items[edited];
  return (
    <div className="items-box" ref={box}>
      <ul
        ref={list}
        className={`items${slim ? " v" : ""}`}
        data-columns={columnsOf(items, slim)}
        role="listbox"
        aria-multiselectable="true"
        aria-label={label}
        aria-activedescendant={here ? `${panelId}-${here.id}` : undefined}
        tabIndex={0}
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={(event) =>
          itemKey(event, {
            items,
            at,
            selection,
            act,
            go,
            menu: () => here && list.current && openMenu(rowPoint(list.current, at * row, box.current), here),
          })
        }
      >
        {virtual.getVirtualItems().map(({ index, start, size }) => (
          <ItemRow
            key={items[index]?.id}
            item={items[index] as Item}
            place={{ index, of: items.length, start, size }}
            panelId={panelId}
            slim={slim}
            selection={selection}
            act={act}
            isActive={index === at}
            onActive={setActive}
            onMenu={openMenu}
          />
        ))}
      </ul>
      {editedItem && (
        <div className="item-edit" style={{ top: edited * row, height: row }}>
          {editor(editedItem)}
        </div>
      )}
      {menu && (
        <Menu
          label="Items"
          items={props.menu(menu.items)}
          anchor={menu.anchor}
          onClose={() => setMenu(undefined)}
        />
      )}
    </div>
  );
}

function rowPoint(list: HTMLElement, top: number, box: HTMLElement | null): MenuAnchor {
  const { left, top: above } = list.getBoundingClientRect();
  const lowest = box?.getBoundingClientRect().bottom ?? innerHeight;
  return { x: left + ROW, y: Math.min(above + top + ROW, lowest) };
}

/** How many columns of tags there are: what nobody uses takes no room. */
function columnsOf(items: readonly Item[], slim: boolean): number {
  if (slim) return 1;
  return Math.min(2, Math.max(0, ...items.map(({ tags }) => tags?.length ?? 0)));
}

/** Who has edited an item is in the list again, and not at the top of the page. */
function useFocusBack(list: React.RefObject<HTMLUListElement | null>, editing: string | undefined): void {
  const before = useRef(editing);
  useEffect(() => {
    if (before.current !== undefined && editing === undefined) {
      if (document.activeElement === null || document.activeElement === document.body) list.current?.focus();
    }
    before.current = editing;
  }, [editing, list]);
}
