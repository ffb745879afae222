import { type FormEvent, type KeyboardEvent, useRef } from "react";
import { isComposing } from "../../ui/composing.js";
import { changeItem, tagsOf } from "./item-actions.js";
import type { Item } from "./tools.js";

interface ItemEditorProps {
  readonly item: Item;
  onLeave(): void;
}

const MOST_TITLE = 500;

/** An item's title and tags, in its place. Enter and leaving it keep them, Escape does not. */
export function ItemEditor({ item, onLeave }: ItemEditorProps) {
  const form = useRef<HTMLFormElement>(null);
  const left = useRef(false);
  const keep = async () => {
    if (left.current || !form.current) return;
    left.current = true;
    if (await kept(item, new FormData(form.current))) onLeave();
    else left.current = false;
  };
  const key = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key !== "Escape" || isComposing(event)) return;
    left.current = true;
    onLeave();
  };
  return (
    <form
      ref={form}
      aria-label={`Edit ${item.title}`}
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        void keep();
      }}
      onKeyDown={key}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) void keep();
      }}
    >
      <input
        name="title"
        aria-label="Title"
        defaultValue={item.title}
        maxLength={MOST_TITLE}
        ref={(field) => {
          if (field && !form.current?.contains(document.activeElement)) field.focus();
        }}
      />
      <input
        name="tags"
        aria-label="Tags, with commas between them"
        defaultValue={item.tags?.join(", ") ?? ""}
        placeholder="Tags"
      />
      <button type="submit" className="sr">
        Keep
      </button>
    </form>
  );
}

/** Whether there is nothing left to keep. */
async function kept(item: Item, given: FormData): Promise<boolean> {
  const title = String(given.get("title")).trim();
  const tags = tagsOf(String(given.get("tags")));
  const same = title === item.title && tags.join("\n") === (item.tags ?? []).join("\n");
  if (title === "" || same) return true;
  return changeItem(item, { title, tags });
}
