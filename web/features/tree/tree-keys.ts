import type { KeyboardEvent } from "react";
import { usePrefs } from "../../state/prefs.js";
import { useTree } from "../../state/tree.js";
import { deleteRows } from "./actions.js";
import { openRow, toggleRow } from "./open-row.js";
import type { Row, Rows } from "./rows.js";
import { stepRows } from "./step.js";
import { rowsMeant } from "./things.js";
import { openDialog, pick, rename, unpick, useView } from "./view.js";

/** What the keys of the tree act on. */
export interface KeysGiven {
  readonly rows: Rows;
  /** The row in focus. */
  readonly at: number;
  /** How many rows are in view. */
  readonly page: number;
  go(at: number): void;
  showMenu(at: number): void;
}

/** Carries out a key in the tree. What is not the tree's is left to the window. */
export function pressKey(event: KeyboardEvent, given: KeysGiven): void {
  const row = given.rows.list[given.at];
  if (!row || event.ctrlKey || event.metaKey) return;
  const taken = event.altKey
    ? steps(event, row)
    : moves(event, given) || acts(event, row, given) || letters(event, row, given);
  if (taken) event.preventDefault();
}

function steps(event: KeyboardEvent, { key }: Row): boolean {
  if (event.shiftKey || !/^Arrow(Up|Down)$/.test(event.key)) return false;
  stepRows(key, rowsMeant(key), event.key === "ArrowUp" ? -1 : 1, event.repeat);
  return true;
}

function moves(event: KeyboardEvent, given: KeysGiven): boolean {
  const { at, page, rows } = given;
  const to: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: rows.list.length - 1,
    PageDown: at + page,
    PageUp: at - page,
  };
  const next = to[event.key];
  if (next === undefined) return false;
  const clamped = Math.min(rows.list.length - 1, Math.max(0, next));
  if (event.shiftKey) extend(rows, at, clamped);
  given.go(clamped);
  return true;
}

/** Selects from where the range began to here. */
export function extend({ list, at: where }: Rows, from: number, to: number): void {
  const { anchor } = useView.getState();
  const start = (anchor === undefined ? undefined : where.get(anchor)) ?? from;
  const range = list.slice(Math.min(start, to), Math.max(start, to) + 1);
  pick(
    range.map(({ key }) => key),
    list[start]?.key,
  );
}

export function togglePicked(key: string): void {
  const picked = new Set(useView.getState().picked);
  if (!picked.delete(key)) picked.add(key);
  pick(picked, key);
}

function acts(event: KeyboardEvent, row: Row, given: KeysGiven): boolean {
  switch (event.key) {
    case "Enter":
      openRow(row);
      return true;
    case "ArrowRight":
      return enter(row, given);
    case "ArrowLeft":
      return leave(row, given);
    case " ":
      if (isSpelling()) return false;
      togglePicked(row.key);
      return true;
    case "Escape":
      if (useView.getState().picked.size === 0) return false;
      unpick();
      return true;
    case "F2":
      return startRename(row);
    case "Delete":
      void deleteRows(rowsMeant(row.key));
      return true;
    case "ContextMenu":
      given.showMenu(given.at);
      return true;
    case "F10":
      if (event.shiftKey) given.showMenu(given.at);
      return event.shiftKey;
    default:
      return false;
  }
}

function enter(row: Row, { at, go, rows }: KeysGiven): boolean {
  if (!("open" in row)) return true;
  if (!row.open) toggleRow(row, true);
  else if (rows.list[at + 1]?.parent === row.key) go(at + 1);
  return true;
}

function leave(row: Row, { go, rows }: KeysGiven): boolean {
  if ("open" in row && row.open) toggleRow(row, false);
  else if (row.parent !== undefined) go(rows.at.get(row.parent) ?? 0);
  return true;
}

function startRename(row: Row): boolean {
  if (row.kind === "thread" || row.kind === "folder") rename(row.key);
  return true;
}

/** Letters that are commands; they begin no word, but may go on with one. */
const COMMANDS = new Set(["r", "m", "c", "e", "w", "i", "/", "?"]);
const PAUSE_MS = 700;
let spelled = { text: "", at: 0 };

const isSpelling = () => spelled.text !== "" && performance.now() - spelled.at < PAUSE_MS;

function letters(event: KeyboardEvent, row: Row, given: KeysGiven): boolean {
  const key = event.key.toLowerCase();
  if (event.key.length !== 1) return false;
  if (!isSpelling()) {
    spelled = { text: "", at: 0 };
    if (usePrefs.getState().singleKeys && COMMANDS.has(key)) return command(key, event.shiftKey, row);
  }
  spelled = { text: spelled.text + key, at: performance.now() };
  const next = spelledFrom(given, spelled.text);
  if (next !== undefined) given.go(next);
  return true;
}

function command(key: string, shift: boolean, row: Row): boolean {
  if (shift) return false;
  if (key === "r") return startRename(row);
  if (key !== "m" || row.kind === "doc" || row.kind === "agent") return false;
  openDialog({ kind: "move", keys: rowsMeant(row.key) });
  return true;
}

/** The next row whose name begins so. The same letter again goes on to the one after. */
function spelledFrom({ rows: { list }, at }: KeysGiven, text: string): number | undefined {
  const again = new Set(text).size === 1;
  const wanted = again ? text.charAt(0) : text;
  const from = again ? at + 1 : at;
  for (let step = 0; step < list.length; step++) {
    const index = (from + step) % list.length;
    if (
      nameOf(list[index] as Row)
        .toLowerCase()
        .startsWith(wanted)
    )
      return index;
  }
  return undefined;
}

function nameOf({ kind, id }: Row): string {
  const tree = useTree.getState();
  if (kind === "thread") return tree.threads.get(id)?.title ?? "";
  if (kind === "folder") return tree.folders.get(id)?.name ?? "";
  return kind === "doc" ? "AGENTS.md" : id;
}
