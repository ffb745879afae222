import { compileStep } from "../prompts/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { isProgram } from "../providers/index.js";
import { history as told } from "../store/index.js";
import { upToDate, withThread } from "../threads/index.js";
import { readThread } from "./admit.js";
import { type Placed, rebuilt, requestFor, toContext } from "./context.js";
import type { RunsDeps } from "./deps.js";
import { deliveryElsewhere, isExternal, unsentPost } from "./external/hand-over.js";
import { freeze } from "./freeze.js";
import { previewInput } from "./input.js";
import { writeOut } from "./manifest.js";
import { prepareRun } from "./prepare.js";
import { unsentTurn } from "./program/unsent-turn.js";
import { addHistory, loadHistory, untold } from "./session/history.js";
import type { PreparedRun } from "./session/parts.js";

type PreviewParams = ParsedParams<"run/preview"> & { workspace_id: string };

/** What would be sent if this were asked now. Hooks are asked; nothing is sent, written or kept. */
export async function previewRun(deps: RunsDeps, params: PreviewParams): Promise<Result<"run/preview">> {
  const key = { workspace_id: params.workspace_id, thread_id: params.thread_id };
  const thread = await readThread(deps.store.read, key);
  const frozen = await freeze(deps, {
    ...key,
    agent_id: thread.agent_id,
    thread: thread.config,
    run: params.config ?? {},
  });
  const input =
    params.content === undefined ? undefined : await previewInput(params.content, deps.clock.now());
  const prepared = await prepareRun(deps, {
    key,
    run_id: "preview",
    configRef: frozen.encoded.ref,
    config: frozen.config,
    input: input?.preview ?? "",
  });
  const { history, found, row, root } = await withThread(deps, key, async (located, file) => {
    const { row } = await upToDate(deps, located, file);
    const known = await loadHistory(deps.store, key, row);
    const found = await untold(deps.store, key, { file, known, own: new Map() });
    return { history: known, found, row, root: located.root };
  });
  const next = input ? [{ encoded: input.encoded, message_id: input.message.id }] : [];
  const added = addHistory(history, [...found.messages, ...next]);
  const turn = history.end.length + found.messages.length;
  const view = history.view(added.rows, Math.min(turn, history.end.length + added.rows.length));
  const step = compileStep(prepared.prefix, view);
  const rows = await deps.store.read(() =>
    told.toldRows({ ...key, epoch: history.epoch }, 0, history.end.length),
  );
  const manifest = writeOut(prepared.prefix, {
    step: 1,
    marker: step.marker?.ref,
    rows: [...rows, ...added.rows],
    from: step.from,
    list_hash: step.list_hash,
    tokens_estimate: step.tokens_estimate,
    request_hash: step.request_hash,
    before: undefined,
  });
  const sent = [...history.told.map(placed), ...added.rows.map(placed)].slice(step.from - history.first);
  const before = prefixPlaced(prepared, manifest.sections);
  const marker: Placed | undefined = step.marker && { ref: step.marker.ref, message: step.marker.message };
  const all = [...before, ...(marker ? [marker] : []), ...sent];
  const request = requestFor(frozen.config, all, prepared.tools, key.thread_id);
  if (isExternal(frozen.config)) {
    const posted = all.filter(({ message_id }) => input && message_id === input.message.id);
    const post = await unsentPost(
      deps,
      frozen.config,
      { ...request, messages: posted.map(({ message }) => message) },
      key.workspace_id,
    );
    const delivery = { delivery: deliveryElsewhere(row.callback_secret === null) };
    return {
      step: 1,
      manifest: { ...manifest, ...delivery },
      messages: posted.map(toContext),
      request: post,
    };
  }
  const { tools } = prepared;
  const list = { epoch: history.epoch, from: step.from, sent };
  const toHandOver = { key, row, root, tools, before, marker, history: list };
  const { url, body } = isProgram(frozen.config.provider)
    ? await unsentTurn(deps, frozen.config, toHandOver)
    : await rebuilt(deps, frozen.config, request);
  return { step: 1, manifest, messages: all.map(toContext), request: { url, body } };
}

function placed(one: { hash: string; message: Placed["message"]; message_id: string }): Placed {
  return { ref: `sha256:${one.hash}`, message: one.message, message_id: one.message_id };
}

/** A base prompt may hold several messages under one ref. */
function prefixPlaced(prepared: PreparedRun, sections: readonly { id: string }[]): Placed[] {
  const { refs } = prepared.prefix;
  return prepared.placed.map(({ message, at }) => ({
    ref: refs[at] as string,
    message,
    ...(sections[at] && { section_id: sections[at].id }),
  }));
}
