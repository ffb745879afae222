import { randomUUID } from "node:crypto";
import type { z } from "zod";
import { plainWords } from "../../base/index.js";
import { type MethodName, methods, type RpcError } from "../../protocol/index.js";
import type { Call } from "../../tree/index.js";
import type { Limits } from "../limits.js";
import type { Log } from "../log.js";
import type { Metrics } from "../metrics.js";
import { gatewayError, internalError, knownError, type ParamIssue } from "./errors.js";
import type { Handlers } from "./handler.js";
import { type Message, type Parsed, parseMessage, type RpcRequest } from "./message.js";
import type { Exchange, Peer } from "./peer.js";
import { withinThread } from "./within-thread.js";

export interface DispatchDeps {
  readonly handlers: Handlers;
  readonly limits: Limits;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly stopping: () => boolean;
  readonly exists: (workspace_id: string) => Promise<boolean>;
  /** Resolves when what other programs did to a workspace's files is known. */
  readonly opened: (workspace_id: string) => Promise<void>;
}

/** Carries a message out. Answers the text to send back; undefined when there is nothing to answer. */
export async function dispatch(
  deps: DispatchDeps,
  text: string,
  peer: Peer,
  exchange: Exchange,
): Promise<string | undefined> {
  const { batch, members } = deps.stopping() ? refuseAll(deps, text) : parseMessage(text, deps.limits);
  if (!batch) return answerMember(deps, members[0] as Parsed, peer, exchange);
  const answers: string[] = [];
  let size = 0;
  // One after the other, so that a batch reads like a script: what it creates first, it can use next.
  for (const member of members) {
    const full = size > deps.limits.batchAnswer;
    const answer = await answerMember(deps, full ? notCarriedOut(member) : member, peer, exchange);
    if (answer === undefined) continue;
    answers.push(answer);
    size += answer.length;
  }
  return answers.length > 0 ? `[${answers.join(",")}]` : undefined;
}

/** Answers of a few words can be larger than a process can hold: the rest of such a batch has to be asked again. */
function notCarriedOut(member: Parsed): Parsed {
  if (!("request" in member)) return member;
  const error = gatewayError(
    { kind: "overloaded", retry_after_ms: 0 },
    "The answers to this batch are too large for one message. This request was not carried out: send it again.",
  );
  return { id: member.request.id, error };
}

/** What came in before the gateway began to stop is finished; what comes after is refused whole. */
function refuseAll({ limits }: DispatchDeps, text: string): Message {
  const { batch, members } = parseMessage(text, limits);
  const error = gatewayError({ kind: "stopping" }, "The gateway is stopping. Try again in a moment.");
  return {
    batch,
    members: members.map((member) => ("request" in member ? { id: member.request.id, error } : member)),
  };
}

async function answerMember(
  deps: DispatchDeps,
  member: Parsed,
  peer: Peer,
  exchange: Exchange,
): Promise<string | undefined> {
  if ("error" in member) {
    return member.id === undefined ? undefined : errorText(member.id, knownError(member.error) as RpcError);
  }
  const { id, method } = member.request;
  const started = performance.now();
  try {
    const result = await execute(deps, member.request, peer, exchange);
    deps.metrics.called(method, "ok", performance.now() - started);
    if (id === undefined) return undefined;
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(result)}}`;
  } catch (error) {
    const answer = knownError(error, method) ?? unforeseen(deps.log, error, method);
    deps.metrics.called(
      Object.hasOwn(methods, method) ? method : "unknown",
      answer.data.kind,
      performance.now() - started,
    );
    return id === undefined ? undefined : errorText(id, answer);
  }
}

/** Carries out one request, checked and within the limits of whoever asks. */
export async function execute(
  deps: DispatchDeps,
  { method, params }: RpcRequest,
  peer: Peer,
  exchange: Exchange,
): Promise<unknown> {
  const { handlers, limits, metrics } = deps;
  if (!Object.hasOwn(methods, method)) {
    const message = `There is no method ${JSON.stringify(method.slice(0, 100))}.`;
    throw gatewayError({ kind: "unknown_method", method: method.slice(0, 100) }, message);
  }
  if (peer.inFlight >= limits.inFlight || !peer.rate.take()) {
    throw gatewayError(
      { kind: "overloaded", retry_after_ms: 100 },
      "Too many requests at once. Wait a moment and try again.",
    );
  }
  const name = method as MethodName;
  const parsed = parseParams(name, peer.bound ? withinThread(peer.bound, name, params) : params);
  const call: Call = { origin: exchange, actor: peer.client };
  peer.inFlight++;
  metrics.inFlight++;
  try {
    const followed = { workspace_id: workspaceOf(name, parsed), subscriptions: peer.subscriptions };
    return await withImplicitSubscription(deps, followed, async () => {
      if (followed.workspace_id !== undefined && showsThreads(name)) await deps.opened(followed.workspace_id);
      return (handlers[name] as Handler)(parsed, { call, peer, exchange });
    });
  } finally {
    peer.inFlight--;
    metrics.inFlight--;
  }
}

type Handler = (params: unknown, context: { call: Call; peer: Peer; exchange: Exchange }) => unknown;

/** What these answer comes from files that other programs write too. */
function showsThreads(method: MethodName): boolean {
  return (
    method.startsWith("message/") ||
    method === "run/list" ||
    (method.startsWith("thread/") && !/^thread\/(start$|folder\/|agents_doc\/)/.test(method))
  );
}

/** A connection that works in a workspace hears of it from then on, its own change included. */
async function withImplicitSubscription(
  { exists }: DispatchDeps,
  { workspace_id, subscriptions }: { workspace_id: string | undefined; subscriptions: Peer["subscriptions"] },
  run: () => unknown,
): Promise<unknown> {
  const added = workspace_id !== undefined && subscriptions?.follow(workspace_id);
  try {
    return await run();
  } catch (error) {
    // Whatever it failed of: following what does not exist would use up the connection's share.
    if (added && !(await exists(workspace_id).catch(() => false))) subscriptions?.unfollow(workspace_id);
    throw error;
  }
}

/** The workspace a call works in; `subscribe` and `unsubscribe` say themselves what is followed. */
function workspaceOf(method: MethodName, params: unknown): string | undefined {
  if (method === "subscribe" || method === "unsubscribe") return undefined;
  return (params as { workspace_id?: string }).workspace_id;
}

const MAX_ISSUES = 10;
const MAX_KEY = 100;

function parseParams(method: MethodName, params: unknown): unknown {
  const parsed = methods[method].params.safeParse(params ?? {}, { error: plainWords });
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, MAX_ISSUES).map(toIssue);
  const kind = parsed.error.issues.some(isTextIssue) ? "invalid_text" : "invalid_params";
  const told = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  throw gatewayError({ kind, issues }, `Invalid params: ${told}`);
}

function toIssue(issue: z.core.$ZodIssue): ParamIssue {
  // A key can be as long as a message: told whole, it would come back twice as large.
  return { path: issue.path.map((part) => String(part).slice(0, MAX_KEY)).join("."), message: issue.message };
}

function isTextIssue(issue: z.core.$ZodIssue): boolean {
  return issue.code === "custom" && issue.params?.kind === "invalid_text";
}

function unforeseen(log: Log, error: unknown, method: string): RpcError {
  const reference = randomUUID();
  log.error({ err: error, reference, method }, "a request failed");
  return internalError(reference, method);
}

function errorText(id: string | number | null, error: RpcError): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error });
}
