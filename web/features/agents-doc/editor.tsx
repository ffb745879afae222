import { Compartment, EditorState, type Extension, Transaction } from "@codemirror/state";
import { EditorView, placeholder } from "@codemirror/view";
import { useCallback, useEffect, useLayoutEffect, useRef } from "react";
import { type TextPlace, useAskedFor } from "../../state/editor-asked.js";
import { toast } from "../../state/toasts.js";
import { counted } from "../../ui/format.js";
import type { DocSession } from "./doc-session.js";
import { changesTo, Elsewhere, setup } from "./editor-setup.js";

export type Place = TextPlace;

interface EditorProps {
  readonly session: DocSession;
  readonly label: string;
  /** Shown greyed while there is no text. */
  readonly instead: string;
  onPlace(place: Place): void;
}

/** The Markdown editor of a session's text. */
export default function Editor({ session, label, instead, onPlace }: EditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const shown = useRef(new Compartment());
  useEffect(() => {
    const made = makeView(host.current as HTMLElement, session, shown.current, onPlace);
    view.current = made;
    // Heard directly and not by way of a rendering: one that comes late would take back what was typed since.
    const stop = session.store.subscribe(({ state }) => state && takeOver(made, state.mine));
    return () => {
      stop();
      made.destroy();
    };
  }, [session, onPlace]);
  useLayoutEffect(() => {
    session.writingAt = undefined;
    // Before it is taken away: afterwards nobody could tell that it had the focus.
    return () => {
      if (view.current?.hasFocus) session.writingAt = placeOf(view.current.state);
    };
  }, [session]);
  const write = useCallback((place?: TextPlace) => writeAt(view.current, place), []);
  useAskedFor(session.ws, session.folder, write);
  useEffect(() => {
    view.current?.dispatch({ effects: shown.current.reconfigure(shownWith(label, instead)) });
  }, [label, instead]);
  return <div ref={host} className="ed" />;
}

function makeView(
  parent: HTMLElement,
  session: DocSession,
  shown: Compartment,
  onPlace: EditorProps["onPlace"],
): EditorView {
  const onLeftOut = (left: number) => toast(`${counted(left, "character")} left out: a NUL can't be stored.`);
  const listener = EditorView.updateListener.of((update) => {
    const elsewhere = update.transactions.some((each) => each.annotation(Elsewhere));
    if (update.docChanged && !elsewhere) session.edit(update.state.doc.toString());
    if (update.docChanged || update.selectionSet) onPlace(placeOf(update.state));
    if (update.focusChanged && !update.view.hasFocus) void session.save();
  });
  const extensions = [setup(onLeftOut), shown.of([]), listener];
  const doc = session.state?.mine ?? "";
  const view = new EditorView({ parent, state: EditorState.create({ doc, extensions }) });
  onPlace(placeOf(view.state));
  return view;
}

/** Puts in what came from elsewhere; cursor, selection and scroll position stay with their lines. */
function takeOver(view: EditorView, text: string): void {
  if (view.state.doc.toString().replace(/^\uFEFF/, "") === text) return;
  const changes = view.state.changes(changesTo(view.state, text));
  const kept = view.scrollSnapshot().map(changes);
  const annotations = [Elsewhere.of(true), Transaction.addToHistory.of(false)];
  view.dispatch({ changes, annotations, ...(kept && { effects: kept }) });
}

/** Gives the text the focus, at a place of it that is still there. */
function writeAt(view: EditorView | undefined, place: Place | undefined): void {
  view?.focus();
  if (!view || !place) return;
  const line = view.state.doc.line(Math.min(place.line, view.state.doc.lines));
  const anchor = Math.min(line.from + place.column - 1, line.to);
  view.dispatch({ selection: { anchor }, scrollIntoView: true });
}

function placeOf(state: EditorState): Place {
  const { head } = state.selection.main;
  const line = state.doc.lineAt(head);
  return { line: line.number, column: head - line.from + 1 };
}

function shownWith(label: string, instead: string): Extension {
  const named = EditorView.contentAttributes.of({ "aria-label": label });
  return instead === "" ? named : [named, placeholder(() => greyed(instead))];
}

function greyed(text: string): HTMLElement {
  const shown = document.createElement("span");
  shown.className = "ed-instead";
  shown.textContent = text;
  return shown;
}
