import { Search } from "lucide-react";
import { type KeyboardEvent, useCallback, useDeferredValue, useEffect, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { isComposing } from "../../ui/composing.js";
import { Dialog } from "../../ui/dialog.js";
import { counted } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { Foot } from "./foot.js";
import { Results } from "./results.js";
import type { Row } from "./row.js";
import { modeOf, useGroups } from "./use-groups.js";
import "./palette.css";

interface PaletteProps {
  readonly query: string;
  /** What was typed before it was there was entered, too. */
  readonly entered: boolean;
  onClose(): void;
}

/** Everything by name: threads, what was said in them, instructions, agents, runs, folders and commands. */
export default function Palette({ query: begin, entered: begun, onClose }: PaletteProps) {
  const [query, setQuery] = useState(begin);
  const [all, setAll] = useState(false);
  const [about, setAbout] = useState<string>();
  const type = useCallback((text: string) => {
    setQuery(text);
    setAll(false);
    if (!text.startsWith("@")) setAbout(undefined);
  }, []);
  const showAll = useCallback(() => setAll(true), []);
  const ask = useCallback(() => {
    setAbout(query.trim());
    setQuery("@");
  }, [query]);
  // Typing never waits for the list: it is drawn after the letter is.
  const shown = useDeferredValue(query);
  const found = useGroups({ query: shown, all, showAll, about, ask });
  const rows = found.groups.flatMap((group) => group.rows);
  const [active, setActive] = useActive(rows, query);
  const list = useId();
  const choose = (row: Row | undefined, beside = false) => {
    if (!row || row.off !== undefined) return;
    const act = beside ? row.also : row.run;
    if (!act) return;
    if (row.stays) return act();
    // The focus is back where it was before the command moves it.
    flushSync(onClose);
    act();
  };
  const at = rows.findIndex(({ id }) => id === active);
  // Enter means the list of what was typed, never the one before: where that is still drawn, it waits for the other.
  const [entered, setEntered] = useState(begun ? { beside: false } : undefined);
  useEffect(() => {
    if (!entered || shown !== query) return;
    setEntered(undefined);
    const row = rows[at] ?? rows[0];
    queueMicrotask(() => choose(row, entered.beside));
  });
  const keys = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const to = target(event.key, at, rows.length);
    if (to !== undefined) setActive(rows[to]?.id);
    else if (event.key === "Enter") setEntered({ beside: event.metaKey || event.ctrlKey });
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label="Command palette" className="pal" onClose={onClose}>
      <div className={`q-in${found.busy ? " busy" : ""}`}>
        <Icon of={Search} />
        <input
          autoFocus
          role="combobox"
          aria-label="Search or run"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={at < 0 ? undefined : `${list}-${active}`}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          placeholder={placeholderOf(modeOf(query).mode)}
          value={query}
          onChange={(event) => type(event.target.value)}
          onKeyDown={keys}
        />
      </div>
      <Results
        id={list}
        found={found}
        text={modeOf(query).text.trim()}
        active={active}
        onPoint={setActive}
        onChoose={choose}
      />
      <Foot also={rows[at]?.also !== undefined} agents={rows[at]?.id.startsWith("agent-") === true} />
      <span className="sr" role="status">
        {found.busy ? "" : counted(rows.length, "result")}
      </span>
    </Dialog>
  );
}

function placeholderOf(mode: string): string {
  return mode === "all" ? "Search threads, messages and commands" : `Find ${mode}`;
}

const PAGE = 8;

/** Where a key leads in the list; undefined: it is no such key. Home and End stay with the text while there is no list. */
function target(key: string, at: number, length: number): number | undefined {
  if (length === 0) return undefined;
  if (key === "ArrowDown") return (at + 1) % length;
  if (key === "ArrowUp") return (at - 1 + length) % length;
  if (key === "PageDown") return Math.min(length - 1, at + PAGE);
  if (key === "PageUp") return Math.max(0, at - PAGE);
  if (key === "Home") return 0;
  return key === "End" ? length - 1 : undefined;
}

/** The chosen row stays when results come in around it; a new question begins at the first. */
function useActive(rows: readonly Row[], query: string) {
  const [active, setActive] = useState<string>();
  const asked = useRef(query);
  useEffect(() => {
    if (asked.current === query) return;
    asked.current = query;
    setActive(undefined);
  }, [query]);
  const known = rows.some(({ id }) => id === active) ? active : undefined;
  const first = rows.find(({ off }) => off === undefined)?.id ?? rows[0]?.id;
  return [known ?? first, setActive] as const;
}
