import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import type { Thread } from "../../../src/protocol/index.js";
import { problemOf } from "../../state/errors.js";
import { command } from "../../state/gateway.js";
import { toastProblem, toastUndo } from "../../state/toasts.js";
import { isComposing } from "../../ui/composing.js";
import { visibleExactly } from "../../ui/markdown/visible.js";

export function titleOf({ title }: Pick<Thread, "title">): string {
  return visibleExactly(title) || "Untitled thread";
}

interface TitleProps {
  readonly thread: Thread;
  readonly editing: boolean;
  onEdit(): void;
  onDone(): void;
}

/** What the thread is called; a double click gives it another name. */
export function Title({ thread, editing, onEdit, onDone }: TitleProps) {
  const shown = titleOf(thread);
  return (
    <h1 className="cut strong title" title={editing ? undefined : shown} onDoubleClick={onEdit}>
      {editing ? <NameField thread={thread} onDone={onDone} /> : shown}
    </h1>
  );
}

/** The button whose menu has Rename. */
function moreOf(field: HTMLElement | null): HTMLElement | null | undefined {
  return field?.closest("header")?.querySelector<HTMLElement>("[aria-haspopup=menu][aria-label=More]");
}

function NameField({ thread, onDone }: Pick<TitleProps, "thread" | "onDone">) {
  const { id: thread_id, workspace_id, title: before } = thread;
  const [name, setName] = useState(before);
  const [problem, setProblem] = useState<string>();
  const field = useRef<HTMLInputElement>(null);
  const over = useRef(false);
  useEffect(() => field.current?.select(), []);
  const set = (title: string) => command("thread/update", { workspace_id, thread_id, title });
  const end = (stays = false) => {
    over.current = true;
    // Whoever went elsewhere with the pointer stays there.
    if (stays) moreOf(field.current)?.focus();
    onDone();
  };
  const save = async (stays = false) => {
    const title = name.trim();
    if (over.current) return;
    if (title === "" || title === before) return end(stays);
    try {
      await set(title);
      end(stays);
      toastUndo(`Renamed to “${visibleExactly(title)}”`, () => set(before));
    } catch (error) {
      setProblem(problemOf(error).message);
      toastProblem(error);
    }
  };
  const pressed = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (isComposing(event)) return;
    if (event.key === "Enter") void save(true);
    else if (event.key === "Escape") end(true);
  };
  return (
    <input
      ref={field}
      className="name-field"
      aria-label="Name of the thread"
      aria-invalid={problem !== undefined}
      title={problem}
      maxLength={255}
      value={name}
      onChange={({ target }) => setName(target.value)}
      onKeyDown={pressed}
      onBlur={() => void save()}
    />
  );
}
