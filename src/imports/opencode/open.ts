import { createHash } from "node:crypto";
import { basename } from "node:path";
import { identified } from "../blocks.js";
import { EntryNames, messageIdOf } from "../ids.js";
import { type FoundSession, Lossy, type SourceMessage, type SourceSession } from "../session.js";
import { titleOf } from "../title.js";
import { type Json, textOf, timeOf, wordOf } from "../values.js";
import { sessionFrom } from "./database.js";
import { exportedSession, isSessionFile, sessionInFiles } from "./files.js";
import { opencodeMessage } from "./messages.js";
import { type KeptSession, timesOf } from "./parts.js";

/** A session of opencode. Its messages stand in a row; what was taken back stays in it. */
export async function openOpencode({ path, id }: FoundSession): Promise<SourceSession> {
  const kept = await keptAt(path, id);
  try {
    const { info } = kept;
    const lossy = new Lossy();
    const { sha256, first } = await survey(kept);
    const revert = info.revert;
    if (revert !== null && revert !== undefined) lossy.add("that the end of the session was taken back");
    return {
      title: /^(?:New|Child) session - /.test(wordOf(info.title))
        ? titleOf(first)
        : (titleOf(textOf(info.title)) ?? titleOf(first)),
      createdAt: timeOf(timesOf(info).created),
      version: textOf(info.version),
      gitBranch: undefined,
      gitCommit: undefined,
      parentId: textOf(info.parent_id) ?? textOf(info.parentID),
      contentSha256: sha256,
      branches: [{ key: "", parentKey: undefined, messages: () => messagesOf(kept, { id, lossy }) }],
      lossy,
      close: async () => kept.close(),
    };
  } catch (error) {
    kept.close();
    throw error;
  }
}

async function keptAt(path: string, id: string): Promise<KeptSession> {
  if (path.endsWith(".db")) return sessionFrom(path, id);
  return isSessionFile(path) && basename(path, ".json") === id ? sessionInFiles(path) : exportedSession(path);
}

/** The hash of all there is, as it stands there, and what the user said first. */
async function survey(kept: KeptSession) {
  const hash = createHash("sha256").update(JSON.stringify(kept.raw));
  let first: string | undefined;
  for await (const { id, info, parts, raw } of kept.messages()) {
    hash.update(JSON.stringify([id, ...raw]));
    if (info.role === "user") first ??= parts.map((part: Json) => saidIn(part)).find(Boolean);
  }
  return { sha256: hash.digest("hex"), first };
}

function saidIn({ type, text, synthetic }: Json): string | undefined {
  return type === "text" && synthetic !== true ? textOf(text) : undefined;
}

async function* messagesOf(
  kept: KeptSession,
  { id, lossy }: { id: string; lossy: Lossy },
): AsyncGenerator<SourceMessage> {
  const names = new EntryNames();
  for await (const one of kept.messages()) {
    const entry = names.of(one.id);
    const message = identified(messageIdOf("opencode", id, entry), opencodeMessage(one, lossy.of(entry)));
    if (message) yield message;
  }
}
