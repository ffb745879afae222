import { useEffect } from "react";
import { create } from "zustand";
import { problemOf } from "../../state/errors.js";
import { useLink, WINDOW_ID } from "../../state/gateway.js";
import { whenGone } from "../../state/living.js";
import { toastProblem, toastUndo } from "../../state/toasts.js";
import { useTree } from "../../state/tree.js";
import { readAgain, showNote } from "./data.js";
import { callTool, type Note, readNote, ToolRefused } from "./tools.js";

type DraftState =
  | { readonly is: "clean" | "edited" | "saving" | "saved" | "conflict" }
  | { readonly is: "failed"; readonly why: string };

/** A note that is being edited. It outlives its panel: a tab that is closed must not take typed text along. */
export interface Draft {
  /** The note's own workspace, whichever is open when it is saved. */
  readonly ws: string;
  readonly text: string;
  /** The version it builds on. */
  readonly base: number;
  readonly state: DraftState;
}

const useDrafts = create<{ readonly byId: ReadonlyMap<string, Draft> }>()(() => ({ byId: new Map() }));

const PAUSE_MS = 700;
const timers = new Map<string, ReturnType<typeof setTimeout>>();
/** Two saves of one note at once would each take the other for somebody else's. */
const underWay = new Set<string>();

const PREFIX = "heddle.note.";
const keyOf = (id: string) => `${PREFIX}${id}.${WINDOW_ID}`;
const draftOf = (id: string) => useDrafts.getState().byId.get(id);

function set(id: string, draft: Draft | undefined): void {
  const byId = new Map(useDrafts.getState().byId);
  if (draft) byId.set(id, draft);
  else byId.delete(id);
  useDrafts.setState({ byId });
  const unsaved = draft !== undefined && draft.state.is !== "clean" && draft.state.is !== "saved";
  try {
    if (unsaved) {
      const { ws, text, base } = draft;
      localStorage.setItem(keyOf(id), JSON.stringify({ ws, text, base }));
    } else localStorage.removeItem(keyOf(id));
  } catch {
    // A browser that stores nothing still has it in the field.
  }
}

function stored(key: string): Draft | undefined {
  try {
    const { ws, text, base } = JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<Draft>;
    if (typeof ws === "string" && typeof text === "string" && typeof base === "number")
      return { ws, text, base, state: { is: "edited" } };
  } catch {
    // What can't be read was not written by this page.
  }
  return undefined;
}

const awaited = new Set<string>();

/** Takes over what windows could not save, once they are gone: one that lives saves its own. */
function adopt(id: string): void {
  for (const key of Object.keys(localStorage)) {
    if (!key.startsWith(`${PREFIX}${id}.`) || key === keyOf(id) || awaited.has(key)) continue;
    awaited.add(key);
    whenGone(key.slice(key.lastIndexOf(".") + 1), () => {
      awaited.delete(key);
      takeOver(id, key);
    });
  }
}

/** What is being written here is not replaced: then the other text waits for the next time. */
function takeOver(id: string, key: string): void {
  const left = stored(key);
  const now = draftOf(id);
  if (!left || (now && now.state.is !== "clean")) return;
  localStorage.removeItem(key);
  set(id, left);
  saveSoon(id);
}

/** The draft of a note, kept up with what others write as long as nobody has typed. */
export function useDraft(note: Note): Draft | undefined {
  const draft = useDrafts(({ byId }) => byId.get(note.id));
  useEffect(() => {
    const now = draftOf(note.id);
    if (!now || now.state.is === "clean") adopt(note.id);
    if (now && (now.state.is === "clean" || now.state.is === "saved") && now.base < note.version)
      set(note.id, { ...now, text: note.content, base: note.version, state: { is: "clean" } });
  }, [note]);
  return draft;
}

export function editNote({ id, content, version }: Note): void {
  const { ws } = useTree.getState();
  if (draftOf(id) || ws === undefined) return;
  set(id, { ws, text: content, base: version, state: { is: "clean" } });
}

export function typeNote(id: string, text: string): void {
  const now = draftOf(id);
  if (!now) return;
  const conflict = now.state.is === "conflict";
  set(id, { ...now, text, state: conflict ? now.state : { is: "edited" } });
  if (!conflict) saveSoon(id);
}

function saveSoon(id: string): void {
  clearTimeout(timers.get(id));
  timers.set(
    id,
    setTimeout(() => void saveNote(id), PAUSE_MS),
  );
}

export async function saveNote(id: string): Promise<void> {
  const sent = draftOf(id);
  if (!sent || (sent.state.is !== "edited" && sent.state.is !== "failed")) return;
  if (underWay.has(id)) return saveSoon(id);
  clearTimeout(timers.get(id));
  underWay.add(id);
  set(id, { ...sent, state: { is: "saving" } });
  const ended = await attempt(id, sent);
  underWay.delete(id);
  const now = draftOf(id);
  if (!now) return;
  const typed = now.text !== sent.text;
  const base = ended.version ?? now.base;
  set(id, {
    ...now,
    base,
    state: typed && ended.state.is === "saved" ? { is: "edited" } : ended.state,
  });
  if (typed && ended.state.is === "saved") saveSoon(id);
}

async function attempt(id: string, draft: Draft): Promise<{ state: DraftState; version?: number }> {
  const { ws, text, base } = draft;
  try {
    const given = { note: id, content: text, expected_version: base };
    const { title, version } = await callTool<Note>("notes_update", given, ws);
    showNote({ id, title, version, content: text }, ws);
    return { state: { is: "saved" }, version };
  } catch (error) {
    if (error instanceof ToolRefused && error.message.includes("changed meanwhile"))
      return { state: { is: "conflict" } };
    return { state: { is: "failed", why: problemOf(error).message } };
  }
}

/** Stops editing, once everything is saved. */
export async function leaveNote(id: string): Promise<void> {
  await saveNote(id);
  const is = draftOf(id)?.state.is;
  if (is === "clean" || is === "saved") set(id, undefined);
}

/** What was written elsewhere is written over. */
export async function keepMine(id: string): Promise<void> {
  try {
    const { version } = await readNote(id, draftOf(id)?.ws);
    const now = draftOf(id);
    if (now) set(id, { ...now, base: version, state: { is: "edited" } });
    await saveNote(id);
  } catch (error) {
    toastProblem(error);
  }
}

/** What was written here is left, and can be had back. */
export function takeTheirs(id: string): void {
  const mine = draftOf(id);
  set(id, undefined);
  void readAgain();
  if (mine) toastUndo("Took the other text", async () => set(id, mine));
}

// What could not be saved for want of a connection is saved when there is one.
useLink.subscribe(({ link }, before) => {
  if (link !== "open" || before.link === "open") return;
  for (const [id, { state }] of useDrafts.getState().byId) if (state.is === "failed") void saveNote(id);
});
