import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { toastProblem } from "../../state/toasts.js";
import { Button } from "../../ui/button.js";
import { isComposing, useGrowth } from "./field.js";

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
  const area = useRef<HTMLTextAreaElement>(null);
  useGrowth(area, text ?? "");
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is read once, when editing begins
  useEffect(() => {
    let gone = false;
    load().then(
      (found) => {
        if (gone) return;
        if (found === undefined) onClose();
        else setText(found);
      },
      (error: unknown) => {
        if (gone) return;
        toastProblem(error);
        onClose();
      },
    );
    return () => {
      gone = true;
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
    try {
      await save(text);
      leave();
    } catch (error) {
      setSaving(false);
      toastProblem(error);
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
