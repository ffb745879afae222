import { randomUUID } from "node:crypto";
import type { z } from "zod";
import { isKind } from "../../base/index.js";
import { type MethodName, methods, type RpcError } from "../../protocol/index.js";
import type { Call } from "../../tree/index.js";
import type { Limits } from "../limits.js";
import type { Log } from "../log.js";
import type { Metrics } from "../metrics.js";
import { gatewayError, internalError, knownError, type ParamIssue } from "./errors.js";
import type { Handlers } from "./handlers.js";
import { type Message, type Parsed, parseMessage, type RpcRequest } from "./message.js";
import type { Exchange, Peer } from "./peer.js";

export interface DispatchDeps {
  readonly handlers: Handlers;
  readonly limits: Limits;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly stopping: () => boolean;
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
  // One after the other, so that a batch reads like a script: what it creates first, it can use next.
  for (const member of members) {
    const answer = await answerMember(deps, member, peer, exchange);
    if (answer !== undefined) answers.push(answer);
  }
  return answers.length > 0 ? `[${answers.join(",")}]` : undefined;
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

async function execute(
  { handlers, limits, metrics }: DispatchDeps,
  { method, params }: RpcRequest,
  peer: Peer,
  exchange: Exchange,
): Promise<unknown> {
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
  const parsed = parseParams(name, params);
  const call: Call = { origin: exchange, actor: peer.client };
  peer.inFlight++;
  metrics.inFlight++;
  try {
    return await withImplicitSubscription(name, parsed, peer, () =>
      (handlers[name] as Handler)(parsed, { call, peer, exchange }),
    );
  } finally {
    peer.inFlight--;
    metrics.inFlight--;
  }
}

type Handler = (params: unknown, context: { call: Call; peer: Peer; exchange: Exchange }) => unknown;

/** A connection that works in a workspace hears of it from then on, its own change included. */
async function withImplicitSubscription(
  method: MethodName,
  params: unknown,
  peer: Peer,
  run: () => unknown,
): Promise<unknown> {
  const { workspace_id } = params as { workspace_id?: string };
  const explicit = method === "subscribe" || method === "unsubscribe";
  const added = workspace_id !== undefined && !explicit && peer.subscriptions?.follow(workspace_id);
  try {
    return await run();
  } catch (error) {
    if (added && isKind(error, "workspace.not_found")) peer.subscriptions?.unfollow(workspace_id);
    throw error;
  }
}

const MAX_ISSUES = 10;

function parseParams(method: MethodName, params: unknown): unknown {
  const parsed = methods[method].params.safeParse(params ?? {});
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, MAX_ISSUES).map(toIssue);
  const kind = parsed.error.issues.some(isTextIssue) ? "invalid_text" : "invalid_params";
  const told = issues.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`)).join("; ");
  throw gatewayError({ kind, issues }, `Invalid params: ${told}`);
}

function toIssue(issue: z.core.$ZodIssue): ParamIssue {
  return { path: issue.path.join("."), message: issue.message };
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
