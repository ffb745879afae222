import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { toastProblem } from "../../state/toasts.js";
import { Button } from "../../ui/button.js";
import { isComposing } from "../../ui/composing.js";
import { useGrowth } from "./field.js";

interface RowEditorProps {
  /** All of its text; undefined: it waits no more. */
  load(): Promise<string | undefined>;
  save(text: string): Promise<void>;
  onClose(): void;
  /** The row went away under it, with its run's beginning: what was typed must not go too. */
  onLost(text: string): void;
}

/** Edits a message where it waits. Enter saves, Escape leaves it as it was; the focus goes back to the field. */
export function RowEditor({ load, save, onClose, onLost }: RowEditorProps) {
  const [text, setText] = useState<string | undefined>();
  const [saving, setSaving] = useState(false);
  const typed = useRef<string | undefined>(undefined);
  const gone = useRef(false);
  const area = useRef<HTMLTextAreaElement>(null);
  useGrowth(area, text ?? "");
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is read once, when editing begins
  useEffect(() => {
    gone.current = false;
    load().then(
      (found) => {
        if (gone.current) return;
        if (found === undefined) onClose();
        else setText(found);
      },
      (error: unknown) => {
        if (gone.current) return;
        toastProblem(error);
        onClose();
      },
    );
    return () => {
      gone.current = true;
      if (typed.current !== undefined) onLost(typed.current);
    };
  }, []);
  const leave = () => {
    typed.current = undefined;
    onClose();
  };
  const loaded = text !== undefined;
  useEffect(() => {
    if (!loaded || !area.current) return;
    area.current.focus();
    area.current.setSelectionRange(area.current.value.length, area.current.value.length);
  }, [loaded]);
  const done = async () => {
    if (text === undefined || text.trim() === "" || saving) return;
    setSaving(true);
    // From here on it is saved or handed back by `save`: a row that goes away meanwhile must not hand it back too.
    typed.current = undefined;
    try {
      await save(text);
      leave();
    } catch (error) {
      toastProblem(error);
      if (gone.current) return onLost(text);
      typed.current = text;
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
          typed.current = target.value;
          setText(target.value);
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
        onClick={() => void done()}
      >
        Save
      </Button>
    </li>
  );
}
