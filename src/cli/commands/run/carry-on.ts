import type { Run } from "../../../protocol/index.js";
import type { Session } from "../../session.js";
import { Approving, personHere, type Standing } from "./approving.js";
import type { RunFollower, RunWatcher } from "./follow.js";
import type { ShowRun } from "./show-run.js";

interface Watching {
  readonly shown: ShowRun;
  readonly standing: Standing;
  readonly json?: boolean | undefined;
}

/** Shows a run until it has ended, and answers what it asks. Fails when nobody can answer. */
export async function untilEnded(
  session: Session,
  following: RunFollower,
  run: Run,
  { shown, standing, json }: Watching,
): Promise<Run> {
  const here = personHere();
  const approving = new Approving({
    session,
    standing,
    person: json ? { ...here, present: false } : here,
    aside: (line) => shown.aside(line),
  });
  const watcher: RunWatcher = {
    delta: (delta) => shown.delta(delta),
    tool: (told) => shown.tool(told),
    connection: (state) => shown.connection(state),
    changed: (now) => {
      shown.changed(now);
      approving.changed(now);
    },
  };
  return Promise.race([following.ended(run, watcher), approving.stuck]);
}
