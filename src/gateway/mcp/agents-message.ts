import { z } from "zod";
import type { Thread } from "../../protocol/index.js";
import { inChosenThread, outcomeOf, readResult } from "../../runs/index.js";
import { runEnd } from "../inside/run-end.js";
import { gatewayError } from "../rpc/errors.js";
import {
  answered,
  type ClientContext,
  type ClientOutcome,
  defineClientTool,
  workspaceArgument,
} from "./client-tool.js";

const DEFAULT_SECONDS = 300;
const MOST_SECONDS = 24 * 3600;
const MOST_CHARS = 1_000_000;

const parameters = z.strictObject({
  agentId: z.string().min(1).max(128).describe("the agent to ask; agents_list names them"),
  content: z.string().min(1).max(MOST_CHARS).describe("the message, sent to it as a user's"),
  session: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe("`latest`, `create`, `latest-or-create` (default), or the id of one of its threads"),
  mode: z
    .enum(["sync", "async"])
    .optional()
    .describe("`sync` (default) waits for the answer; `async` returns at once: read the thread later"),
  timeout: z
    .number()
    .positive()
    .max(MOST_SECONDS)
    .optional()
    .describe(`seconds to wait in sync mode; default ${DEFAULT_SECONDS}. The agent goes on after that`),
  timeoutSeconds: z.number().positive().max(MOST_SECONDS).optional().describe("the same as `timeout`"),
  workspace: workspaceArgument,
});

type Args = z.output<typeof parameters>;

/** A message of somebody outside: recorded as a thread and run like any other. */
export const agentsMessage = defineClientTool({
  name: "agents_message",
  title: "Ask an agent",
  description:
    "Sends a message to an agent, which works on it with its own instructions and tools in a thread of its own, and gives you its answer.",
  parameters,
  readOnly: false,
  async run(args, context) {
    const { agentId, content, session = "latest-or-create", mode = "sync" } = args;
    const { id: workspace_id } = await context.workspace(args.workspace);
    await requireVisible(context, workspace_id, agentId);
    const wanted = { workspace_id, agent_id: agentId, session };
    const { thread, created, run_id } = await start(context, wanted, content);
    const place = { agentId, sessionId: thread.id, sessionName: thread.title, created, responseId: run_id };
    if (mode === "async") return answered({ mode, status: "started", ...place });
    return waitFor(context, place, args.timeout ?? args.timeoutSeconds ?? DEFAULT_SECONDS);
  },
});

/** One that is hidden is asked by nobody, and nobody learns that it is there. */
async function requireVisible({ deps }: ClientContext, workspace_id: string, agentId: string): Promise<void> {
  const { agents } = deps.domain;
  await agents.looked;
  const known = agents.in(workspace_id).list();
  if (known.some(({ agent_id }) => agent_id === agentId)) return;
  const message = `There is no agent ${agentId}. Known are: ${known.map(({ agent_id }) => agent_id).join(", ")}.`;
  throw gatewayError({ kind: "invalid_params", issues: [{ path: "agentId", message }] }, message);
}

/** What can't be asked leaves no thread behind. */
async function start(
  { deps, call, signal }: ClientContext,
  wanted: { workspace_id: string; agent_id: string; session: string },
  content: string,
): Promise<{ thread: Thread; created: boolean; run_id: string }> {
  const { workspace_id } = wanted;
  await deps.opened(workspace_id);
  signal.throwIfAborted();
  return inChosenThread(deps.domain, wanted, {}, async ({ thread, created }) => {
    if (created) deps.domain.watching.began(thread);
    signal.throwIfAborted();
    const { run } = await call("run/start", { workspace_id, thread_id: thread.id, content });
    return { thread, created, run_id: run.id };
  });
}

interface Place {
  readonly agentId: Args["agentId"];
  readonly sessionId: string;
  readonly sessionName: string;
  readonly created: boolean;
  readonly responseId: string;
}

/** Whoever leaves takes along what it waits for; whose time is up does not. */
async function waitFor(
  { deps, call, signal }: ClientContext,
  place: Place,
  timeoutSeconds: number,
): Promise<ClientOutcome> {
  const late = AbortSignal.timeout(timeoutSeconds * 1000);
  const row = await runEnd(deps.domain, place.responseId, AbortSignal.any([signal, late]));
  if (row) {
    const result = await readResult(deps.domain, { thread_created: Number(place.created) }, row);
    const { status, output } = outcomeOf(result);
    return { text: output, failed: status === "failed" };
  }
  if (signal.aborted) {
    await call("run/cancel", { run_id: place.responseId });
    return { text: "The call was cancelled, and the agent's run with it.", failed: true };
  }
  const message = `It had not ended after ${timeoutSeconds} seconds. It goes on: read its answer later with threads_read.`;
  return answered({ mode: "sync", status: "timeout", ...place, timeoutSeconds, message });
}
