import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { toastProblem } from "../../state/toasts.js";
import { Button } from "../../ui/button.js";
import { isComposing } from "../../ui/composing.js";
import { useGrowth } from "./field.js";
import { endRowEdit, type RowName, setRowEdit, useRowEdit } from "./row-edits.js";

interface RowEditorProps {
  readonly name: RowName;
  /** Somebody wants to write here now: it takes the focus. */
  readonly chosen: boolean;
  /** All of its text; undefined: it waits no more. */
  load(): Promise<string | undefined>;
  save(text: string): Promise<void>;
  onClose(): void;
}

/** Edits a message where it waits. Enter saves, Escape leaves it as it was; the focus goes back to the field. */
export function RowEditor({ name, chosen, load, save, onClose }: RowEditorProps) {
  const [found, setFound] = useState<string | undefined>();
  const [emptied, setEmptied] = useState(false);
  const [saving, setSaving] = useState(false);
  const typed = useRowEdit(name);
  const text = typed ?? (emptied ? "" : found);
  const area = useRef<HTMLTextAreaElement>(null);
  useGrowth(area, text ?? "");
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is read once, when editing begins
  useEffect(() => {
    let gone = false;
    load().then(
      (read) => {
        if (gone) return;
        if (read === undefined) onClose();
        else setFound(read);
      },
      (error: unknown) => {
        if (gone) return;
        toastProblem(error);
        onClose();
      },
    );
    return () => {
      gone = true;
    };
  }, []);
  const leave = () => {
    endRowEdit(name);
    onClose();
  };
  const loaded = text !== undefined;
  useEffect(() => {
    if (!loaded || !chosen || !area.current) return;
    area.current.focus();
    area.current.setSelectionRange(area.current.value.length, area.current.value.length);
  }, [loaded, chosen]);
  const done = async () => {
    if (text === undefined || text.trim() === "" || saving) return;
    setSaving(true);
    try {
      await save(text);
      leave();
    } catch (error) {
      toastProblem(error);
      setSaving(false);
    }
  };
  const pressed = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (event.key === "Enter" && !event.shiftKey) void done();
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
  };
  return (
    <li className="editing">
      <textarea
        ref={area}
        rows={1}
        aria-label="Edit the message"
        value={text ?? ""}
        disabled={!loaded}
        readOnly={saving}
        onChange={({ target }) => {
          setEmptied(target.value === "");
          setRowEdit(name, target.value);
        }}
        onKeyDown={pressed}
      />
      <Button small onClick={leave}>
        Leave as it was
      </Button>
      <Button
        small
        kind="primary"
        off={text?.trim() === "" ? "A message needs text" : undefined}
        busy={saving}
        onClick={() => void done()}
      >
        Save
      </Button>
    </li>
  );
}
