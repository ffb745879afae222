import fc from "fast-check";
import { expect } from "vitest";
import { message as messageSchema } from "../../src/atsf/index.js";
import type { Lost, SourceSession, Tool } from "../../src/imports/session.js";
import { isSession, type NotRead } from "../../src/imports/session.js";
import { sources } from "../../src/imports/tools.js";

export interface ReadBranch {
  readonly key: string;
  readonly parentKey: string | undefined;
  readonly messages: readonly Record<string, unknown>[];
  readonly ids: readonly string[];
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
    for (const { key, parentKey, messages: read } of session.branches) {
      const all = [];
      for await (const one of read()) all.push(one);
      const open = all.at(-1)?.open ?? false;
      const ids = all.map(({ message }) => message.id);
      const messages = all.map(({ message: { id: _, ...rest } }) => rest);
      branches.push({ key, parentKey, open, ids, messages });
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

/** Values that nobody expects, among them the words and numbers that programs stumble over. */
export const anything = fc.oneof(
  fc.jsonValue(),
  fc.string(),
  fc.constant(null),
  fc.constantFrom("a", "b", "text", "user", "constructor", "__proto__", "toString", "\ud800"),
  fc.constantFrom<unknown>(
    "+020000-01-01T00:00:00Z",
    "-000001-01-01T00:00:00Z",
    8.64e15,
    -8.64e15,
    1.7e308,
    -1.7e308,
  ),
);

/** Every message is one of the format, no two have one id, and every loss is told in words. */
export async function expectFormat(tool: Tool, place: string): Promise<void> {
  const { sessions } = await readAll(tool, place);
  expect(sessions.length).toBe(1);
  for (const { branches, lossy, createdAt } of sessions) {
    for (const { messages, ids } of branches) {
      expect(new Set(ids).size).toBe(ids.length);
      for (const one of messages) {
        const content = (one.content as object[]).map((each) =>
          "data" in each ? { ...each, assetRef: "" } : each,
        );
        expect(messageSchema.safeParse({ id: "m", ...one, content }).error?.issues ?? []).toEqual([]);
      }
    }
    for (const { what } of lossy) expect(what.isWellFormed()).toBe(true);
    expect(createdAt ?? "2026-01-01T00:00:00.000Z").toMatch(/^\d{4}-/);
  }
}

export const words = (branch: ReadBranch | undefined) =>
  (branch?.messages ?? []).map(({ role, content }) => [
    role,
    ...(content as { text?: string; type: string }[]).map((block) => block.text ?? block.type),
  ]);
