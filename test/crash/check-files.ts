import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Ledger } from "./ledger.js";
import type { State } from "./state.js";
import type { World } from "./world.js";

/** The files say what the wire says: the same messages in the same order, and nothing of what was deleted. */
export async function checkFiles(world: World, ledger: Ledger, state: State): Promise<string[]> {
  const problems: string[] = [];
  for (const { id, worktree } of state.threads.values()) {
    const dir = join(world.path(worktree?.path ?? world.project), ".agent/threads", id);
    const wire = (await state.messages(id)).map((message) => message.id);
    const file = idsIn(join(dir, "messages.jsonl"));
    if (wire.join() === file.join()) continue;
    const [at] = wire.map((one, index) => (one === file[index] ? -1 : index)).filter((index) => index >= 0);
    const seen = `${wire.length} messages on the wire, ${file.length} in its file`;
    problems.push(`lost: thread ${id} has ${seen}, first difference at ${at ?? wire.length}`);
  }
  const trash = namesIn(world.path(join(world.data, "trash")));
  for (const { id, deleted } of ledger.threads()) {
    if (!deleted) continue;
    if (existsSync(join(world.path(world.project), ".agent/threads", id)))
      problems.push(`left: the files of thread ${id}, which was deleted`);
    if (!trash.some((name) => name.includes(id)))
      problems.push(`lost: the files of the deleted thread ${id}`);
  }
  return problems;
}

function idsIn(file: string): string[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => String((JSON.parse(line) as { id: unknown }).id));
}

function namesIn(dir: string): string[] {
  return existsSync(dir) ? readdirSync(dir, { recursive: true }).map(String) : [];
}
