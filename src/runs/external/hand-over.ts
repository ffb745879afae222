import { EXTERNAL, type ExternalAddress, externalAddress } from "../../agents/index.js";
import { contentRef, randomSecret, sha256 } from "../../base/index.js";
import type { FrozenConfig } from "../../prompts/index.js";
import type { Delivery, GenerateRequest, SentRequest } from "../../providers/index.js";
import { threadFiles } from "../../store/index.js";
import { threadNotFound } from "../../tree/index.js";
import type { RunsDeps } from "../deps.js";
import { eventsOfRun } from "../find.js";
import type { ProgramHanded, RunError, RunEvent } from "../fold/events.js";
import type { ActiveRun } from "../fold/state.js";
import { commitEvents } from "../session/commit.js";
import type { SessionKey } from "../session/parts.js";
import type { ThreadSession } from "../session/session.js";
import { inputsOfStep, messageOf, type PostedMessage, postedMessage, textOf } from "./inputs.js";

/** What is about to be posted, secrets included. */
export interface Post {
  readonly address: ExternalAddress;
  readonly body: string;
  /** The same for every attempt at this step, also by another gateway. */
  readonly key: string;
  /** What no text that is shown may hold. */
  readonly secrets: readonly string[];
}

/** Stands for the secret in what is recorded and shown. */
export const CALLBACK_MASK = "[secret]";

/** Records what is about to be posted, and that an answer may come from now on. Nothing is sent before that is durable. */
export async function handOver(
  deps: RunsDeps,
  session: ThreadSession,
  intent_id: string,
): Promise<Post | { readonly error: RunError }> {
  const { key } = session;
  const { run_id, step } = session.active as ActiveRun;
  const config = (session.prepared as { config: FrozenConfig }).config;
  const address = externalAddress(deps.agents.in(key.workspace_id).require(config.agent_id));
  const base = address.callbackBaseUrl ?? (await deps.ownUrl());
  if (base === undefined) return { error: NO_CALLBACK };
  const { message, known } = await readStep(deps, session, { run_id, step });
  const secret = known ?? randomSecret();
  const bodyWith = (shown: string) =>
    JSON.stringify({
      sessionId: key.thread_id,
      agentId: config.agent_id,
      callbackUrl: callbackUrl(base, key, shown),
      message,
    });
  const [body, recorded] = [bodyWith(secret), bodyWith(CALLBACK_MASK)];
  const event: ProgramHanded = {
    type: "program.handed",
    at: deps.clock.now(),
    run_id,
    intent_id,
    url: shownUrl(address.inputUrl),
    request: contentRef(recorded),
    delivery: { ...deliveryElsewhere(known === null), instructions: sha256("") },
    callback: true,
    sent_sha256: sha256(body),
  };
  await session.change(() =>
    commitEvents(deps, session, [event], {
      blobs: [{ ref: event.request, text: recorded }],
      ...(known === null && { thread: { callback_secret: secret } }),
    }),
  );
  return { address, body, key: postKey(run_id, step), secrets: [secret, ...secretsIn(address)] };
}

/** What an attempt is known by; an agent that answers may name it. */
export function postKey(run_id: string, step: number): string {
  return `${run_id}-${step}`;
}

async function readStep(
  deps: RunsDeps,
  { key, position }: ThreadSession,
  { run_id, step }: { run_id: string; step: number },
): Promise<{ message: PostedMessage; known: string | null }> {
  const row = position.rows.get(run_id);
  const { events, thread } = await deps.store.read(function* () {
    const events = row ? yield* eventsOfRun(row) : [];
    return { events, thread: yield* threadFiles.findIndexed(key.workspace_id, key.thread_id) };
  });
  if (!thread) throw threadNotFound(key.thread_id);
  const inputs = inputsOfStep(events as unknown as RunEvent[], step);
  return { message: await messageOf(deps, inputs), known: thread.callback_secret };
}

function callbackUrl(base: string, { workspace_id, thread_id }: SessionKey, secret: string): string {
  return `${base.replace(/\/+$/, "")}/external/${workspace_id}/${thread_id}/${secret}`;
}

/** Its path may be as secret as a header: people keep tokens there. */
function shownUrl(inputUrl: string): string {
  const { origin, pathname, search } = new URL(inputUrl);
  return pathname === "/" && search === "" ? `${origin}/` : `${origin}/…`;
}

function secretsIn({ inputUrl, headers = {} }: ExternalAddress): string[] {
  const { pathname, search, username, password } = new URL(inputUrl);
  const parts = [...pathname.split("/"), ...search.split(/[?&=]/), username, password];
  return [...Object.values(headers), ...parts.filter((part) => part.length >= LONG)];
}

/** Shorter parts of an address are words that anyone may say. */
const LONG = 12;

/** None of what Heddle compiled is sent: 002's connector carries the user's message alone. */
export function deliveryElsewhere(
  isNew: boolean,
): Omit<Delivery, "instructions" | "adds"> & { adds: string[] } {
  return {
    way: "not_sent",
    session: isNew ? "new" : "kept",
    replayed: 0,
    adds: [
      "its own instructions and its own memory of the session: it gets the user's message and nothing else",
    ],
  };
}

const NO_CALLBACK: RunError = {
  code: "external.no_callback",
  message:
    "No answer could reach this gateway: it listens on no port. Run `heddle serve`, or set `external.callbackBaseUrl`.",
};

export function isExternal({ provider }: Pick<FrozenConfig, "provider">): boolean {
  return provider === EXTERNAL;
}

/** What would be posted, for a look: with the last message that a person has sent. */
export async function unsentPost(
  deps: RunsDeps,
  config: FrozenConfig,
  { messages, cacheKey: thread_id = "" }: GenerateRequest,
  workspace_id: string,
): Promise<SentRequest> {
  const address = externalAddress(deps.agents.in(workspace_id).require(config.agent_id));
  const base = address.callbackBaseUrl ?? (await deps.ownUrl()) ?? "";
  const last = messages.findLast(({ role }) => role === "user");
  const body = JSON.stringify({
    sessionId: thread_id,
    agentId: config.agent_id,
    callbackUrl: callbackUrl(base, { workspace_id, thread_id }, CALLBACK_MASK),
    message: postedMessage(last ? textOf(last) : "", deps.clock.now()),
  });
  return { url: shownUrl(address.inputUrl), body };
}
