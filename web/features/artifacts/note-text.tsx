import { Markdown } from "../../ui/markdown/markdown.js";
import type { Note } from "./tools.js";

/** A note as it is read. */
export function NoteText({ note, onEdit }: { readonly note: Note; onEdit(): void }) {
  if (note.content.trim() === "") {
    return (
      <p className="panel-none ink-3">
        Nothing here yet.{" "}
        <button type="button" className="lone" onClick={onEdit}>
          Write the note
        </button>
      </p>
    );
  }
  return (
    <div className="note read" role="group" aria-label="Text of the note" tabIndex={0} onDoubleClick={onEdit}>
      <Markdown text={note.content} />
    </div>
  );
}
