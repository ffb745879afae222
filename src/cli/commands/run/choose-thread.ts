import type { Thread } from "../../../protocol/index.js";
import { cliError, UsageError } from "../../errors.js";
import { Folders } from "../../folder-path.js";
import { NO_HURRY, type Session } from "../../session.js";
import { onThread } from "../thread/of-thread.js";

export interface ThreadChoice {
  readonly thread?: string;
  readonly continue?: boolean;
  readonly new?: boolean;
  readonly agent?: string;
  readonly folder?: string;
}

export interface ChosenThread {
  readonly thread: Thread;
  /** It was made for this message. */
  readonly made: boolean;
}

/** What can't be meant is told before anything is read or made. */
export function assertChoice({ thread, continue: last, new: fresh, agent, folder }: ThreadChoice): void {
  const ways = [thread !== undefined && "--thread", last && "--continue", fresh && "--new"].filter(Boolean);
  if (ways.length > 1) throw new UsageError(`${ways.join(" and ")} exclude each other`);
  if (thread !== undefined && agent !== undefined)
    throw new UsageError("--agent is for a new thread, or with --continue: a thread keeps its agent");
  if (folder !== undefined && (thread !== undefined || last))
    throw new UsageError("--folder is for a new thread: `heddle threads move` moves one that is there");
}

/** A thread of an agent that is not there would be answered by another one: no name on a command line means that. */
export async function assertAgent(
  { call }: Session,
  workspace_id: string,
  agent_id: string | undefined,
): Promise<void> {
  if (agent_id !== undefined) await call("agent/get", { workspace_id, agent_id });
}

/** The thread that was named, the one to go on with, or a new one. */
export async function chooseThread(session: Session, choice: ThreadChoice): Promise<ChosenThread> {
  const { thread: id } = choice;
  if (id !== undefined) {
    const { thread } = await onThread(session, id, (named) => session.call("thread/get", named));
    return { thread, made: false };
  }
  const workspace_id = (await session.workspace()).id;
  await assertAgent(session, workspace_id, choice.agent);
  if (choice.continue) return { thread: await latest(session, workspace_id, choice), made: false };
  return { thread: await start(session, workspace_id, choice), made: true };
}

const LOOKED_AT = 50;

/** The most recently updated thread that can be written to. */
async function latest({ call }: Session, workspace_id: string, { agent }: ThreadChoice): Promise<Thread> {
  const of = agent === undefined ? {} : { agent_id: agent };
  const { data } = await call("thread/list", { workspace_id, limit: LOOKED_AT, ...of });
  const found = data.find(({ read_only }) => read_only === undefined);
  if (found) return found;
  throw cliError(
    { kind: "thread.none", ...of },
    `There is no thread${agent === undefined ? "" : ` of ${agent}`} to go on with in this workspace. Without --continue a new one is started.`,
  );
}

async function start(
  { call }: Session,
  workspace_id: string,
  { agent, folder }: ThreadChoice,
): Promise<Thread> {
  const found =
    folder === undefined
      ? undefined
      : new Folders((await call("thread/tree", { workspace_id })).folders).find(folder);
  const params = {
    workspace_id,
    ...(agent !== undefined && { agent_id: agent }),
    ...(found && { folder_id: found.id }),
  };
  return (await call("thread/start", params, NO_HURRY)).thread;
}
