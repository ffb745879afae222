import { type KeyboardEvent, type ReactNode, useEffect, useId, useMemo, useRef, useState } from "react";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { count } from "../../ui/format.js";
import "./pick.css";

export interface Choice {
  readonly id: string;
  readonly name: string;
  /** What stands behind it in small letters. */
  readonly hint?: string | undefined;
  readonly glyph?: ReactNode;
  /** Why it can't be chosen. */
  readonly off?: string | undefined;
}

interface PickDialogProps {
  readonly title: string;
  readonly placeholder: string;
  readonly choices: readonly Choice[];
  /** Several can be chosen: the words of the button that then takes them. */
  several?(count: number): string;
  onPick(ids: readonly string[]): void;
  onClose(): void;
}

const MOST = 200;

/** A list to choose from, narrowed by typing. The field keeps the focus; arrows and Enter work in it. */
export function PickDialog(props: PickDialogProps) {
  const { title, placeholder, choices, several, onPick, onClose } = props;
  const [query, setQuery] = useState("");
  const [moved, setAt] = useState<number>();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { shown, matches } = useMatches(choices, query);
  // What can't be chosen is no place to begin at.
  const at =
    moved ??
    Math.max(
      0,
      shown.findIndex(({ off }) => off === undefined),
    );
  const list = useId();
  const take = (choice: Choice | undefined) => {
    if (!choice || choice.off !== undefined) return;
    if (several) setChosen((before) => toggled(before, choice.id));
    else finish([choice.id]);
  };
  const finish = (ids: readonly string[]) => {
    onClose();
    onPick(ids);
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "ArrowDown") setAt(Math.min(at + 1, shown.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (event.key === "Enter" && several && (event.metaKey || event.ctrlKey)) finish([...chosen]);
    else if (event.key === "Enter") take(shown[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label={title} className="pick-dlg" onClose={onClose}>
      <h2 className="label">{title}</h2>
      <input
        className="pick-field"
        role="combobox"
        aria-label={title}
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={shown[at] && `${list}-${at}`}
        autoFocus
        placeholder={placeholder}
        value={query}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(undefined);
        }}
        onKeyDown={pressed}
      />
      <Choices
        id={list}
        label={title}
        shown={shown}
        at={at}
        chosen={several && chosen}
        onTake={take}
        onAt={setAt}
      />
      {shown.length === 0 && <p className="pick-note ink-3">Nothing matches “{query.trim()}”</p>}
      {matches > MOST && (
        <p className="pick-note small ink-3">
          {MOST} of {count(matches)}, type to narrow
        </p>
      )}
      {several && (
        <div className="btns end pick-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            keys="mod+enter"
            off={chosen.size === 0 ? "Nothing is chosen yet" : undefined}
            onClick={() => finish([...chosen])}
          >
            {several(chosen.size)}
          </Button>
        </div>
      )}
    </Dialog>
  );
}

function toggled(before: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const after = new Set(before);
  if (!after.delete(id)) after.add(id);
  return after;
}

function useMatches(choices: readonly Choice[], query: string) {
  return useMemo(() => {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    const found = choices.filter(({ name, hint = "" }) => {
      const text = `${name} ${hint}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    return { shown: found.slice(0, MOST), matches: found.length };
  }, [choices, query]);
}

interface ChoicesProps {
  readonly id: string;
  readonly label: string;
  readonly shown: readonly Choice[];
  readonly at: number;
  readonly chosen: ReadonlySet<string> | undefined;
  onTake(choice: Choice): void;
  onAt(at: number): void;
}

function Choices({ id, label, shown, at, chosen, onTake, onAt }: ChoicesProps) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    ref.current?.children[at]?.scrollIntoView({ block: "nearest" });
  }, [at]);
  return (
    <div
      ref={ref}
      id={id}
      role="listbox"
      aria-label={label}
      aria-multiselectable={chosen ? true : undefined}
      tabIndex={-1}
      className="pick-list thin-scroll"
    >
      {shown.map((choice, index) => (
        <div
          key={choice.id}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={chosen ? chosen.has(choice.id) : index === at}
          aria-disabled={choice.off === undefined ? undefined : true}
          className={`pick-row${index === at ? " at" : ""}`}
          title={choice.off}
          onClick={() => onTake(choice)}
          onPointerMove={() => index !== at && onAt(index)}
          onPointerDown={(event) => event.preventDefault()}
        >
          {chosen && <span className={`box${chosen.has(choice.id) ? " on" : ""}`} aria-hidden="true" />}
          {choice.glyph}
          <span className="cut pick-name">{choice.name}</span>
          <span className="small ink-3 cut grow pick-hint">{choice.off ?? choice.hint}</span>
        </div>
      ))}
    </div>
  );
}
