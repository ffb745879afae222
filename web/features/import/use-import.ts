import { useEffect, useRef, useState } from "react";
import type { Result } from "../../../src/protocol/index.js";
import { type Problem, problemOf } from "../../state/errors.js";
import { call, client } from "../../state/gateway.js";
import { readWorkspacesAgain } from "../../state/workspaces.js";

export type Source = Result<"import/sources">["data"][number];
type Imported = Result<"thread/import">["data"][number];

export interface Taken {
  readonly data: readonly Imported[];
  readonly notRead: readonly { readonly path: string; readonly reason: string }[];
}

export interface Progress {
  readonly name: string;
  readonly done: number;
  readonly total: number;
  readonly title: string | undefined;
}

export type Phase =
  | { readonly at: "looking" }
  | { readonly at: "choosing"; readonly sources: readonly Source[] }
  | { readonly at: "importing"; readonly progress: Progress | undefined }
  | { readonly at: "done"; readonly taken: Taken; readonly problem?: Problem | undefined }
  | { readonly at: "failed"; readonly problem: Problem };

/** Sessions a call takes: a window that is closed, or a connection that is lost, ends the import after these. */
const STEP = 50;
const STEP_MS = 10 * 60 * 1000;

/** What other tools have on the gateway's machine, and taking it in. */
export function useImport(ws: string) {
  const [phase, setPhase] = useState<Phase>({ at: "looking" });
  const gone = useRef(false);
  useEffect(() => {
    gone.current = false;
    const show = (next: Phase) => !gone.current && setPhase(next);
    call("import/sources", { workspace_id: ws }).then(
      ({ data }) => show({ at: "choosing", sources: data }),
      (error) => show({ at: "failed", problem: problemOf(error) }),
    );
    return () => {
      gone.current = true;
    };
  }, [ws]);
  useEffect(
    () =>
      client.on("import/progress", ({ workspace_id, done, total, title }) => {
        if (workspace_id !== ws) return;
        setPhase((phase) => {
          if (phase.at !== "importing" || !phase.progress) return phase;
          return { ...phase, progress: { ...phase.progress, done, total, title } };
        });
      }),
    [ws],
  );
  const begin = async (chosen: readonly Source[], all: boolean) => {
    const data: Imported[] = [];
    const notRead: Taken["notRead"][number][] = [];
    let problem: Problem | undefined;
    for (const { tool, name, threads, elsewhere } of chosen) {
      const total = threads + (all ? elsewhere : 0);
      setPhase({ at: "importing", progress: { name, done: 0, total, title: undefined } });
      const given = { workspace_id: ws, from: tool, all, limit: STEP };
      const failed = await takeAll(given, { data, notRead, gone }).catch(problemOf);
      problem ??= failed ?? undefined;
      if (problem || gone.current) break;
    }
    // Whoever closed the dialog meanwhile has the workspaces that were made all the same.
    await readWorkspacesAgain();
    if (!gone.current) setPhase({ at: "done", taken: { data, notRead }, problem });
  };
  return { phase, begin };
}

interface Taking {
  readonly data: Imported[];
  readonly notRead: Taken["notRead"][number][];
  readonly gone: { readonly current: boolean };
}

async function takeAll(
  given: { workspace_id: string; from: Source["tool"]; all: boolean; limit: number },
  { data, notRead, gone }: Taking,
): Promise<undefined> {
  let cursor: string | undefined;
  let unread: Taking["notRead"] = [];
  do {
    const answer = await client.call("thread/import", { ...given, cursor }, { timeoutMs: STEP_MS });
    data.push(...answer.data);
    unread = answer.not_read ?? [];
    cursor = answer.next_cursor;
  } while (cursor !== undefined && !gone.current);
  notRead.push(...unread);
  return undefined;
}
