import type { NotificationParams, Thread } from "../../../protocol/index.js";
import { cliError } from "../../errors.js";
import { oneLine } from "../../message-text.js";
import type { WorkspaceOptions } from "../../options.js";
import { note, paintErr } from "../../output.js";
import { progressLine } from "../../progress.js";
import type { Session } from "../../session.js";

type Told = NotificationParams<"thread/setup">;

export interface SetupFollower {
  /** Waits for the end of a thread's set-up and shows its steps meanwhile. Answers the thread as it is then. */
  ended(thread_id: string): Promise<Thread>;
}

/** Listens before the thread is made: the first steps may be told before the thread is. */
export async function followSetup(
  { client, call }: Session,
  workspace_id: string,
  { json }: WorkspaceOptions,
): Promise<SetupFollower> {
  const early: Told[] = [];
  let hear = (told: Told) => void early.push(told);
  client.on("thread/setup", (told) => hear(told));
  await call("subscribe", { workspace_id });
  return {
    async ended(thread_id) {
      const progress = progressLine({ json: json === true });
      const tell = stepTeller(progress.show, { json: json === true });
      try {
        await new Promise<void>((resolve, reject) => {
          hear = (told) => {
            if (told.thread_id !== thread_id) return;
            if (told.status === "running") tell(told);
            else resolve();
          };
          client.onState((state) => state === "closed" && reject(lost(thread_id)));
          // What was missed for good may have been the end.
          client.onResync(
            () =>
              void call("thread/get", { workspace_id, thread_id }).then(({ thread }) => {
                if (thread.setup?.status !== "running") resolve();
              }, reject),
          );
          for (const told of early.splice(0)) hear(told);
        });
      } finally {
        progress.end();
      }
      return (await call("thread/get", { workspace_id, thread_id })).thread;
    },
  };
}

/** On a terminal the present step with the last thing it printed; in a pipe a line for each step. */
function stepTeller(show: (text: string) => void, { json }: { json: boolean }): (told: Told) => void {
  let last = 0;
  return ({ step, of, label = "", output = "", reason }) => {
    if (step === undefined) return;
    const skipped = reason === "skipped" ? "  skipped" : "";
    const heading = `set-up ${step} of ${of}: ${oneLine(label)}${skipped}`;
    const said = output.trimEnd().split("\n").at(-1) ?? "";
    if (json) return;
    if (process.stderr.isTTY === true) show(said === "" ? heading : `${heading}  ${oneLine(said)}`);
    else if (step !== last) note(paintErr.dim(heading));
    last = step;
  };
}

function lost(thread_id: string) {
  return cliError(
    { kind: "setup.unseen", thread_id },
    `The thread ${thread_id} was started, but the connection to its gateway was lost before its set-up ended. \`heddle threads show ${thread_id}\` tells how it went.`,
  );
}
