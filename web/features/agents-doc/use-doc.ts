import { useEffect, useMemo } from "react";
import { useStore } from "zustand";
import { DocSession, type Held } from "./doc-session.js";

const sessions = new Map<string, DocSession>();

function sessionOf(ws: string, folder: string | undefined): DocSession {
  const key = `${ws} ${folder ?? ""}`;
  const known = sessions.get(key);
  if (known && !known.closed) return known;
  const made = new DocSession(ws, folder);
  sessions.set(key, made);
  return made;
}

/** The document of a scope, as this window has it open. */
export function useDoc(ws: string, folder: string | undefined): { session: DocSession; held: Held } {
  const session = useMemo(() => sessionOf(ws, folder), [ws, folder]);
  useEffect(() => session.retain(), [session]);
  return { session, held: useStore(session.store) };
}
