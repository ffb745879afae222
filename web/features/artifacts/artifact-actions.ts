import { Funnel, ListChecks, type LucideIcon, NotebookPen } from "lucide-react";
import { create } from "zustand";
import { type ArtifactKind, closePanel, openPanel, type Panel, renamePanel } from "../../state/panels.js";
import { toastProblem, toastUndo } from "../../state/toasts.js";
import { callTool, type Named } from "./tools.js";

export const ICONS: Readonly<Record<ArtifactKind, LucideIcon>> = {
  list: ListChecks,
  note: NotebookPen,
  view: Funnel,
};

/** The panel whose name is being written. */
export const useRenaming = create<{ readonly id: string | undefined }>()(() => ({ id: undefined }));

export function startRenaming(id: string | undefined): void {
  useRenaming.setState({ id });
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
  try {
    const { id, ...made } = await callTool<{ id: string; name?: string; title?: string; query?: string }>(
      `${kind}s_create`,
      FRESH[kind],
    );
    const name = made.name ?? made.title ?? "";
    startRenaming(openPanel({ kind, artifact: id, name, query: made.query }));
  } catch (error) {
    toastProblem(error);
  }
}

/** Whether it has the new name: if not, what was typed stays. */
export async function renameArtifact({ id, kind, artifact, query }: Panel, name: string): Promise<boolean> {
  try {
    await callTool(`${kind}s_update`, { [kind]: artifact, [NAME_KEY[kind]]: name });
    renamePanel(id, name, query);
    return true;
  } catch (error) {
    toastProblem(error);
    return false;
  }
}

export async function deleteArtifact({ id, kind, artifact, name }: Panel): Promise<void> {
  try {
    await callTool(`${kind}s_delete`, { [kind]: artifact });
    const reopen = closePanel(id);
    toastUndo(`Deleted “${name}”`, async () => {
      await restoreArtifact(kind, artifact);
      reopen();
    });
  } catch (error) {
    toastProblem(error);
  }
}

export function restoreArtifact(kind: ArtifactKind, artifact: string): Promise<unknown> {
  return callTool(`${kind}s_restore`, { [kind === "list" ? "id" : kind]: artifact });
}
