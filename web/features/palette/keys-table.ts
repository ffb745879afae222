/** Keys that do something, as they are written for commands; ranges and pairs as they are shown. */
export interface KeyLine {
  readonly keys: readonly string[];
  readonly does: string;
}

export interface KeyArea {
  readonly title: string;
  readonly lines: readonly KeyLine[];
  /** Most of them are single letters, which can be switched off. */
  readonly single?: boolean;
}

const line = (does: string, ...keys: string[]): KeyLine => ({ does, keys });

/** Every key of the page, by where it works. Lists and editors listen for their own; the rest are commands. */
export const KEYS: readonly KeyArea[] = [
  {
    title: "Anywhere",
    lines: [
      line("Search or run", "mod+k"),
      line("Commands, agents, runs, folders in the palette", ">", "@", "#", "/"),
      line("Show or hide the inspector", "mod+i"),
      line("Show or hide the sidebar", "mod+\\"),
      line("Next, previous pane", "f6", "shift+f6"),
      line("Stop the run", "mod+."),
      line("Find in the thread, again for the browser’s", "mod+f"),
      line("New thread", "mod+shift+o"),
      line("Show these keys", "?"),
    ],
  },
  {
    title: "Not in a text field",
    single: true,
    lines: [
      line("New thread here, with another agent", "c", "shift+c"),
      line("AGENTS.md of this folder", "e"),
      line("Next thing that waits for you", "w"),
      line("Inspector, full width", "i", "shift+i"),
      line("Filter the tree", "/"),
    ],
  },
  {
    title: "Tree",
    lines: [
      line("Move", "up", "down"),
      line("Close, open a folder", "left", "right"),
      line("Open", "enter"),
      line("Rename", "r"),
      line("Move to", "m"),
      line("Move up, down among its siblings", "alt+up", "alt+down"),
      line("Select, select a range", "space", "shift+up", "shift+down"),
      line("Delete", "delete"),
    ],
  },
  {
    title: "Messages",
    lines: [
      line("Previous, next message", "up", "down"),
      line("Open", "enter"),
      line("Copy as Markdown", "y"),
      line("Edit and resend", "r"),
      line("Fork from here", "f"),
      line("Its context", "x"),
      line("Newest message", "end"),
    ],
  },
  {
    title: "Approval, when it has focus",
    lines: [line("Allow once", "a"), line("Always in this thread", "shift+a"), line("Deny", "d")],
  },
  {
    title: "Composer",
    lines: [
      line("Send, or queue while running", "enter"),
      line("Steer the run", "mod+enter"),
      line("New line", "shift+enter"),
      line("Edit the last queued, in an empty field", "up"),
      line("Ask another agent", "@"),
      line("Leave", "escape"),
    ],
  },
  {
    title: "Artifact list",
    lines: [
      line("Previous, next item", "up", "down"),
      line("Select, select a range, select all", "space", "shift+up", "shift+down", "mod+a"),
      line("Mark done or open", "x"),
      line("Edit", "enter"),
      line("Move up, down", "alt+up", "alt+down"),
      line("Delete", "delete"),
    ],
  },
  {
    title: "Editor, conflict",
    lines: [
      line("Save now", "mod+s"),
      line("Next, previous difference", "f7", "shift+f7"),
      line("Leave the editor", "escape", "tab"),
    ],
  },
];
