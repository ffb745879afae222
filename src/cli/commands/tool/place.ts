import type { Session } from "../../session.js";
import { onThread } from "../thread/of-thread.js";
import type { ToolOptions } from "./options.js";

export interface ToolPlace {
  readonly workspace_id: string;
  readonly thread_id?: string;
}

/** Where a tool is called: in a thread, within its agent's scope; else in the workspace, as the person. */
export async function toolPlace(session: Session, options: ToolOptions): Promise<ToolPlace> {
  const within = options.thread === undefined ? threadOfEnvironment(options) : undefined;
  if (within) return within;
  const thread_id = options.thread ?? threadNamed(options);
  if (thread_id === undefined) return { workspace_id: (await session.workspace()).id };
  return onThread(session, thread_id, async (named) => {
    const { thread } = await session.call("thread/get", named);
    return { workspace_id: thread.workspace_id, thread_id: thread.id };
  });
}

/** Known to the last: a token of a thread lets nobody look up the rest. */
function threadOfEnvironment(options: ToolOptions): ToolPlace | undefined {
  const workspace_id = process.env.HEDDLE_WORKSPACE;
  const thread_id = threadNamed(options);
  if (!workspace_id || thread_id === undefined || options.workspace !== undefined) return undefined;
  return { workspace_id, thread_id };
}

/** The variable belongs to the gateway of the environment: a flag that names another one leaves it behind. */
function threadNamed({ url, data }: ToolOptions): string | undefined {
  const { HEDDLE_URL, HEDDLE_THREAD } = process.env;
  return url === undefined && data === undefined && HEDDLE_URL && HEDDLE_THREAD ? HEDDLE_THREAD : undefined;
}
