import { sha256 } from "../base/index.js";
import type { FrozenConfig } from "../prompts/index.js";
import { type Prefix, readBlob, readPrompt, verified } from "../prompts/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import {
  type GenerateRequest,
  isProgram,
  type PromptMessage,
  type SentRequest,
  type ToolSpec,
  type WorkPlace,
} from "../providers/index.js";
import { history, type RunRow, type Unit } from "../store/index.js";
import type { RunsDeps } from "./deps.js";
import { isExternal, unsentPost } from "./external/hand-over.js";
import { inputsOfStep } from "./external/inputs.js";
import { eventsOfRun, type RecordedStep, requireRun, requireStep } from "./find.js";
import type { ProgramHanded, RunEvent } from "./fold/events.js";
import { deliveryOf, readPrefix } from "./manifest.js";

export type ContextMessage = Result<"run/context">["messages"][number];

/** What a step sent: its messages with where each comes from, and the exact text, built again from what was recorded. */
export async function readContext(
  deps: RunsDeps,
  params: ParsedParams<"run/context">,
): Promise<Result<"run/context">> {
  const { row, step, told, request, config } = await deps.store.read(function* () {
    const row = yield* requireRun(params);
    const step = yield* requireStep(row, params.step);
    const recorded = yield* recordedRequest(row, step);
    const told = isExternal(recorded.config) ? yield* onlyPosted(row, step, recorded) : recorded.told;
    return { row, step, ...recorded, told };
  });
  const { receipt, handed } = step;
  if (handed) return { step: step.compiled.step, messages: told, ...(await handedOver(deps, handed)) };
  const sent = isExternal(config)
    ? await unsentPost(deps, config, request, row.workspace_id)
    : await rebuilt(deps, config, request);
  return {
    step: step.compiled.step,
    messages: told,
    request: {
      url: receipt?.url ?? sent.url,
      body: sent.body,
      ...(receipt?.request_sha256 && {
        sha256: receipt.request_sha256,
        exact: sha256(sent.body) === receipt.request_sha256,
      }),
    },
  };
}

/** The prompt was compiled, but an agent elsewhere gets only what people said. */
function* onlyPosted(
  row: RunRow,
  { compiled: { step } }: RecordedStep,
  { told }: RecordedRequest,
): Unit<ContextMessage[]> {
  const inputs = inputsOfStep((yield* eventsOfRun(row)) as unknown as RunEvent[], step);
  const posted = new Set(inputs.map(({ user_message_id }) => user_message_id));
  return told.filter(({ message_id }) => message_id !== undefined && posted.has(message_id));
}

/** A program was handed over exactly this: it was kept, since nobody could build it again. */
async function handedOver(
  deps: RunsDeps,
  handed: ProgramHanded,
): Promise<Pick<Result<"run/context">, "request" | "delivery">> {
  const { url, request, sent_sha256 } = handed;
  const body = Buffer.from(await deps.store.read(() => readBlob(request))).toString();
  const sent = { sha256: sent_sha256 ?? sha256(body), exact: sent_sha256 === undefined };
  return { request: { url, body, ...sent }, ...deliveryOf(handed) };
}

/** What would be sent, without sending it. A program without a session is shown as one that has nothing of ours yet. */
export function rebuilt(
  deps: RunsDeps,
  config: FrozenConfig,
  request: GenerateRequest,
  place: Partial<Pick<WorkPlace, "directory" | "session" | "ownTools">> = {},
): Promise<SentRequest> {
  const work: WorkPlace = { key: "", directory: "/", ownTools: true, ask: async () => "deny", ...place };
  const asked = isProgram(config.provider) ? { ...request, work } : request;
  return deps.providers.toRebuild(config).prepare(asked);
}

interface RecordedRequest {
  readonly told: ContextMessage[];
  readonly request: GenerateRequest;
  readonly config: FrozenConfig;
}

function* recordedRequest(row: RunRow, { compiled }: RecordedStep): Unit<RecordedRequest> {
  const prefix = yield* readPrefix(compiled.prefix);
  const inputs = JSON.parse(Buffer.from(yield* readBlob(compiled.inputs)).toString());
  const config = JSON.parse(Buffer.from(yield* readBlob(inputs.config)).toString()) as FrozenConfig;
  const tools = prefix.tools_ref
    ? (JSON.parse(Buffer.from(yield* readBlob(prefix.tools_ref)).toString()) as ToolSpec[])
    : [];
  const before = yield* prefixMessages(prefix);
  const marker = compiled.marker ? yield* messagesAt(compiled.marker) : [];
  const { epoch, from, to } = compiled.history;
  const rows = yield* history.toldMessages({ ...row, epoch }, from, to);
  const after = rows.map(({ hash, content, message_id }) => ({
    ref: `sha256:${hash}`,
    message: JSON.parse(Buffer.from(verified(hash, content)).toString()) as PromptMessage,
    message_id,
  }));
  const all: Placed[] = [...before, ...marker, ...after];
  return {
    told: all.map(toContext),
    request: requestFor(config, all, tools, row.thread_id),
    config,
  };
}

export interface Placed {
  readonly ref: string;
  readonly message: PromptMessage;
  readonly section_id?: string;
  readonly message_id?: string;
}

function* prefixMessages({ refs, sections }: Prefix): Unit<Placed[]> {
  const placed: Placed[] = [];
  for (const [at, ref] of refs.entries()) {
    const section_id = sections[at]?.id;
    for (const one of yield* messagesAt(ref)) placed.push({ ...one, ...(section_id && { section_id }) });
  }
  return placed;
}

function* messagesAt(ref: string): Unit<Placed[]> {
  const messages = yield* readPrompt(ref);
  return messages.map((message) => ({ ref, message }));
}

/** The request as a run makes it: the one place that says which messages, tools and parameters it has. */
export function requestFor(
  config: FrozenConfig,
  messages: readonly Pick<Placed, "message">[],
  tools: readonly ToolSpec[],
  thread_id: string,
): GenerateRequest {
  return {
    model: config.model,
    messages: messages.map(({ message }) => message),
    ...(tools.length > 0 && { tools }),
    params: config.params as NonNullable<GenerateRequest["params"]>,
    cacheKey: thread_id,
  };
}

export function toContext({ ref, message, section_id, message_id }: Placed): ContextMessage {
  const { role, content, tool_calls, tool_call_id } = message;
  return {
    ref,
    role,
    content,
    ...(section_id !== undefined && { section_id }),
    ...(message_id !== undefined && { message_id }),
    ...(tool_calls && { tool_calls }),
    ...(tool_call_id !== undefined && { tool_call_id }),
  };
}
