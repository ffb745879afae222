import {
  Copy,
  Download,
  Eraser,
  FolderGit2,
  GitFork,
  Pencil,
  Pin,
  PinOff,
  Search,
  Trash2,
} from "lucide-react";
import type { Thread } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";
import { toast, toastProblem } from "../../state/toasts.js";
import type { MenuItems } from "../../ui/menu.js";
import { clearThreads, deleteRows, pinThreads } from "../tree/actions.js";
import { copyText, copyThread } from "./as-markdown.js";
import type { Place } from "./place.js";
import { fork } from "./resend.js";
import { titleOf } from "./title.js";

interface MenuGiven {
  readonly thread: Thread;
  readonly place: Place;
  readonly agent: string;
  onRename(): void;
  /** Where the header has no room for its button. */
  readonly onFind?: (() => void) | undefined;
}

/** What can be done with a thread as a whole. */
export function threadMenu({ thread, place, agent, onRename, onFind }: MenuGiven): MenuItems {
  const { id, pinned_at, worktree, read_only, message_count } = thread;
  const pinned = pinned_at !== undefined;
  const empty = message_count === 0 ? "it is empty" : undefined;
  return [
    ...(onFind ? [{ label: "Find in thread", icon: Search, keys: "mod+f", run: onFind }] : []),
    { label: "Rename", icon: Pencil, off: read_only, run: onRename },
    {
      label: pinned ? "Unpin" : "Pin",
      icon: pinned ? PinOff : Pin,
      off: read_only,
      run: () => void pinThreads([id], !pinned),
    },
    { label: "Fork", icon: GitFork, run: () => void fork(place) },
    null,
    {
      label: "Copy as Markdown",
      icon: Copy,
      off: empty,
      run: () => void copyThread(place, titleOf(thread), agent),
    },
    { label: "Export", icon: Download, run: () => void exportThread(thread) },
    ...(worktree
      ? [
          {
            label: "Copy the worktree’s path",
            icon: FolderGit2,
            hint: worktree.branch,
            run: () => void copyText(worktree.path, `Copied ${worktree.path}`),
          },
        ]
      : []),
    null,
    { label: "Clear", icon: Eraser, off: read_only ?? empty, run: () => void clearThreads([id]) },
    { label: "Delete", icon: Trash2, run: () => void deleteRows([`t:${id}`]) },
  ];
}

/** Saves the thread's directory as a file of the browser. */
async function exportThread({ id: thread_id, workspace_id, title }: Thread): Promise<void> {
  try {
    const { archive_base64 } = await call("thread/export", { workspace_id, thread_id });
    if (archive_base64 === undefined) return;
    const bytes = Uint8Array.from(atob(archive_base64), (unit) => unit.charCodeAt(0));
    const url = URL.createObjectURL(new Blob([bytes], { type: "application/gzip" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = `${fileName(title) || thread_id}.tar.gz`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    toast(`Exported as ${link.download}`);
  } catch (error) {
    toastProblem(error);
  }
}

function fileName(title: string): string {
  return title
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, "-")
    .replaceAll(/^[-.]+|[-.]+$/g, "")
    .slice(0, 80);
}
