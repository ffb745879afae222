import type { NotificationParams, Run, Thread } from "../../../protocol/index.js";
import { cliError } from "../../errors.js";
import type { Session } from "../../session.js";

export type Delta = NotificationParams<"run/delta">;
export type ToolTold = NotificationParams<"run/tool">;

/** Whoever is told what happens in a run. */
export interface RunWatcher {
  delta(delta: Delta): void;
  tool(told: ToolTold): void;
  /** Its status is another now. */
  changed(run: Run): void;
  /** The connection to the gateway is gone, or back. */
  connection(state: "lost" | "back"): void;
}

export interface RunFollower {
  /** Tells what happens in a run until it has ended. Answers the run as it is then. */
  ended(run: Run, watcher: RunWatcher): Promise<Run>;
}

/** How long a gateway may be away: one that is started anew is back within that. */
export const AWAY_MS = 10_000;

/** Listens before the run is asked for: its first words may come before the answer that names it. */
export async function followThread(
  session: Session,
  { id: thread_id, workspace_id }: Thread,
): Promise<RunFollower> {
  const { client, call } = session;
  const early: ((watcher: RunWatcher, run_id: string) => void)[] = [];
  let hear: (note: (typeof early)[number]) => void = (note) => {
    early.push(note);
  };
  client.on("run/delta", (told) => hear((to, run_id) => told.run_id === run_id && to.delta(told)));
  client.on("run/tool", (told) => hear((to, run_id) => told.run_id === run_id && to.tool(told)));
  client.on("run/changed", ({ run }) => hear((to, run_id) => run.id === run_id && to.changed(run)));
  await call("subscribe", { workspace_id, thread_id });
  return {
    ended: (run, watcher) =>
      new Promise((resolve, reject) => {
        const changed = (now: Run) => {
          watcher.changed(now);
          if (hasEnded(now)) resolve(now);
        };
        const watching = { ...boundTo(watcher), changed };
        hear = (note) => note(watching, run.id);
        watchConnection(session, { run, watcher, changed, reject });
        for (const note of early.splice(0)) hear(note);
        changed(run);
      }),
  };
}

export function hasEnded({ status }: Run): boolean {
  return ["completed", "failed", "cancelled", "interrupted"].includes(status);
}

function boundTo(watcher: RunWatcher): RunWatcher {
  return {
    delta: (delta) => watcher.delta(delta),
    tool: (told) => watcher.tool(told),
    changed: (run) => watcher.changed(run),
    connection: (state) => watcher.connection(state),
  };
}

interface Watched {
  readonly run: Run;
  readonly watcher: RunWatcher;
  readonly changed: (run: Run) => void;
  readonly reject: (error: Error) => void;
}

/** The run may have ended while nobody could tell: after each loss it is looked at again. */
function watchConnection({ client, call }: Session, { run, watcher, changed, reject }: Watched): void {
  const { id: run_id, workspace_id, thread_id } = run;
  const lost = () => reject(unseen({ run_id, thread_id }));
  const look = () => {
    call("run/get", { workspace_id, run_id }).then(
      ({ run }) => changed(run),
      (error) => error.name === "CallError" && reject(error),
    );
  };
  let away: NodeJS.Timeout | undefined;
  client.onResync(look);
  client.onState((state) => {
    if (state === "closed") return lost();
    if (state === "connecting") {
      away ??= setTimeout(lost, AWAY_MS).unref();
      return watcher.connection("lost");
    }
    clearTimeout(away);
    away = undefined;
    watcher.connection("back");
    look();
  });
}

function unseen(ids: { run_id: string; thread_id: string }) {
  return cliError(
    { kind: "run.unseen", ...ids },
    `The connection to the gateway was lost before the run ended. It may have gone on without you: \`heddle threads messages ${ids.thread_id}\` shows what was said.`,
  );
}
