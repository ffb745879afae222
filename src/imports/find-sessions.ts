import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { ImportsDeps } from "./deps.js";
import { pathInvalid } from "./errors.js";
import { type FoundSession, isSession, type NotRead, type Tool } from "./session.js";
import { sources } from "./tools.js";
import { whyNot } from "./walk.js";

export interface Sessions {
  /** Where they were looked for; undefined where nobody has a home. */
  readonly path: string | undefined;
  /** In an order that stays the same. */
  readonly sessions: readonly FoundSession[];
  readonly notRead: readonly NotRead[];
  /** A single file was named. */
  readonly one: boolean;
}

const MOST_NOT_READ = 1_000;

/** Every session of a tool: at a path that somebody names, or where the tool keeps them. */
export async function findSessions(
  deps: ImportsDeps,
  tool: Tool,
  named: string | undefined,
): Promise<Sessions> {
  const path = named ?? deps.sessionPlaces[tool];
  const none = { path, sessions: [], notRead: [], one: false };
  if (path === undefined) return none;
  if (!isAbsolute(path)) throw pathInvalid(path, "it is not absolute");
  const found = await stat(path).catch((error) => {
    if (named !== undefined) throw pathInvalid(path, whyNot(error).replace(/ any more$/, ""));
    return undefined;
  });
  if (!found) return none;
  const sessions = new Map<string, FoundSession>();
  const notRead: NotRead[] = [];
  for await (const each of sources[tool].find(path)) {
    if (isSession(each)) keepLatest(sessions, each);
    else if (notRead.length < MOST_NOT_READ) notRead.push(each);
  }
  const sorted = [...sessions.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return { path, sessions: sorted, notRead, one: found.isFile() && !path.endsWith(".db") };
}

/** A session that stands in two files is one: the later counts. */
function keepLatest(sessions: Map<string, FoundSession>, found: FoundSession): void {
  const known = sessions.get(found.id);
  if (!known || known.modifiedAt < found.modifiedAt) sessions.set(found.id, found);
}

/** A session stands before those that were started from it, whose ids begin with its own. */
export function keyOf({ id }: FoundSession): string {
  return id;
}
