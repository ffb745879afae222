import { Check, Pencil } from "lucide-react";
import { type KeyboardEvent, useEffect } from "react";
import { type Panel, renamePanel } from "../../state/panels.js";
import { Button, IconButton } from "../../ui/button.js";
import { isComposing } from "../../ui/composing.js";
import { Icon } from "../../ui/icon.js";
import { useJustNamed } from "./artifact-actions.js";
import { problemIn, useNote } from "./data.js";
import {
  type Draft,
  editNote,
  keepMine,
  leaveNote,
  saveNote,
  takeTheirs,
  typeNote,
  useDraft,
} from "./note-draft.js";
import { NoteText } from "./note-text.js";
import { PanelFrame } from "./panel-frame.js";
import { PanelLoading, PanelProblem } from "./panel-states.js";
import type { Note } from "./tools.js";

export function NotePanel({ panel }: { readonly panel: Panel }) {
  const read = useNote(panel.artifact);
  const note = read.data;
  const problem = problemIn(read);
  useEffect(() => {
    if (note) renamePanel(panel.id, note.title);
  }, [panel.id, note]);
  if (note && problem === undefined) return <OpenNote panel={panel} note={note} />;
  return (
    <PanelFrame panel={panel}>
      {problem === undefined ? <PanelLoading /> : <PanelProblem panel={panel} error={problem} />}
    </PanelFrame>
  );
}

function OpenNote({ panel, note }: { readonly panel: Panel; readonly note: Note }) {
  const draft = useDraft(note);
  useJustNamed(note.id, () => editNote(note));
  const edit = (
    <IconButton
      icon={draft ? Check : Pencil}
      label={draft ? "Stop editing" : "Edit the note"}
      small
      onClick={() => (draft ? void leaveNote(note.id) : editNote(note))}
    />
  );
  return (
    <PanelFrame panel={panel} actions={edit}>
      {draft ? (
        <NoteField note={note} draft={draft} />
      ) : (
        <NoteText note={note} onEdit={() => editNote(note)} />
      )}
      <NoteFoot note={note} draft={draft} />
    </PanelFrame>
  );
}

function NoteField({ note, draft }: { readonly note: Note; readonly draft: Draft }) {
  const key = (event: KeyboardEvent) => {
    if (event.key === "s" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void saveNote(note.id);
    }
    if (event.key === "Escape" && !isComposing(event)) {
      event.preventDefault();
      event.stopPropagation();
      void leaveNote(note.id);
    }
  };
  return (
    <textarea
      className="note-field"
      aria-label={`Text of ${note.title}`}
      value={draft.text}
      // biome-ignore lint/a11y/noAutofocus: it takes the place of what was just pressed
      autoFocus={draft.state.is === "clean"}
      onChange={(event) => typeNote(note.id, event.target.value)}
      onBlur={() => void saveNote(note.id)}
      onKeyDown={key}
    />
  );
}

function NoteFoot({ note, draft }: { readonly note: Note; readonly draft: Draft | undefined }) {
  const state = draft?.state ?? { is: "clean" as const };
  if (state.is === "conflict") {
    return (
      <div className="pfoot warn" role="alert">
        <span className="grow cut">Changed elsewhere meanwhile. Your text is kept.</span>
        <Button small onClick={() => void keepMine(note.id)}>
          Keep mine
        </Button>
        <Button small onClick={() => takeTheirs(note.id)}>
          Take theirs
        </Button>
      </div>
    );
  }
  if (state.is === "failed") {
    return (
      <div className="pfoot danger" role="alert">
        <span className="grow cut" title={state.why}>
          Not saved: {state.why}
        </span>
        <Button small onClick={() => void saveNote(note.id)}>
          Try again
        </Button>
      </div>
    );
  }
  return (
    <div className="pfoot ink-3" role="status">
      {state.is === "saved" && <Icon of={Check} size={12} />}
      {words(state.is, note.version)}
    </div>
  );
}

function words(is: "clean" | "edited" | "saving" | "saved", version: number): string {
  if (is === "edited") return "Edited";
  if (is === "saving") return "Saving…";
  return is === "saved" ? `Saved, v${version}` : `v${version}`;
}
