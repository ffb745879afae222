import { countChars, isStorableText, MAX_DOCUMENT_CHARS } from "../../../src/protocol/plain.js";

/** What the gateway has in a scope. Version 0: there is no document. */
export interface Stored {
  readonly id?: string | undefined;
  readonly version: number;
  readonly content: string;
  readonly by?: string | undefined;
  readonly at?: number | undefined;
}

export const NOTHING: Stored = { version: 0, content: "" };

export interface DocProblem {
  /** Goes on after `Not saved: `. */
  readonly message: string;
  readonly code?: string | undefined;
  /** `text`: what was written can't be saved; `link`: nobody answered; `refused`: the gateway would not. */
  readonly because: "text" | "link" | "refused";
}

/** Which side a region of a conflict takes, or the text that was written for it. */
export type Choice = "mine" | "theirs" | "both" | { readonly text: string };
export type Choices = Readonly<Record<string, Choice>>;

export type SaveReason = "autosave" | "manual";

/** A document being edited: what it was made from, what it is now, and what became known meanwhile. */
export interface DocState {
  readonly base: Stored;
  readonly mine: string;
  /** On its way to the gateway. */
  readonly sent?: { readonly text: string; readonly slow: boolean } | undefined;
  /** Sent, and nobody knows whether it arrived: if it turns up at the gateway, it was ours. */
  readonly unsure?: string | undefined;
  /** Told of while a save was on its way; looked at when that is answered. */
  readonly heard?: Stored | undefined;
  /** Saved elsewhere while there was unsaved text here. */
  readonly theirs?: Stored | undefined;
  /** What was decided of a conflict so far, by the key of its region. */
  readonly choices?: Choices | undefined;
  readonly problem?: DocProblem | undefined;
  readonly justSaved?: boolean | undefined;
}

export type Phase = "clean" | "dirty" | "saving" | "saved" | "error" | "conflict";

export function phaseOf(state: DocState): Phase {
  if (state.theirs) return "conflict";
  if (state.sent?.slow) return "saving";
  if (state.problem) return "error";
  if (isDirty(state)) return "dirty";
  return state.justSaved ? "saved" : "clean";
}

export function isDirty({ base, mine }: DocState): boolean {
  return mine !== base.content;
}

/** Whether there is something that may be sent now. A conflict stops every save until somebody decides. */
export function canSave(state: DocState): boolean {
  return isDirty(state) && !state.sent && !state.theirs && state.problem?.because !== "text";
}

/** Why a text can't be saved, whatever the gateway would say. It is never cut to fit. */
export function obstacleOf(text: string): DocProblem | undefined {
  const chars = countChars(text);
  if (chars > MAX_DOCUMENT_CHARS) {
    const over = (chars - MAX_DOCUMENT_CHARS).toLocaleString("en-US");
    const limit = MAX_DOCUMENT_CHARS.toLocaleString("en-US");
    const message = `${over} ${over === "1" ? "character" : "characters"} over the limit of ${limit}. Shorten it.`;
    return { message, because: "text" };
  }
  if (isStorableText(text)) return undefined;
  return { message: "it has a character that can't be stored.", code: "invalid_text", because: "text" };
}

/** Opens a document; `kept` is unsaved text that an earlier window left behind, with what it was made from. */
export function begin(
  stored: Stored,
  kept?: Pick<DocState, "base" | "mine" | "choices" | "unsure">,
): DocState {
  if (!kept) return { base: stored, mine: stored.content };
  const { base, mine, choices, unsure } = kept;
  return told({ base, mine, choices, unsure, problem: obstacleOf(mine) }, stored);
}

export function edited(state: DocState, mine: string): DocState {
  const before = state.problem?.because === "text" ? undefined : state.problem;
  return { ...state, mine, justSaved: false, problem: obstacleOf(mine) ?? before };
}

export function sending(state: DocState): DocState {
  return { ...state, sent: { text: state.mine, slow: false } };
}

export function slow(state: DocState): DocState {
  return state.sent ? { ...state, sent: { ...state.sent, slow: true } } : state;
}

/** The save was carried out. What was typed meanwhile stays, and is unsaved. */
export function answered(state: DocState, stored: Stored): DocState {
  const { heard, ...rest } = withoutSent(state);
  const next: DocState = {
    ...rest,
    base: stored,
    unsure: undefined,
    problem: obstacleOf(state.mine),
    justSaved: state.mine === stored.content,
  };
  return heard ? told(next, heard) : next;
}

export function refused(state: DocState, problem: DocProblem): DocState {
  const { heard, ...rest } = withoutSent(state);
  const next = { ...rest, problem };
  return heard ? told(next, heard) : next;
}

/** No answer came, or another version stands there: what was sent may have been carried out all the same. */
export function unanswered(state: DocState, problem?: DocProblem): DocState {
  const unsure = state.sent?.text ?? state.unsure;
  const { heard, ...rest } = withoutSent(state);
  const next = { ...rest, unsure, problem: problem ?? state.problem };
  return heard ? told(next, heard) : next;
}

/** The gateway has this now. */
export function told(state: DocState, stored: Stored): DocState {
  return isKnownTo(state, stored) ? state : taken(state, stored);
}

/**
 * The gateway has this, though it does not fit what was known: its data was put back to an earlier day, and its versions count
 * from there. To wait for a higher one would be to save against the same refusal for ever.
 */
export function contradicted(state: DocState, stored: Stored): DocState {
  return isSame(stored, state.theirs ?? state.base) ? state : taken(state, stored);
}

function taken(state: DocState, stored: Stored): DocState {
  if (state.sent) return { ...state, heard: stored };
  const { base, mine, unsure } = state;
  if (stored.content === unsure || stored.content === mine || stored.content === base.content) {
    const next = isDirty(state) ? mine : stored.content;
    return { base: stored, mine: next, problem: obstacleOf(next) };
  }
  if (!isDirty(state)) return { base: stored, mine: stored.content };
  return { ...state, theirs: stored, problem: undefined, justSaved: false };
}

export function settled(state: DocState): DocState {
  return { ...state, justSaved: false };
}

/** Part of a conflict was decided, or is open again. */
export function chose(state: DocState, key: string, choice: Choice | undefined): DocState {
  const { [key]: _, ...others } = state.choices ?? {};
  return { ...state, choices: choice === undefined ? others : { ...others, [key]: choice } };
}

/** A conflict was decided: this is the text now, on top of theirs. */
export function decided(state: DocState, mine: string): DocState {
  return { base: state.theirs ?? state.base, mine, problem: obstacleOf(mine) };
}

function isKnownTo({ base, theirs }: DocState, stored: Stored): boolean {
  if (theirs && isKnown(stored, theirs)) return true;
  const wentBack = theirs !== undefined && isKnown(theirs, base);
  return !wentBack && isKnown(stored, base);
}

function isKnown(stored: Stored, known: Stored): boolean {
  return stored.id === known.id && stored.version <= known.version;
}

function isSame(stored: Stored, known: Stored): boolean {
  return isKnown(stored, known) && stored.version === known.version && stored.content === known.content;
}

function withoutSent({ sent: _, ...rest }: DocState): DocState {
  return rest;
}
