import { Funnel, ListChecks, type LucideIcon, NotebookPen } from "lucide-react";
import { useEffect, useRef } from "react";
import { create } from "zustand";
import { type ArtifactKind, closePanel, openPanel, type Panel, renamePanel } from "../../state/panels.js";
import { toastProblem, toastUndo } from "../../state/toasts.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import { commandTool, type Named, openWorkspace } from "./tools.js";

export const ICONS: Readonly<Record<ArtifactKind, LucideIcon>> = {
  list: ListChecks,
  note: NotebookPen,
  view: Funnel,
};

/** The panel whose name is being written. */
export const useRenaming = create<Renaming>()(() => ({ id: undefined }));

interface Renaming {
  readonly id: string | undefined;
  /** It was just made: with its name it is not done yet. */
  readonly fresh?: boolean | undefined;
  /** The list or note that was just named: now it is to be written in. */
  readonly named?: string | undefined;
}

export function startRenaming(id: string | undefined, fresh = false): void {
  useRenaming.setState({ id, fresh });
}

/** Calls `begin` once this list or note, which was just made, has its name. */
export function useJustNamed(artifact: string, begin: () => void): void {
  const named = useRenaming((state) => state.named === artifact);
  const latest = useRef(begin);
  useEffect(() => {
    latest.current = begin;
    if (!named) return;
    useRenaming.setState({ named: undefined });
    latest.current();
  });
}

/** What each is called where something is called by it. */
const NAME_KEY = { list: "name", note: "title", view: "name" } as const;

const FRESH = {
  list: { name: "New list" },
  note: { title: "New note", content: "" },
  view: { name: "New view", query: "done:false" },
};

export function openNamed({ kind, id, name, query }: Named): string {
  return openPanel({ kind, artifact: id, name, query });
}

/** Makes one, opens it and asks for its name. */
export async function createArtifact(kind: ArtifactKind): Promise<void> {
  const ws = openWorkspace();
  try {
    const { id, ...made } = await commandTool<{ id: string; name?: string; title?: string; query?: string }>(
      `${kind}s_create`,
      FRESH[kind],
      ws,
    );
    if (openWorkspace() !== ws) return;
    const name = made.name ?? made.title ?? "";
    startRenaming(openPanel({ kind, artifact: id, name, query: made.query }), true);
  } catch (error) {
    toastProblem(error);
  }
}

/** Whether it has the new name: if not, what was typed stays. */
export async function renameArtifact(panel: Panel, name: string): Promise<boolean> {
  const ws = openWorkspace();
  try {
    await giveName(panel, name, ws);
    toastUndo(`Renamed to “${visibleExactly(name)}”`, () => giveName(panel, panel.name, ws));
    return true;
  } catch (error) {
    toastProblem(error);
    return false;
  }
}

async function giveName(
  { id, kind, artifact, query }: Panel,
  name: string,
  ws: ReturnType<typeof openWorkspace>,
): Promise<void> {
  await commandTool(`${kind}s_update`, { [kind]: artifact, [NAME_KEY[kind]]: name }, ws);
  if (openWorkspace() === ws) renamePanel(id, name, query);
}

export async function deleteArtifact({ id, kind, artifact, name }: Panel): Promise<void> {
  const ws = openWorkspace();
  try {
    await commandTool(`${kind}s_delete`, { [kind]: artifact }, ws);
    const reopen = openWorkspace() === ws ? closePanel(id) : () => {};
    toastUndo(`Deleted “${name}”`, async () => {
      await restoreArtifact(kind, artifact, ws);
      if (openWorkspace() === ws) reopen();
    });
  } catch (error) {
    toastProblem(error);
  }
}

export function restoreArtifact(kind: ArtifactKind, artifact: string, ws?: string): Promise<unknown> {
  return commandTool(`${kind}s_restore`, { [kind === "list" ? "id" : kind]: artifact }, ws);
}
