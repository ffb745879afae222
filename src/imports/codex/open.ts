import { dirname, join, sep } from "node:path";
import { identified } from "../blocks.js";
import { messageIdOf } from "../ids.js";
import { LineFile } from "../line-file.js";
import type { TreeNode } from "../message-tree.js";
import type { Branch, FoundSession, Lossy, SourceMessage, SourceSession } from "../session.js";
import { titleOf } from "../title.js";
import { type Json, numberOf, objectOf, textOf, timeOf } from "../values.js";
import { filesBelow } from "../walk.js";
import type { Kept } from "./kept.js";
import { codexMessage } from "./messages.js";
import { plainFile } from "./packed.js";
import { Rollout } from "./read.js";

/** A session of Codex: one file, which may go on with the history of another. */
export async function openCodex({ path, id }: FoundSession): Promise<SourceSession> {
  const open: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const end of open.splice(0).reverse()) await end();
  };
  try {
    const rollout = new Rollout();
    const hashes = await readInto(rollout, { path, open, depth: 0 });
    rollout.finish();
    const { tree, lossy, meta = {} } = rollout;
    const { ways, leftOut } = tree.ways();
    if (leftOut > 0) lossy.add("branches past the first 200", leftOut);
    const git = objectOf(meta.git);
    return {
      title: titleOf(await nameOf(path, id)) ?? titleOf(rollout.firstText),
      createdAt: timeOf(meta.timestamp),
      version: textOf(meta.cli_version),
      gitBranch: textOf(git.branch),
      gitCommit: textOf(git.commit_hash),
      parentId: textOf(meta.forked_from_id) ?? textOf(meta.parent_thread_id),
      contentSha256: hashes.join(":"),
      branches: ways.map(
        ({ key, parentKey, nodes }): Branch => ({
          key,
          parentKey,
          messages: () => messagesOf(nodes(), { id, lossy }),
        }),
      ),
      lossy,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface Reading {
  readonly path: string;
  readonly open: (() => Promise<void>)[];
  readonly depth: number;
  /** Lines from this one on are not wanted. */
  readonly until?: number;
}

const DEEPEST = 8;

/** Answers the hashes of the files that were read. */
async function readInto(rollout: Rollout, { path, open, depth, until }: Reading): Promise<string[]> {
  const plain = await plainFile(path);
  open.push(plain.remove);
  const file = await LineFile.open(plain.path);
  open.push(() => file.close());
  const hashes: string[] = [];
  for await (const { value, ref, number } of file.lines()) {
    const at = numberOf(value?.ordinal) ?? number;
    if (until !== undefined && at >= until) continue;
    if (!value) rollout.lossy.add("lines that can't be read");
    else {
      if (number === 0) hashes.push(...(await readBase(rollout, value, { path, open, depth })));
      rollout.take(value, { file, ref }, `${depth}:${at}`);
    }
  }
  return [...hashes, file.sha256];
}

/** A fork names the file whose history it goes on with, and up to which line. */
async function readBase(rollout: Rollout, first: Json, { path, open, depth }: Reading): Promise<string[]> {
  const payload = objectOf(first.payload);
  const base = objectOf(payload.history_base);
  const [id, until] = [textOf(base.thread_id), numberOf(base.end_ordinal_exclusive)];
  if (first.type !== "session_meta" || id === undefined || until === undefined) return [];
  rollout.meta ??= payload;
  const from = depth < DEEPEST ? await fileOf(path, id) : undefined;
  if (from !== undefined) return readInto(rollout, { path: from, open, depth: depth + 1, until });
  rollout.lossy.add("the history it was forked from, whose file is not there");
  return [];
}

async function fileOf(path: string, id: string): Promise<string | undefined> {
  const home = homeOf(path);
  if (home === undefined) return undefined;
  for (const folder of ["sessions", "archived_sessions"]) {
    try {
      for await (const file of filesBelow(join(home, folder))) {
        if ("name" in file && (file.name.endsWith(`${id}.jsonl`) || file.name.endsWith(`${id}.jsonl.zst`)))
          return file.path;
      }
    } catch {
      // Only one of the two may be there.
    }
  }
  return undefined;
}

function homeOf(path: string): string | undefined {
  for (let dir = dirname(path); dir !== dirname(dir); dir = dirname(dir)) {
    const name = dir.split(sep).at(-1);
    if (name === "sessions" || name === "archived_sessions") return dirname(dir);
  }
  return undefined;
}

/** What the session was named; the last name counts. */
async function nameOf(path: string, id: string): Promise<string | undefined> {
  const home = homeOf(path);
  const index = home && (await LineFile.open(join(home, "session_index.jsonl")).catch(() => undefined));
  if (!index) return undefined;
  try {
    let name: string | undefined;
    for await (const { value } of index.lines())
      if (value?.id === id) name = textOf(value.thread_name) ?? name;
    return name;
  } finally {
    await index.close();
  }
}

async function* messagesOf(
  nodes: readonly TreeNode<Kept>[],
  { id, lossy }: { id: string; lossy: Lossy },
): AsyncGenerator<SourceMessage> {
  for (const { id: entry, data } of nodes) {
    const made = await codexMessage(data, lossy.of(entry));
    const message = identified(messageIdOf("codex", id, entry), made);
    if (message) yield message;
  }
}
