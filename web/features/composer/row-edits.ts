import { useEffect } from "react";
import { useShallow } from "zustand/react/shallow";
import type { Thread } from "../../../src/protocol/index.js";
import { clearDraft, draftOf, giveBack, setDraft, useDraft, useDrafts } from "../../state/drafts.js";
import { isRefused } from "../../state/errors.js";
import { useOutbox } from "../../state/outbox.js";
import { loadRun, useRuns } from "../../state/runs.js";
import { toast } from "../../state/toasts.js";

/** A message that waits, by its thread and by its run's id or its key: what is written in its place is a draft like any other. */
export interface RowName {
  readonly thread: string;
  readonly row: string;
}

const keyOf = ({ thread, row }: RowName) => `${thread} ${row}`;

/** What is being written in place of a row; undefined: nothing yet. */
export function useRowEdit(name: RowName): string | undefined {
  const { text } = useDraft(keyOf(name));
  return text === "" ? undefined : text;
}

/** Kept with every key, across reloads and threads. */
export function setRowEdit(name: RowName, text: string): void {
  setDraft(keyOf(name), { text });
}

export function endRowEdit(name: RowName): void {
  clearDraft(keyOf(name));
}

/** Its message was sent before it was saved: what was typed is for the person to decide on. Once, whoever notices first. */
export function handBack(name: RowName): void {
  const { text } = draftOf(keyOf(name));
  if (text === "") return;
  endRowEdit(name);
  giveBack(name.thread, { text, images: [] });
  toast("It was sent before it was edited. What you typed is in the field.");
}

/** Rows of a thread with an edit that was begun, and what came of those that wait no more. */
export function useRowEdits({ id: thread, workspace_id }: Thread): readonly string[] {
  const edited = useDrafts(
    useShallow(({ byThread }) =>
      [...byThread.keys()]
        .filter((key) => key.startsWith(`${thread} `))
        .map((key) => key.slice(thread.length + 1)),
    ),
  );
  const unsent = useOutbox(thread);
  const states = useRuns(useShallow(({ byId }) => edited.map((row) => byId.get(row)?.status)));
  useEffect(() => {
    for (const [at, row] of edited.entries()) {
      const status = states[at];
      const name = { thread, row };
      if (!row.startsWith("run_")) {
        if (!unsent.some(({ key }) => key === row)) handBack(name);
      } else if (status === undefined)
        loadRun(workspace_id, row).catch((error) => isRefused(error) && handBack(name));
      else if (status !== "queued") handBack(name);
    }
  }, [edited, states, unsent, thread, workspace_id]);
  return edited;
}
