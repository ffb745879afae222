import type { ParsedParams, Result } from "../protocol/index.js";
import { type Call, cursorInvalid } from "../tree/index.js";
import type { ImportsDeps } from "./deps.js";
import { findSessions, keyOf } from "./find-sessions.js";
import { threadIdOf } from "./ids.js";
import { type ImportedBranch, importSession } from "./import-session.js";
import { assertWorkspace, type Placing, placing } from "./place.js";
import type { FoundSession, Tool } from "./session.js";
import { whyNot } from "./walk.js";

type Params = Omit<ParsedParams<"thread/import">, "from"> & { readonly from: Tool };
type Answer = Result<"thread/import">;

const DEFAULT_LIMIT = 100;

/** Takes in sessions of another tool, some a call. Each thread appears whole; running it again goes on where it ended. */
export async function importSessions(deps: ImportsDeps, params: Params, call: Call): Promise<Answer> {
  const { workspace_id, from, all = false, dry_run = false } = params;
  await assertWorkspace(deps, workspace_id);
  const { sessions, notRead, one } = await findSessions(deps, from, params.path);
  const { directory } = params;
  const places = await placing(deps, { workspace_id, all, directory, one, dryRun: dry_run, call });
  const { mine, elsewhere } = await sort(places, wanted(sessions, params.session_ids), params);
  const begin = behind(mine, params.cursor);
  const some = mine.slice(begin, begin + (params.limit ?? DEFAULT_LIMIT));
  const data: Answer["data"] = [];
  for (const [at, { found, place }] of some.entries()) {
    const taken = await takeOne(deps, found, place, { call, dryRun: dry_run });
    data.push(...taken);
    const [{ title } = {}] = taken;
    const params = {
      workspace_id,
      tool: from,
      done: begin + at + 1,
      total: mine.length,
      ...(title && { title }),
    };
    deps.live.tell({ workspace_id, method: "import/progress", params });
  }
  const last = some.at(-1)?.found;
  const more = begin + some.length < mine.length && last !== undefined;
  return {
    data,
    total: mine.length,
    elsewhere,
    ...(more && { next_cursor: Buffer.from(keyOf(last)).toString("base64url") }),
    ...(notRead.length > 0 && {
      not_read: notRead.map(({ path, reason }) => ({ path: path.toWellFormed(), reason })),
    }),
  };
}

function wanted(
  sessions: readonly FoundSession[],
  ids: readonly string[] | undefined,
): readonly FoundSession[] {
  if (ids === undefined) return sessions;
  const named = new Set(ids);
  return sessions.filter(({ id }) => named.has(id));
}

interface Placed {
  readonly found: FoundSession;
  readonly place: string;
}

async function sort(
  places: Placing,
  sessions: readonly FoundSession[],
  { workspace_id, session_ids }: Params,
) {
  const mine: Placed[] = [];
  let elsewhere = 0;
  for (const found of sessions) {
    // Whoever names a session means it, wherever its agent worked.
    const place = (await places.of(found)) ?? (session_ids ? workspace_id : undefined);
    if (place === undefined) elsewhere += 1;
    else mine.push({ found, place });
  }
  return { mine, elsewhere };
}

function behind(mine: readonly Placed[], cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const key = Buffer.from(cursor, "base64url").toString();
  if (key === "") throw cursorInvalid();
  const at = mine.findIndex(({ found }) => keyOf(found) > key);
  return at === -1 ? mine.length : at;
}

/** What is wrong with one session keeps no other out. */
async function takeOne(
  deps: ImportsDeps,
  found: FoundSession,
  place: string,
  manner: { readonly call: Call; readonly dryRun: boolean },
): Promise<Answer["data"]> {
  try {
    const taken = await importSession(deps, found, place, manner);
    return taken.map((one) => toWire(one, found));
  } catch (error) {
    if (isOurs(error)) throw error;
    const source = { session_id: found.id, source_path: found.path.toWellFormed(), workspace_id: place };
    const thread_id = threadIdOf(found.tool, found.id);
    return [{ thread_id, status: "invalid", reason: whyNot(error), ...source }];
  }
}

/** A full disk or a lost store concerns everything that follows; a directory that is away, one session. */
function isOurs(error: unknown): boolean {
  const kind = String((error as { kind?: unknown }).kind ?? "");
  return kind.startsWith("store.") || kind === "atsf.disk_full";
}

function toWire(one: ImportedBranch, { id, path }: FoundSession): Answer["data"][number] {
  const { lossy, parent_thread_id, ...rest } = one;
  return {
    ...rest,
    session_id: id,
    source_path: path.toWellFormed(),
    ...(parent_thread_id !== undefined && { parent_thread_id }),
    ...(lossy.length > 0 && { lossy: [...lossy] }),
  };
}
