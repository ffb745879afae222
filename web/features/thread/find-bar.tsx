import { ChevronDown, ChevronUp, X } from "lucide-react";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { askToFind, useFindAsked } from "../../state/find-asked.js";
import { IconButton } from "../../ui/button.js";
import { count } from "../../ui/format.js";
import { type Found, useFound } from "./find.js";
import { paintMatches } from "./find-paint.js";
import { jumpTo } from "./jump.js";
import { usePlace } from "./place.js";

/** Finds words in all of the thread, also in what is not loaded, and goes from one message to the next. */
export function FindBar({ onClose }: { onClose(): void }) {
  const { ws, thread } = usePlace();
  const [query, setQuery] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const found = useFound(ws, thread, query);
  const { hits } = found;
  // The place among the matches counts only for these: others begin with the newest.
  const [place, setPlace] = useState({ hits, at: 0 });
  const at = place.hits === hits ? place.at : 0;
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
  useEffect(() => {
    const hit = hits[at];
    if (hit !== undefined) void jumpTo(hit);
  }, [hits, at]);
  useEffect(() => paintMatches(query), [query]);
  const step = (by: 1 | -1) =>
    hits.length > 0 && setPlace({ hits, at: (at + by + hits.length) % hits.length });
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
        {wordsFor(found, query, at)}
      </span>
      <IconButton
        small
        icon={ChevronUp}
        label="Older match"
        disabled={hits.length === 0}
        onClick={() => step(1)}
      />
      <IconButton
        small
        icon={ChevronDown}
        label="Newer match"
        disabled={hits.length === 0}
        onClick={() => step(-1)}
      />
      <IconButton small icon={X} label="Close" onClick={onClose} />
    </search>
  );
}

function wordsFor({ hits, state, more }: Found, query: string, at: number): string {
  if (query.trim() === "") return "";
  if (state === "failed") return "Search is not ready";
  if (hits.length === 0) return state === "searching" ? "" : "Nothing matches";
  return `${count(at + 1)} of ${count(hits.length)}${more ? " or more" : ""}`;
}
