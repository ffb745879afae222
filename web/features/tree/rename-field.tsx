import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { problemOf } from "../../state/errors.js";
import { isComposing } from "../../ui/composing.js";
import { renameRow } from "./actions.js";
import { useView } from "./view.js";

interface RenameFieldProps {
  readonly rowKey: string;
  readonly name: string;
}

/** The name, to be typed over. Enter and leaving save it, Escape leaves it as it was. */
export function RenameField({ rowKey, name }: RenameFieldProps) {
  const [text, setText] = useState(name);
  const [problem, setProblem] = useState<string>();
  const field = useRef<HTMLInputElement>(null);
  const state = useRef<"typing" | "saving" | "done">("typing");
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  const close = (refocus: boolean) => {
    state.current = "done";
    const row = field.current?.closest<HTMLElement>("[role=treeitem]");
    useView.setState({ renaming: undefined });
    if (refocus) row?.focus({ preventScroll: true });
  };
  const save = async (refocus: boolean) => {
    if (state.current !== "typing") return;
    if (text.trim() === "") return refocus ? setProblem("A name is needed.") : close(false);
    state.current = "saving";
    try {
      await renameRow(rowKey, text.trim());
      close(refocus);
    } catch (error) {
      state.current = "typing";
      setProblem(problemOf(error).message);
    }
  };
  const pressed = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (isComposing(event)) return;
    if (event.key === "Enter") void save(true);
    else if (event.key === "Escape") close(true);
  };
  return (
    <span className="rename">
      <input
        ref={field}
        aria-label={`Name of ${name}`}
        aria-invalid={problem !== undefined}
        value={text}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => {
          setText(event.target.value);
          setProblem(undefined);
        }}
        onKeyDown={pressed}
        onBlur={() => void save(false)}
        onClick={(event) => event.stopPropagation()}
      />
      {problem && (
        <span className="rename-problem" role="alert">
          {problem}
        </span>
      )}
    </span>
  );
}
