import { type FormEvent, useState } from "react";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { changeItem, tagsOf } from "./item-actions.js";
import type { Item } from "./tools.js";

interface ItemDialogProps {
  readonly item: Item;
  onClose(): void;
}

/** Everything an item has. */
export function ItemDialog({ item, onClose }: ItemDialogProps) {
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string) => String(given.get(name) ?? "").trim();
    setBusy(true);
    const fields = {
      title: text("title"),
      notes: text("notes"),
      url: text("url"),
      tags: tagsOf(text("tags")),
    };
    if (await changeItem(item, fields)) onClose();
    else setBusy(false);
  };
  return (
    <Dialog label={`Details of ${item.title}`} className="sheet" onClose={onClose}>
      <form className="item-form" onSubmit={submit}>
        <h2 className="strong">Details</h2>
        <label>
          Title
          <input name="title" required defaultValue={item.title} maxLength={500} />
        </label>
        <label>
          Notes
          <textarea name="notes" rows={4} defaultValue={item.notes ?? ""} maxLength={4_000} />
        </label>
        <label>
          Link
          <input name="url" type="url" defaultValue={item.url ?? ""} placeholder="https://" />
        </label>
        <label>
          Tags, with commas between them
          <input name="tags" defaultValue={item.tags?.join(", ") ?? ""} />
        </label>
        <div className="btns end">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" off={busy ? "Saving…" : undefined}>
            Save item
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
