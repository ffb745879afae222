import type { Env, Hono } from "hono";
import { readBody } from "../http/body.js";
import { type CallMethod, callerFor, type InsideDeps, readJson } from "../inside/caller.js";
import { chooseWorkspace, workspaceWish } from "../inside/choose-workspace.js";
import type { RateLimit } from "../limits.js";
import { gatewayError } from "../rpc/errors.js";
import { type Begun, begin } from "./begin.js";
import { apiErrorOf, chatError, errorBody, errorResponse } from "./errors.js";
import { LiveText } from "./live-text.js";
import { listModels } from "./models.js";
import { type ChatRequest, readRequest } from "./request.js";
import { answerStream } from "./stream.js";
import { answerWhole } from "./whole.js";

/** `/v1`: an agent is a model, and what is asked is recorded as a thread. */
export function addChatCompletions<E extends Env>(app: Hono<E>, deps: InsideDeps, rate: RateLimit): void {
  const answering = (work: (request: Request, call: CallMethod) => Promise<Response>) => {
    return async (request: Request): Promise<Response> => {
      try {
        if (deps.stopping()) throw gatewayError({ kind: "stopping" }, "The gateway is stopping.");
        if (!rate.take()) throw overloaded();
        const outsider = { rate, gone: request.signal, bound: undefined, client: "chat-completions" };
        return await work(request, callerFor(deps, outsider));
      } catch (error) {
        return errorResponse(apiErrorOf(error, deps.log));
      }
    };
  };
  const models = answering((request, call) => answerModels(deps, request, call));
  const enter = door(deps);
  const complete = answering((request, call) => answerCompletion(deps, { request, call, leave: enter() }));
  app.get("/v1/models", (c) => models(c.req.raw));
  app.get("/v1/models/*", (c) => models(c.req.raw));
  app.post("/v1/chat/completions", (c) => complete(c.req.raw));
  app.all("/v1/*", (c) => {
    const message = `There is nothing at ${c.req.method} ${c.req.path}: only /v1/models and POST /v1/chat/completions.`;
    return c.json(openAiRefusal(message), 404);
  });
}

/** So many answers at once: each holds a run, or waits for one. Whoever is let in calls back when it is over. */
function door({ limits }: InsideDeps): () => () => void {
  let underWay = 0;
  return () => {
    if (underWay >= limits.inFlight) throw overloaded();
    underWay++;
    return () => {
      underWay--;
    };
  };
}

function overloaded() {
  return gatewayError({ kind: "overloaded", retry_after_ms: 1_000 }, "Too many requests at once.");
}

async function answerModels(deps: InsideDeps, request: Request, call: CallMethod): Promise<Response> {
  const { id } = await chooseWorkspace(call, workspaceWish(request.headers));
  const data = await listModels(deps, id, deps.domain.clock.now());
  const [, named] = /^\/v1\/models\/(.+)$/.exec(new URL(request.url).pathname) ?? [];
  if (named === undefined) return Response.json({ object: "list", data });
  const model = decoded(named);
  const found = data.find((one) => one.id === model);
  if (found) return Response.json(found);
  throw chatError(
    { kind: "chat.no_model", model },
    `The model ${model} does not exist, or can't be used now.`,
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface Completing {
  readonly request: Request;
  readonly call: CallMethod;
  /** Called once, when the answer is over. */
  readonly leave: () => void;
}

async function answerCompletion(deps: InsideDeps, { request, call, leave }: Completing): Promise<Response> {
  let live: LiveText | undefined;
  try {
    const asked = await readAsked(deps, request);
    const { id: workspace_id } = await chooseWorkspace(call, workspaceWish(request.headers));
    const chosen = ({ id }: { id: string }) => {
      if (asked.stream) live = new LiveText(deps.domain.live, id);
    };
    const begun = await begin(deps, asked, { call, workspace_id, chosen });
    const { model, includeUsage } = asked;
    const given = { call, model, headers: headersFor(begun, asked), gone: request.signal };
    if (live) return answerStream(deps, begun, { ...given, includeUsage, live, leave });
    const response = await answerWhole(deps, begun, given);
    leave();
    return response;
  } catch (error) {
    live?.stop();
    leave();
    throw error;
  }
}

function headersFor({ thread, run }: Begun, { ignored }: ChatRequest): Record<string, string> {
  return {
    "x-heddle-thread-id": thread.id,
    "x-heddle-run-id": run.id,
    ...(ignored.length > 0 && {
      "x-heddle-ignored": ignored.slice(0, MOST_NAMED).map(headerName).join(", "),
    }),
  };
}

/** A header has room for a few; their names are whatever a client sends. */
const MOST_NAMED = 32;
const NAME_CHARS = 64;

function headerName(name: string): string {
  return encodeURIComponent(name.slice(0, NAME_CHARS).toWellFormed());
}

async function readAsked({ limits }: InsideDeps, request: Request): Promise<ChatRequest> {
  const body = await readBody(request, limits.messageBytes);
  if ("error" in body) throw body.error;
  const parsed = readJson(body.text, limits);
  if ("error" in parsed) throw parsed.error;
  return readRequest(parsed.value);
}

/** A refusal that is found before anything of this endpoint is looked at. */
export function openAiRefusal(message: string): object {
  return errorBody({ message, type: "invalid_request_error", code: null });
}
