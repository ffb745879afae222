import { Check } from "lucide-react";
import type { DragEvent, MouseEvent } from "react";
import { Icon } from "../../ui/icon.js";
import type { MenuAnchor } from "../../ui/menu.js";
import type { ItemActs } from "./item-keys.js";
import type { Selection } from "./selection.js";
import type { Item } from "./tools.js";

interface ItemRowProps {
  readonly item: Item;
  readonly place: {
    readonly index: number;
    readonly of: number;
    readonly start: number;
    readonly size: number;
  };
  readonly panelId: string;
  readonly slim: boolean;
  readonly selection: Selection;
  readonly act: ItemActs;
  readonly isActive: boolean;
  onActive(id: string): void;
  onMenu(anchor: MenuAnchor, item: Item): void;
}

/** What is being dragged within this page. */
let dragged: Item | undefined;

export function ItemRow(props: ItemRowProps) {
  const { item, place, panelId, slim, selection, act, isActive, onActive, onMenu } = props;
  const selected = selection.ids.has(item.id);
  const marks = `${selected ? "sel" : ""}${item.done ? " done" : ""}${isActive ? " here" : ""}`;
  return (
    <li
      id={`${panelId}-${item.id}`}
      className={marks}
      role="option"
      aria-selected={selected}
      aria-setsize={place.of}
      aria-posinset={place.index + 1}
      style={{ height: place.size, transform: `translateY(${place.start}px)` }}
      draggable={act.put !== undefined}
      onClick={(event) => {
        onActive(item.id);
        clicked(event, props);
      }}
      onDoubleClick={() => act.edit(item)}
      onContextMenu={(event) => {
        event.preventDefault();
        onActive(item.id);
        onMenu({ x: event.clientX, y: event.clientY }, item);
      }}
      {...dragging(props)}
    >
      <span
        className={`box${item.done ? " on" : ""}`}
        data-box
        title={item.done ? "Mark as open" : "Mark as done"}
      >
        {item.done && <Icon of={Check} size={12} />}
      </span>
      <span className="nm cut" title={item.notes}>
        {item.done && <span className="sr">Done: </span>}
        {item.title}
        {item.notes && !slim && <span className="small ink-3 more">{firstLine(item.notes)}</span>}
      </span>
      {slim ? <SlimColumn item={item} /> : <Columns tags={item.tags ?? []} />}
    </li>
  );
}

function Columns({ tags: [first, ...rest] }: { readonly tags: readonly string[] }) {
  const others = rest.join(", ");
  return (
    <>
      <span className="small ink-3 cut tag1" title={first}>
        {first}
      </span>
      <span className="r cut tag2" title={others}>
        {others}
      </span>
    </>
  );
}

function SlimColumn({ item }: { readonly item: Item }) {
  const [first, ...rest] = item.tags ?? [];
  const text = rest.join(", ") || first || item.list;
  return <span className="r cut">{text}</span>;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

function clicked(event: MouseEvent, { item, selection, act }: ItemRowProps): void {
  const onBox = event.target instanceof Element && event.target.closest("[data-box]");
  if (onBox) act.done([item], !item.done);
  else if (event.shiftKey) selection.to(item.id);
  else if (event.ctrlKey || event.metaKey || matchMedia("(pointer: coarse)").matches)
    selection.toggle(item.id);
  else selection.only(item.id);
}

function dragging({ item, act }: ItemRowProps) {
  if (!act.put) return {};
  return {
    onDragStart: (event: DragEvent) => {
      dragged = item;
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", item.title);
    },
    onDragOver: (event: DragEvent) => {
      if (dragged) event.preventDefault();
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      if (dragged && dragged.id !== item.id) act.put?.(dragged, item);
      dragged = undefined;
    },
    onDragEnd: () => {
      dragged = undefined;
    },
  };
}
