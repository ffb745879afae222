import { type Prefix, readBlob } from "../prompts/index.js";
import type { Manifest, ParsedParams, Result } from "../protocol/index.js";
import { history, type RunRow, runs, type Unit } from "../store/index.js";
import type { RunsDeps } from "./deps.js";
import { requireRun, requireStep } from "./find.js";
import type { ProgramHanded, PromptCompiled } from "./fold/events.js";

/** What a step was told and why: what was recorded, with its references written out. */
export async function readManifest(
  deps: RunsDeps,
  params: ParsedParams<"run/manifest">,
): Promise<Result<"run/manifest">> {
  return deps.store.read(function* () {
    const row = yield* requireRun(params);
    const { compiled, handed } = yield* requireStep(row, params.step);
    const manifest = yield* manifestOf(row, compiled);
    return { manifest: { ...manifest, ...deliveryOf(handed) } };
  });
}

/** How it reached a program; nothing for a model that is asked by us. */
export function deliveryOf(handed: ProgramHanded | undefined): Pick<Manifest, "delivery"> {
  if (!handed?.delivery) return {};
  const { way, session, replayed, adds } = handed.delivery;
  return { delivery: { way, session, replayed, adds: [...adds] } };
}

export function* manifestOf(row: RunRow, compiled: PromptCompiled): Unit<Manifest> {
  const prefix = yield* readPrefix(compiled.prefix);
  const { epoch, from, to, list_hash } = compiled.history;
  const rows = yield* history.toldRows({ ...row, epoch }, 0, to);
  const before = yield* prefixBefore(row);
  return writeOut(prefix, {
    step: compiled.step,
    marker: compiled.marker,
    rows,
    from,
    list_hash,
    tokens_estimate: compiled.tokens_estimate,
    request_hash: compiled.request_hash,
    before,
  });
}

export function* readPrefix(ref: string): Unit<Prefix> {
  return JSON.parse(Buffer.from(yield* readBlob(ref)).toString()) as Prefix;
}

/** What stood before the history in the run before this one. */
function* prefixBefore({ workspace_id, thread_id, number }: RunRow): Unit<Prefix | undefined> {
  const before = yield* runs.findRunByNumber({ workspace_id, thread_id }, number - 1);
  if (!before || before.steps === 0) return undefined;
  const { compiled } = yield* requireStep(before, undefined);
  return yield* readPrefix(compiled.prefix);
}

export interface ToWriteOut {
  readonly step: number;
  readonly marker: string | undefined;
  /** The whole history, what has left included. */
  readonly rows: readonly { hash: string; message_id: string; chars: number; tokens: number }[];
  readonly from: number;
  readonly list_hash: string;
  readonly tokens_estimate: number;
  readonly request_hash: string;
  readonly before: Prefix | undefined;
}

export function writeOut(prefix: Prefix, given: ToWriteOut): Manifest {
  const { rows, from, before } = given;
  const sent = rows.slice(from);
  const left = [...new Set(rows.slice(0, from).map(({ message_id }) => message_id))];
  const changed = before && firstChange(before, prefix);
  const sum = (key: "chars" | "tokens") => (rows.at(-1)?.[key] ?? 0) - (rows[from - 1]?.[key] ?? 0);
  const { compiler_version, agent_id, provider, model, params, sections, hook_sources, tools } = prefix;
  return {
    compiler_version,
    step: given.step,
    agent_id,
    provider,
    model,
    params,
    sections,
    hook_sources,
    message_refs: [
      ...prefix.refs,
      ...(given.marker ? [given.marker] : []),
      ...sent.map(({ hash }) => `sha256:${hash}`),
    ],
    history: {
      messages: sent.length,
      chars: sum("chars"),
      tokens_estimate: sum("tokens"),
      list_hash: given.list_hash,
    },
    window: { context: prefix.context, reserved: prefix.reserved, tokens_estimate: given.tokens_estimate },
    stable_prefix_hash: prefix.stable_prefix_hash,
    tools,
    ...(prefix.tools_ref && { tools_ref: prefix.tools_ref }),
    ...(left.length > 0 && {
      dropped: left.map((message_id) => ({ message_id, limit: "context_window" as const })),
    }),
    ...(prefix.shadowed && { shadowed: prefix.shadowed }),
    ...(changed !== undefined && { prefix_changed_at: changed }),
    request_hash: given.request_hash,
  };
}

/** The first section that is another than before, by its id; a changed list of tools counts as one. */
function firstChange(before: Prefix, now: Prefix): string | undefined {
  if (before.stable_prefix_hash === now.stable_prefix_hash) return undefined;
  const length = Math.max(before.sections.length, now.sections.length);
  for (let at = 0; at < length; at++) {
    const [was, is] = [before.sections[at], now.sections[at]];
    if (was?.id === is?.id && was?.source.ref === is?.source.ref) continue;
    // One that is gone is what differs, not the one that has moved up into its place.
    const gone = was && !now.sections.some(({ id }) => id === was.id);
    return (gone ? was : (is ?? was))?.id;
  }
  return before.tools_ref === now.tools_ref ? "model" : "tools";
}
