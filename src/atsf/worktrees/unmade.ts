import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writing } from "../disk.js";
import { threadsDir } from "../layout.js";
import { BRANCH_PREFIX, shortName, type WorktreeToCreate } from "./create.js";
import { git } from "./git.js";

/** Notes what is being done to a worktree, for whoever comes after a program that is killed over it. */
export function noteWorktree(note: string, given: object): Promise<void> {
  return writing(note, async () => {
    await mkdir(dirname(note), { recursive: true });
    await writeFile(`${note}.tmp`, JSON.stringify(given));
    await rename(`${note}.tmp`, note);
  });
}

/**
 * Takes back the worktree of a thread that a program was killed over before the thread stood in it. One with any thread
 * in it stays; of the branch git itself makes sure that it has no commit of its own. Answers whether there was any.
 */
export async function removeUnmadeWorktree({
  project,
  directory,
  threadId,
}: WorktreeToCreate): Promise<boolean> {
  const short = shortName(project, threadId);
  const names: readonly string[] = await readdir(directory).catch(() => []);
  const isOurs = (name: string) => name === `thread-${short}` || name.startsWith(`thread-${short}-`);
  let found = false;
  // Its branch is made before there is anything in its directory, perhaps only now.
  for (const name of new Set([`thread-${short}`, ...names.filter(isOurs)])) {
    const path = join(directory, name);
    if ((await readdir(threadsDir(path)).catch(() => [])).some((entry) => !entry.startsWith("."))) continue;
    await rm(path, { recursive: true, force: true });
    await git(project, ["worktree", "remove", "--force", "--force", path], { writes: true });
    const branch = `${BRANCH_PREFIX}${name.slice("thread-".length)}`;
    const { exitCode } = await git(project, ["branch", "-d", branch], { writes: true });
    found ||= exitCode === 0 || names.includes(name);
  }
  return found;
}
