import { Funnel, X } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { IconButton } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { useView } from "./view.js";

/** Narrows the rows to those whose names have every word that is typed. */
export function FilterField() {
  const filter = useView((view) => view.filter);
  const field = useRef<HTMLInputElement>(null);
  const shown = filter !== undefined;
  useEffect(() => {
    if (shown) field.current?.focus();
  }, [shown]);
  if (!shown) return null;
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "Escape") endFilter();
    else if (event.key === "ArrowDown" || event.key === "Enter") focusTree();
    else return;
    event.preventDefault();
  };
  return (
    <div className="find filter">
      <Icon of={Funnel} size={14} />
      <input
        ref={field}
        aria-label="Filter the tree"
        placeholder="Filter the tree"
        value={filter}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => useView.setState({ filter: event.target.value })}
        onKeyDown={pressed}
      />
      <IconButton icon={X} label="Clear the filter" small onClick={endFilter} />
    </div>
  );
}

export function startFilter(): void {
  const { filter } = useView.getState();
  if (filter === undefined) useView.setState({ filter: "" });
  else document.querySelector<HTMLInputElement>(".filter input")?.select();
}

function endFilter(): void {
  useView.setState({ filter: undefined });
  focusTree();
}

function focusTree(): void {
  useView.setState({ grab: true });
}
