import type { Context, Env, Hono } from "hono";
import { HeddleError, Lru } from "../../base/index.js";
import { CALLBACK_MASK, isCallbackSecret, type SessionKey, takeAnswer } from "../../runs/index.js";
import { readBody } from "../http/body.js";
import type { InsideDeps } from "../inside/caller.js";
import { RateLimit } from "../limits.js";
import { knownError } from "../rpc/errors.js";
import { readAnswer } from "./read-answer.js";

const MOST_BYTES = 1024 * 1024;
/** Of one thread. An agent that tells its progress sends some; one that goes round in circles is slowed down. */
const RATE = { rate: 20, burst: 100 };
/** Their own, so that a flood of wrong secrets costs nobody else anything. */
const RATE_OF_ALL = { rate: 500, burst: 1_000 };
const KEPT_RATES = 1_000;

type Answered = { readonly status: 200 | 400 | 404 | 409 | 413 | 429 | 500 | 503; readonly body: object };

/** What a thread that is unknown, deleted, or whose secret is another is answered with: always the same. */
const NOTHING: Answered = { status: 404, body: { error: "There is nothing at this address." } };

/**
 * `POST /external/<workspace>/<thread>/<secret>`: where agents elsewhere answer. The secret is what lets in, to one thread
 * and for nothing but an answer. It stands in the address, so neither the address nor an error that holds it is logged.
 */
export function addExternalCallback<E extends Env>(app: Hono<E>, deps: InsideDeps): void {
  const all = new RateLimit(RATE_OF_ALL);
  const rates = new Lru<string, RateLimit>(KEPT_RATES);
  const path = "/external/:workspace_id/:thread_id/:secret";
  app.post(path, async (c) => {
    const { status, body } = await answer(c, deps, () => all.take() && rateOf(rates, c).take());
    if (status === 429 || status === 503) c.header("Retry-After", "1");
    return c.json(body, status);
  });
  app.all(path, (c) => {
    c.header("Allow", "POST");
    return c.json({ error: "Answers are posted." }, 405);
  });
}

function rateOf(rates: Lru<string, RateLimit>, c: Context): RateLimit {
  const { workspace_id, thread_id } = keyOf(c);
  const name = `${workspace_id}/${thread_id}`;
  const known = rates.get(name) ?? new RateLimit(RATE);
  rates.set(name, known);
  return known;
}

function keyOf(c: Context): SessionKey {
  const { workspace_id = "", thread_id = "" } = c.req.param() as Record<string, string>;
  return { workspace_id, thread_id };
}

async function answer(c: Context, deps: InsideDeps, mayCome: () => boolean): Promise<Answered> {
  if (!mayCome()) return { status: 429, body: { error: "Too many answers at once. Try again in a moment." } };
  try {
    const key = keyOf(c);
    const { secret = "" } = c.req.param() as Record<string, string>;
    // Before its body is read: whoever is not let in can't make the gateway hold anything.
    if (!(await isCallbackSecret(deps.domain, key, secret))) return NOTHING;
    const body = await readBody(c.req.raw, MOST_BYTES);
    if ("error" in body)
      return refusal(body.error.kind === "request.too_large" ? 413 : 400, body.error.message);
    const given = readAnswer(body.text, c.req.header("content-type") ?? "");
    if ("problem" in given) return refusal(400, given.problem);
    // An agent may repeat where it answers: whoever reads that could answer for it.
    const text = given.text.replaceAll(secret, CALLBACK_MASK);
    return { status: 200, body: { ok: true, ...(await takeAnswer(deps.domain, key, { ...given, text })) } };
  } catch (error) {
    return failure(deps, error);
  }
}

function refusal(status: 400 | 413, error: string): Answered {
  return { status, body: { error } };
}

/** What can't be recorded now may be later: whoever sends it keeps it and tries again. */
function failure({ log }: InsideDeps, error: unknown): Answered {
  const known = error instanceof HeddleError ? knownError(error) : undefined;
  if (!known) {
    log.error({ err: error }, "an answer of an external agent could not be recorded");
    return { status: 500, body: { error: "Something went wrong in the gateway. Its log says more." } };
  }
  const { kind } = known.data;
  if (kind === "thread.not_found" || kind === "workspace.not_found") return NOTHING;
  const status = String(kind).startsWith("store.") ? 503 : 409;
  return { status, body: { error: known.message, kind } };
}
