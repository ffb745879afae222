import { join } from "node:path";
import { readHead } from "../line-file.js";
import type { Found } from "../session.js";
import { directoryOf, textOf, wordOf } from "../values.js";
import { filesBelow, isDirectory, type WalkedFile, whyNot } from "../walk.js";

/** Sessions of Claude Code, those of its sub-agents included. */
export async function* findClaude(place: string): AsyncGenerator<Found> {
  const projects = join(place, "projects");
  const below = filesBelow(
    (await isDirectory(projects)) ? projects : place,
    (name) => name !== "tool-results",
  );
  for await (const file of below) {
    if ("reason" in file) yield file;
    else if (file.name.endsWith(".jsonl")) yield* sessionIn(file);
  }
}

async function* sessionIn({ path, name }: WalkedFile): AsyncGenerator<Found> {
  try {
    const { found, modifiedAt } = await readHead(path, ({ cwd, sessionId, uuid }) =>
      textOf(uuid) && textOf(sessionId) ? { cwd: directoryOf(cwd), session: wordOf(sessionId) } : undefined,
    );
    if (!found) {
      yield { path, reason: "no message of Claude Code stands at its beginning" };
      return;
    }
    const file = (name.split("/").at(-1) ?? "").replace(/\.jsonl$/, "");
    // A session that was resumed under another id names the old one in the lines it copied: the file's name counts.
    const id = isSubAgent(file) ? `${found.session}/${file}` : file;
    yield { tool: "claude", path, id, cwd: found.cwd, modifiedAt };
  } catch (error) {
    yield { path, reason: whyNot(error) };
  }
}

export function isSubAgent(file: string): boolean {
  return file.startsWith("agent-");
}
