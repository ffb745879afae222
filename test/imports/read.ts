import type { Lost, SourceSession, Tool } from "../../src/imports/session.js";
import { isSession, type NotRead } from "../../src/imports/session.js";
import { sources } from "../../src/imports/tools.js";

export interface ReadBranch {
  readonly key: string;
  readonly parentKey: string | undefined;
  readonly messages: readonly Record<string, unknown>[];
  readonly open: boolean;
}

export interface ReadSession extends Omit<SourceSession, "branches" | "lossy" | "close"> {
  readonly id: string;
  readonly cwd: string | undefined;
  readonly branches: readonly ReadBranch[];
  readonly lossy: readonly Lost[];
}

/** Everything a reader finds at a place, whole. */
export async function readAll(
  tool: Tool,
  place: string,
): Promise<{ sessions: ReadSession[]; notRead: NotRead[] }> {
  const sessions: ReadSession[] = [];
  const notRead: NotRead[] = [];
  for await (const found of sources[tool].find(place)) {
    if (!isSession(found)) {
      notRead.push(found);
      continue;
    }
    const session = await sources[tool].open(found);
    const branches: ReadBranch[] = [];
    for (const { key, parentKey, messages } of session.branches) {
      const all = [];
      for await (const one of messages()) all.push(one);
      const open = all.at(-1)?.open ?? false;
      branches.push({ key, parentKey, open, messages: all.map(({ message: { id: _, ...rest } }) => rest) });
    }
    await session.close();
    const { lossy, close: _, ...rest } = session;
    sessions.push({ ...rest, id: found.id, cwd: found.cwd, branches, lossy: lossy.list() });
  }
  return { sessions, notRead };
}

export async function readOne(tool: Tool, place: string): Promise<ReadSession> {
  const { sessions } = await readAll(tool, place);
  if (sessions.length !== 1) throw new Error(`${sessions.length} sessions`);
  return sessions[0] as ReadSession;
}

export const words = (branch: ReadBranch | undefined) =>
  (branch?.messages ?? []).map(({ role, content }) => [
    role,
    ...(content as { text?: string; type: string }[]).map((block) => block.text ?? block.type),
  ]);
