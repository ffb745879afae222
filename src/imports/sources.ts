import type { ParsedParams, Result } from "../protocol/index.js";
import { threads } from "../store/index.js";
import type { ImportsDeps } from "./deps.js";
import { findSessions } from "./find-sessions.js";
import { threadIdOf } from "./ids.js";
import { assertWorkspace, placing } from "./place.js";
import { type FoundSession, type NotRead, TOOLS } from "./session.js";
import { sources } from "./tools.js";

type Answer = Result<"import/sources">;

/** What other tools have for a workspace. Nothing is changed; a tool that has nothing is not listed. */
export async function listSources(
  deps: ImportsDeps,
  params: ParsedParams<"import/sources">,
): Promise<Answer> {
  const { workspace_id, from, path: named, directory } = params;
  await assertWorkspace(deps, workspace_id);
  const data: Answer["data"] = [];
  const unread: NotRead[] = [];
  for (const tool of from === undefined ? TOOLS : [from]) {
    const { path, sessions, notRead, one } = await findSessions(
      deps,
      tool,
      from === undefined ? undefined : named,
    );
    unread.push(...notRead);
    if (path === undefined || sessions.length === 0) continue;
    const places = await placing(deps, { workspace_id, all: false, directory, one, dryRun: true, call: {} });
    const mine: FoundSession[] = [];
    for (const found of sessions) if ((await places.of(found)) !== undefined) mine.push(found);
    const imported = await countImported(deps, workspace_id, mine);
    const counts = { threads: mine.length, imported, elsewhere: sessions.length - mine.length };
    data.push({ tool, name: sources[tool].name, path: path.toWellFormed(), ...counts });
  }
  const not_read = unread.slice(0, MOST).map(({ path, reason }) => ({ path: path.toWellFormed(), reason }));
  return { data, ...(not_read.length > 0 && { not_read }) };
}

const MOST = 1_000;

const AT_ONCE = 500;

async function countImported(
  deps: ImportsDeps,
  workspace_id: string,
  found: readonly FoundSession[],
): Promise<number> {
  const ids = found.map(({ tool, id }) => threadIdOf(tool, id));
  return deps.store.read(function* () {
    let count = 0;
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const rows = yield* threads.findPlacedThreads(workspace_id, ids.slice(at, at + AT_ONCE));
      count += rows.filter(({ deleted_at }) => deleted_at === null).length;
    }
    return count;
  });
}
