import { ChevronDown, ChevronUp, X } from "lucide-react";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { askToFind, useFindAsked } from "../../state/find-asked.js";
import { seek, useSought } from "../../state/sought.js";
import { IconButton } from "../../ui/button.js";
import { count } from "../../ui/format.js";
import { type Found, useFound } from "./find.js";
import { drawnMatches } from "./find-paint.js";
import { jumpTo } from "./jump.js";
import { usePlace } from "./place.js";

/** Where somebody stands: at a match in one of the messages. It counts only for these; others begin with the newest. */
interface Standing {
  readonly hits: Found["hits"];
  readonly at: number;
  /** -1: the last one of the message. */
  readonly match: number;
}

/** Finds words in all of the thread, also in what is not loaded, and goes from one match to the next. */
export function FindBar({ onClose }: { onClose(): void }) {
  const { ws, thread } = usePlace();
  const [query, setQuery] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const found = useFound(ws, thread, query);
  const { hits } = found;
  const { standing, many, step } = useSteps(hits, query);
  useEffect(() => {
    const before = document.activeElement;
    field.current?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const asked = useFindAsked(({ words }) => words);
  useEffect(() => {
    if (asked === undefined) return;
    setQuery(asked);
    askToFind(undefined);
    field.current?.focus();
  }, [asked]);
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "Escape") onClose();
    else if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <search className="finder" aria-label="Find in thread">
      <input
        ref={field}
        type="text"
        placeholder="Find in thread"
        aria-label="Find in thread"
        value={query}
        onChange={({ target }) => setQuery(target.value)}
        onKeyDown={pressed}
      />
      <span className="small ink-3 num" role="status">
        {wordsFor(found, query, standing, many)}
      </span>
      <IconButton
        small
        icon={ChevronUp}
        label="Previous match"
        disabled={hits.length === 0}
        onClick={() => step(-1)}
      />
      <IconButton
        small
        icon={ChevronDown}
        label="Next match"
        disabled={hits.length === 0}
        onClick={() => step(1)}
      />
      <IconButton small icon={X} label="Close" onClick={onClose} />
    </search>
  );
}

/** Through the matches of a message, then on to the next older one. */
function useSteps(hits: Found["hits"], query: string) {
  const [chosen, setChosen] = useState<Standing>({ hits, at: 0, match: 0 });
  const standing = useMemo(() => (chosen.hits === hits ? chosen : { hits, at: 0, match: 0 }), [chosen, hits]);
  const [many, setMany] = useState(0);
  const message = hits[standing.at];
  const words = useRef(query);
  words.current = query;
  useEffect(() => {
    let over = false;
    seek({ words: words.current, message, match: standing.match });
    const count = () =>
      message !== undefined && !over && setMany(drawnMatches(message, words.current).length);
    if (message !== undefined) void jumpTo(message).then(count);
    return () => {
      over = true;
    };
  }, [standing, message]);
  useEffect(() => {
    seek({ ...useSought.getState(), words: query });
  }, [query]);
  useEffect(() => () => seek({}), []);
  const step = (by: 1 | -1) => {
    if (message === undefined) return;
    const inside = drawnMatches(message, query).length;
    setChosen(next(standing, by, inside));
  };
  return { standing, many, step };
}

/** `inside`: how many matches the message has that one stands at. */
function next({ hits, at, match }: Standing, by: 1 | -1, inside: number): Standing {
  const to = (match < 0 ? inside + match : match) + by;
  if (to >= 0 && to < inside) return { hits, at, match: to };
  return { hits, at: (at + by + hits.length) % hits.length, match: by > 0 ? 0 : -1 };
}

function wordsFor(
  { hits, state, more }: Found,
  query: string,
  { at, match }: Standing,
  many: number,
): string {
  if (query.trim() === "") return "";
  if (state === "failed") return "Search is not ready";
  if (hits.length === 0) return state === "searching" ? "" : "Nothing matches";
  const inside = many > 1 ? `, match ${count((match < 0 ? many + match : match) + 1)} of ${count(many)}` : "";
  return `${count(at + 1)} of ${count(hits.length)}${more ? " or more" : ""}${inside}`;
}
