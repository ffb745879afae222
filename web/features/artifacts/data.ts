import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { isRefused } from "../../state/errors.js";
import { queries } from "../../state/queries.js";
import { useTree } from "../../state/tree.js";
import {
  type Item,
  type List,
  type Named,
  type Note,
  readList,
  readNames,
  readNote,
  readView,
  ToolRefused,
  type View,
} from "./tools.js";

const retry = (count: number, error: unknown) =>
  count < 2 && !(error instanceof ToolRefused) && !isRefused(error);

/** All begin with `artifacts` and the workspace: a change that is told of makes them be read again. */
const keyOf = (ws: string | undefined, what: string, id = "") => ["artifacts", ws, what, id];

function useArtifact<T>(
  what: string,
  id: string,
  read: (id: string, ws: string | undefined) => Promise<T>,
): UseQueryResult<T> {
  const ws = useTree((tree) => tree.ws);
  return useQuery<T>({
    queryKey: keyOf(ws, what, id),
    queryFn: () => read(id, ws),
    enabled: ws !== undefined,
    retry,
  });
}

export const useList = (id: string): UseQueryResult<List> => useArtifact("list", id, readList);
export const useNote = (id: string): UseQueryResult<Note> => useArtifact("note", id, readNote);
export const useView = (id: string): UseQueryResult<View> => useArtifact("view", id, readView);

export function useNames(): UseQueryResult<readonly Named[]> {
  return useArtifact("names", "", (_, ws) => readNames(ws));
}

/** Names that were read, for a menu that opens now. */
export function knownNames(): readonly Named[] {
  return queries.getQueryData<readonly Named[]>(keyOf(useTree.getState().ws, "names")) ?? [];
}

/** Shows a change of items before the gateway has said so. What it says then stands. */
export function showItems(change: (items: readonly Item[]) => readonly Item[]): void {
  const ws = useTree.getState().ws;
  for (const what of ["list", "view"]) {
    queries.setQueriesData<{ items: readonly Item[] }>({ queryKey: ["artifacts", ws, what] }, (known) =>
      known ? { ...known, items: change(known.items) } : known,
    );
  }
}

export function showNote(note: Note, ws: string): void {
  queries.setQueryData(keyOf(ws, "note", note.id), note);
}

/** Reads again what a change that failed may have shown. */
export function readAgain(): Promise<void> {
  return queries.invalidateQueries({ queryKey: ["artifacts", useTree.getState().ws] });
}

/** Why it can't be shown. What was read stays when the gateway does not answer, and not when it says that it is gone. */
export function problemIn({ data, error }: Pick<UseQueryResult<unknown>, "data" | "error">): unknown {
  return error instanceof ToolRefused || data === undefined ? (error ?? undefined) : undefined;
}
