import { z } from "zod";
import { HeddleError, sha256 } from "../../base/index.js";
import { isStorableText } from "../../protocol/index.js";
import { type DelegationRow, delegations, threads } from "../../store/index.js";
import { defineTool, type ToolContext, type ToolDefinition, type ToolOutcome } from "../../tools/index.js";
import type { RunsDeps } from "../deps.js";
import { type Asked, askAgent } from "./ask.js";
import { type Caller, callerOf } from "./caller.js";
import { type DelegationResult, readResult } from "./result.js";
import { CALLED_BY_A_STEP } from "./resume-waits.js";
import { waitForRun } from "./wait.js";

const DEFAULT_SECONDS = 300;
const MOST_SECONDS = 24 * 3600;
const MOST_CHARS = 1_000_000;
/** The longest response and the longest thoughts, with what surrounds them, all of it escaped: six bytes for one. */
const MOST_OUTPUT_BYTES = 640 * 1024;

/** A refusal of the store would come only once a thread was made for it. */
const storable = (text: string) => isStorableText(text);
const NOT_STORABLE = "contains a NUL character or half a character";

const parameters = z.strictObject({
  agentId: z.string().min(1).max(128).describe("the agent to ask"),
  content: z
    .string()
    .min(1)
    .max(MOST_CHARS)
    .refine((text) => text.trim() !== "", "is empty")
    .refine(storable, NOT_STORABLE)
    .describe("the message, sent to it as a user's"),
  session: z
    .string()
    .min(1)
    .max(128)
    .refine(storable, NOT_STORABLE)
    .optional()
    .describe("`latest`, `create`, `latest-or-create` (default), or the id of one of its sessions"),
  mode: z
    .enum(["sync", "async"])
    .optional()
    .describe(
      "`sync` (default) waits for the answer; `async` returns at once, and the result comes back later",
    ),
  timeout: z
    .number()
    .positive()
    .max(MOST_SECONDS)
    .optional()
    .describe(
      `seconds to wait in sync mode; default ${DEFAULT_SECONDS}. It goes on after that, and its result comes back`,
    ),
});

type Args = z.output<typeof parameters>;

/** Hands work to another agent. A call that a killed gateway made is made again under the same key, and finds its run. */
export function agentsMessage(deps: () => RunsDeps): ToolDefinition {
  return defineTool({
    name: "agents_message",
    title: "Ask another agent",
    description:
      "Sends a message to another agent, which works on it with its own instructions and tools, and gives you its answer.",
    parameters,
    capabilities: ["agents.message"],
    safeToRepeat: true,
    mostOutputBytes: MOST_OUTPUT_BYTES,
    run: (args, context) => message(deps(), args, context),
  });
}

/** Copies of a project have threads of the same ids, whose calls have the same keys: each workspace has its own delegations. */
function delegationId(deps: RunsDeps, { call_key, workspace_id }: ToolContext): string {
  if (call_key === undefined) return deps.makeId("del_");
  return `${CALLED_BY_A_STEP}${sha256(`${workspace_id} ${call_key}`).slice(0, 24)}`;
}

async function message(deps: RunsDeps, args: Args, context: ToolContext): Promise<ToolOutcome> {
  const id = delegationId(deps, context);
  try {
    const caller = await callerOf(deps, context);
    if (!caller) return failure("agents_message needs a thread to come back to. Call it within one.");
    const asked =
      (await askedBefore(deps, id)) ?? (await ask(deps, caller, { ...args, signal: context.signal }, id));
    if ("refusal" in asked) return failure(asked.refusal);
    const { mode = "sync" } = args;
    return mode === "async" ? started(asked, args) : await answered(deps, asked, args, context);
  } catch (error) {
    if (!(error instanceof HeddleError)) throw error;
    return failure(error.message);
  }
}

function ask(deps: RunsDeps, caller: Caller, args: Args & { signal: AbortSignal }, id: string) {
  const { agentId, content, session = "latest-or-create", mode = "sync", signal } = args;
  return askAgent(deps, caller, { agentId, content, session, mode, signal }, id);
}

/** This very call was made before, by a gateway that is gone. */
async function askedBefore(deps: RunsDeps, id: string): Promise<Asked | undefined> {
  const found = await deps.store.read(function* () {
    const delegation = yield* delegations.findDelegation(id);
    if (!delegation) return undefined;
    const [thread] = yield* threads.findPlacedThreads(delegation.workspace_id, [delegation.thread_id]);
    return { delegation, sessionName: thread?.title ?? "" };
  });
  if (!found) return undefined;
  const { caller_thread_id, thread_id, mode } = found.delegation;
  const { workspace_id, created_at } = found.delegation;
  const over =
    mode === "sync"
      ? (deps.waits.resumed(id) ?? deps.waits.begin(workspace_id, caller_thread_id, thread_id))
      : undefined;
  return { ...found, at: created_at * 1000, over: over ?? (() => {}) };
}

function started({ delegation, sessionName }: Asked, { agentId }: Args): ToolOutcome {
  const place = placeOf(delegation, sessionName);
  return done({ mode: "async", status: "started", agentId, ...place, responseId: delegation.run_id });
}

async function answered(
  deps: RunsDeps,
  { delegation, sessionName, at, over }: Asked,
  { timeout = DEFAULT_SECONDS, agentId }: Args,
  { signal }: ToolContext,
): Promise<ToolOutcome> {
  try {
    const until = at + timeout * 1000;
    const row =
      delegation.mode === "async" ? undefined : await waitForRun(deps, delegation, { signal, until });
    if (row) return outcomeOf(await readResult(deps, delegation, row));
    return done({
      mode: "sync",
      status: "timeout",
      agentId,
      ...placeOf(delegation, sessionName),
      responseId: delegation.run_id,
      timeoutSeconds: timeout,
      message: `It had not ended after ${timeout} seconds. It goes on; its result will come back to you.`,
    });
  } finally {
    over();
  }
}

/** What came of a message, as the tool answers it. */
export function outcomeOf(result: DelegationResult): ToolOutcome {
  const { status, agentId, sessionId, sessionName, created, responseId } = result;
  if (status !== "complete") {
    return {
      status: "failed",
      output: JSON.stringify({ status, agentId, sessionId, responseId, message: result.message }),
    };
  }
  return done({
    mode: "sync",
    status,
    agentId,
    sessionId,
    sessionName,
    created,
    responseId,
    response: result.response,
    ...(result.truncated && { truncated: true }),
    durationMs: result.durationMs,
    toolCallCount: result.toolCallCount,
    ...(result.toolCalls.length > 0 && { toolCalls: result.toolCalls }),
    ...(result.thinkingText !== "" && { thinkingText: result.thinkingText }),
  });
}

function placeOf({ thread_id, thread_created }: DelegationRow, sessionName: string) {
  return { sessionId: thread_id, sessionName, created: thread_created === 1 };
}

function done(result: object): ToolOutcome {
  return { status: "completed", output: JSON.stringify(result) };
}

function failure(output: string): ToolOutcome {
  return { status: "failed", output };
}
